"""Figure of visibilities: amplitudes over time and frequency, and bits of each block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.jobs.figures.bits import BitMap
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.jobs.figures.plots import draw_blocks, draw_map, draw_steps, label_axes, title
from gangsaw.tasks.jobs.figures.report import ArrayInfo
from gangsaw.tasks.store.dataset.paths import last_component
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CHUNKS = 64  # decoded for the waterfall; of a larger array only the middle is drawn
MAX_ACROSS = 8  # chunks along the second axis
MAX_MEDIAN = 32  # samples of another axis, such as baselines, whose median is drawn
MAX_PIXELS = 1024  # largest side of the waterfall
STRETCH = (2.0, 98.0)  # percentiles at the ends of the colour scale
EVEN = 0.01  # largest relative difference of steps along an axis that has labels of a coordinate
CHANNELS = ("frequency", "freq", "channel", "chan")
POLARIZATIONS = ("polarization", "pol", "corr")
BASELINES = ("baseline", "baseline_id", "row")
MEGAHERTZ = {"Hz": 1e-6, "kHz": 1e-3, "MHz": 1.0, "GHz": 1e3}
MINUTES = 3 * 60.0  # seconds from which an axis of time is in minutes
HOURS = 3 * 3600.0  # seconds from which it is in hours


@dataclass(frozen=True)
class Waterfall:
    """Samples of an array over two axes.

    Attributes
    ----------
    values : (rows, columns) float64; NaN where no sample is finite
    window : drawn ranges of the two axes, in samples
    name : what the values are, such as "amplitude, median of 10 baselines, XX"
    is_whole : False if only the middle of the array is drawn
    """

    values: NDArray[np.float64]
    window: tuple[slice[int, int, None], slice[int, int, None]]
    name: str
    is_whole: bool


@dataclass(frozen=True)
class Scale:
    """Labels of an axis: `first` and `step` are the position and width of a sample."""

    label: str
    first: float = 0.0
    step: float = 1.0

    def at(self, offset: float) -> float:
        """Return the position of an offset in samples."""
        return self.first + offset * self.step


def draw_visibilities(info: ArrayInfo, array: ZarrArray, source: ZarrSource) -> Figure:
    """Draw amplitudes, or real samples, over two axes, next to the bits of each block."""
    from matplotlib.figure import Figure

    bits = info.block_bits
    if bits is None or len(bits.dims) < 2:
        return draw_blocks(info)
    found = waterfall(array, source, bits.dims)
    down, across = (scale_of(array, source, dim) for dim in bits.dims)
    figure = Figure(figsize=(12.5, 5.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_waterfall(figure, left, found, down, across)
    if bits.bits.size > 1:
        _draw_bits(figure, right, bits)
    else:
        _draw_means(right, found, across)
    figure.suptitle(title(info), x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def _draw_waterfall(
    figure: Figure, axes: Axes, found: Waterfall, down: Scale, across: Scale
) -> None:
    y, x = found.window
    extent = (across.at(x.start), across.at(x.stop), down.at(y.stop), down.at(y.start))
    known = found.values[np.isfinite(found.values)]
    low, high = np.percentile(known, STRETCH) if known.size else (0.0, 1.0)
    image = axes.imshow(
        found.values,
        extent=extent,
        vmin=low,
        vmax=high if high > low else low + 1,
        interpolation="nearest",
        aspect="auto",
        cmap="viridis",
    )
    part = "" if found.is_whole else " (the middle)"
    axes.set_title(f"{found.name}{part}", fontsize=10, color=INK, loc="left")
    label_axes(axes, down.label, across.label)
    bar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02, panchor=False, extend="both")
    bar.ax.tick_params(labelsize=8)


def _draw_bits(figure: Figure, axes: Axes, bits: BitMap) -> None:
    """Draw a map of the bits of blocks; a line if the blocks are in one row or one column."""
    down, across = (_in_samples(dim) for dim in bits.dims)
    rows, columns = bits.bits.shape
    if rows > 1 and columns > 1:
        draw_map(figure, axes, bits)
        label_axes(axes, down, across)
        return
    along = 0 if rows > 1 else 1
    draw_steps(axes, bits.bits.ravel(), bits.edges[along])
    axes.set_title("bits/sample of each block", fontsize=10, color=INK, loc="left")
    label_axes(axes, "bits/sample", (down, across)[along])


def _draw_means(axes: Axes, found: Waterfall, across: Scale) -> None:
    """Draw the median of each column of the waterfall, where a single block has all samples."""
    x = found.window[1]
    middles = median(found.values.T)
    edges = [across.at(offset) for offset in np.linspace(x.start, x.stop, len(middles) + 1)]
    axes.stairs(middles, edges, color=ACCENT, lw=1.3, baseline=None)
    axes.set_xlim(edges[0], edges[-1])
    axes.grid(axis="y", color=SOFT, lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("median of each column; all is in one block", fontsize=10, color=INK, loc="left")
    label_axes(axes, found.name.partition(", median")[0], across.label)


def _in_samples(dim: str) -> str:
    return f"{dim} (channel)" if dim.lower() in CHANNELS else f"{dim} (sample)"


def waterfall(array: ZarrArray, source: ZarrSource, dims: tuple[str, ...]) -> Waterfall:
    """Return the samples to draw, from at most MAX_CHUNKS chunks around the middle.

    They are amplitudes of complex arrays. Of other axes, such as baselines, the median is taken
    over the first MAX_MEDIAN samples of a chunk; of polarizations the first one is taken.
    Real arrays have no median: the middle plane is drawn.
    """
    at = tuple(array.dims.index(dim) for dim in dims)
    chunks = array.chunks or array.shape
    across = _middle(array.shape[at[1]], chunks[at[1]], MAX_ACROSS)
    n_across = -(-(across.stop - across.start) // chunks[at[1]])
    down = _middle(array.shape[at[0]], chunks[at[0]], MAX_CHUNKS // n_across)
    others = {axis: _other(array, axis) for axis in range(len(array.shape)) if axis not in at}
    steps = [max(1, -(-(one.stop - one.start) // MAX_PIXELS)) for one in (down, across)]
    rows = []
    for y in range(down.start, down.stop, chunks[at[0]]):
        row = []
        for x in range(across.start, across.stop, chunks[at[1]]):
            region = [others.get(axis, slice(0, 1)) for axis in range(len(array.shape))]
            region[at[0]] = slice(y, min(y + chunks[at[0]], down.stop))
            region[at[1]] = slice(x, min(x + chunks[at[1]], across.stop))
            samples = np.moveaxis(array.read(tuple(region)), at, (0, 1))
            row.append(_amplitudes(samples))
        rows.append(np.concatenate(row, axis=1))
    values = np.concatenate(rows)[:: steps[0], :: steps[1]]
    whole = all(
        (one.start, one.stop) == (0, array.shape[axis])
        for one, axis in zip((down, across), at, strict=True)
    )
    return Waterfall(values, (down, across), _name(array, source, others), whole)


def _middle(extent: int, chunk: int, most: int) -> slice[int, int, None]:
    """Return the range of at most `most` whole chunks around the middle of an axis."""
    count = -(-extent // chunk)
    taken = min(count, most)
    first = (count - taken) // 2 * chunk
    return slice(first, min(first + taken * chunk, extent))


def _other(array: ZarrArray, axis: int) -> slice[int, int, None]:
    """Return the samples that are read of an axis that is not drawn."""
    extent, dim = array.shape[axis], array.dims[axis].lower()
    if array.dtype.kind != "c":
        return slice(extent // 2, extent // 2 + 1)
    if dim in POLARIZATIONS:
        return slice(0, 1)
    return slice(0, min(extent, (array.chunks or array.shape)[axis], MAX_MEDIAN))


def _amplitudes(samples: NumpyArray) -> NDArray[np.float64]:
    """Return the median over all but the first two axes: of amplitudes, or of real samples."""
    with np.errstate(all="ignore"):  # infinities and signalling NaNs
        values = np.abs(samples) if samples.dtype.kind == "c" else samples
        own = np.asarray(values, np.float64).reshape(*samples.shape[:2], -1)
    return median(own)


def median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of the finite values on the last axis; NaN where there are none."""
    is_known = np.isfinite(values)
    ordered = np.sort(np.where(is_known, values, np.inf), axis=-1)
    count = is_known.sum(axis=-1, keepdims=True)
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[-1] - 1)
    middle = np.take_along_axis(ordered, low, -1) + np.take_along_axis(ordered, high, -1)
    found: NDArray[np.float64] = np.where(count > 0, middle / 2, np.nan)[..., 0]
    return found


def _name(array: ZarrArray, source: ZarrSource, others: dict[int, slice[int, int, None]]) -> str:
    units = array.attrs.get("units")
    unit = f", {units}" if isinstance(units, str) and units else ""
    if array.dtype.kind != "c":
        planes = (f"{array.dims[axis]} {one.start}" for axis, one in others.items())
        return ", ".join([f"{last_component(array.name)}{unit}", *planes])
    told = [f"amplitude{unit}"]
    for axis, one in others.items():
        dim, n = array.dims[axis], one.stop - one.start
        if dim.lower() in POLARIZATIONS:
            told.append(_polarization(source, array, axis))
        elif n > 1:
            told.append(f"median of {n} {'baselines' if dim.lower() in BASELINES else dim}")
    return ", ".join(filter(None, told))


def _polarization(source: ZarrSource, array: ZarrArray, axis: int) -> str:
    """Return the name of the first polarization; its number if no coordinate has names."""
    values = _along(source, array, array.dims[axis])
    if values is not None and values[0].dtype.kind in "UTO":
        return str(values[0][0])
    return f"{array.dims[axis]} 0"


def _along(source: ZarrSource, array: ZarrArray, dim: str) -> tuple[NumpyArray, str] | None:
    """Return values and units of the coordinate of a dimension; None without one."""
    extent = array.shape[array.dims.index(dim)]
    for coord in source.coords:
        if (
            last_component(coord.name) == dim
            and coord.dims == (dim,)
            and coord.values.shape == (extent,)
        ):
            units = coord.attrs.get("units")
            return np.asarray(coord.values), units if isinstance(units, str) else ""
    return None


def scale_of(array: ZarrArray, source: ZarrSource, dim: str) -> Scale:
    """Return the labels of an axis: in the units of an even coordinate, else in samples."""
    found = _along(source, array, dim)
    if found is None or found[0].dtype.kind not in "iuf" or len(found[0]) < 2:
        return Scale(_in_samples(dim))
    values, units = found[0].astype(np.float64), found[1]
    steps = np.diff(values)
    mean = float(steps.mean())
    if not np.isfinite(mean) or mean == 0 or np.abs(steps - mean).max() > EVEN * abs(mean):
        return Scale(_in_samples(dim))
    if units in MEGAHERTZ:
        first, step = values[0] * MEGAHERTZ[units], mean * MEGAHERTZ[units]
        return Scale(f"{dim}, MHz", first - step / 2, step)
    if dim.lower() == "time" and units == "s":
        unit, seconds = _time_unit(abs(mean) * len(values))
        return Scale(f"time since the first, {unit}", 0.0, mean / seconds)
    return Scale(f"{dim}, {units}" if units else dim, float(values[0]) - mean / 2, mean)


def _time_unit(seconds: float) -> tuple[str, float]:
    if seconds >= HOURS:
        return "h", 3600.0
    return ("min", 60.0) if seconds >= MINUTES else ("s", 1.0)
