"""Figure of a scene: false-colour quicklook, bits of each block, bits of each band."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.jobs.figures.plots import draw_map, label_axes, title
from gangsaw.tasks.jobs.figures.report import ArrayInfo
from gangsaw.tasks.store.dataset.paths import last_component
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CHUNKS = 64  # decoded for the quicklook; a larger store shows only its middle
MAX_PIXELS = 1024  # largest side of the quicklook
COLOURS_NM = (860.0, 650.0, 550.0)  # near infrared, red, green: vegetation is red
STRETCH = (2.0, 98.0)  # percentiles shown as black and white


def draw_scene(info: ArrayInfo, array: ZarrArray, source: ZarrSource) -> Figure:
    """Return the figure: quicklook and map of the blocks at the top, bits of the bands below."""
    from matplotlib.figure import Figure

    axis = info.lane_axis
    wavelength = _wavelength(source, array, axis)
    bands = info.lane_bits if info.lane_bits is not None and len(info.lane_bits) > 1 else None
    heights = [2.1] if bands is None else [2.1, 1]
    figure = Figure(figsize=(11, 5.6 if bands is None else 8.2), layout="constrained")
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    _draw_quicklook(figure.add_subplot(grid[0, 0]), array, axis, wavelength)
    _draw_blocks(figure, figure.add_subplot(grid[0, 1]), info)
    if bands is not None:
        _draw_bands(figure.add_subplot(grid[1, :]), bands, wavelength, info)
    figure.suptitle(title(info), x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def _draw_quicklook(
    axes: Axes, array: ZarrArray, axis: int | None, wavelength: NDArray[np.float64] | None
) -> None:
    bands, label = _colours(array, axis, wavelength)
    picture, extent, part = quicklook(array, axis, bands)
    axes.imshow(picture, extent=extent, interpolation="nearest", cmap="gray")
    axes.set_title(f"{label}{part}", fontsize=10, color=INK, loc="left")
    label_axes(axes, "row", "column")


def _draw_blocks(figure: Figure, axes: Axes, info: ArrayInfo) -> None:
    assert info.block_bits is not None
    axes.set_aspect("equal")
    draw_map(figure, axes, info.block_bits)
    label_axes(axes, "row", "column")


def _draw_bands(
    axes: Axes, bits: NDArray[np.float64], wavelength: NDArray[np.float64] | None, info: ArrayInfo
) -> None:
    x = np.arange(len(bits)) if wavelength is None else wavelength
    axes.fill_between(x, bits, step="mid", color=ACCENT, alpha=0.18, lw=0)
    axes.step(x, bits, where="mid", color=ACCENT, lw=1.3)
    axes.axhline(info.bits_per_sample, color=INK, lw=0.8, ls="--")
    axes.text(x[-1], info.bits_per_sample, " mean", color=INK, fontsize=8, va="center")
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(0, None)
    axes.set_xlabel("band" if wavelength is None else "wavelength, nm", fontsize=9)
    axes.set_title("bits/sample of each band", fontsize=10, color=INK, loc="left")
    axes.grid(axis="y", color=SOFT, lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _wavelength(
    source: ZarrSource, array: ZarrArray, axis: int | None
) -> NDArray[np.float64] | None:
    """Return increasing wavelengths of the bands in nanometres, or None."""
    for coord in source.coords:
        if axis is None or last_component(coord.name).lower() not in ("wavelength", "wavelengths"):
            continue
        is_along = (coord.dims, coord.values.shape) == ((array.dims[axis],), (array.shape[axis],))
        if is_along and bool(np.all(np.diff(coord.values) > 0)):
            micro = float(np.max(coord.values)) < 100  # micrometres: no sensor reaches below 100 nm
            return np.asarray(coord.values, np.float64) * (1000.0 if micro else 1.0)
    return None


def _colours(
    array: ZarrArray, axis: int | None, wavelength: NDArray[np.float64] | None
) -> tuple[list[int], str]:
    """Return the bands for red, green and blue, or one for grey, and the title of the quicklook."""
    n = 1 if axis is None else array.shape[axis]
    if n < 3:
        return [0], "quicklook"
    if wavelength is not None and wavelength[0] < COLOURS_NM[2] and wavelength[-1] > COLOURS_NM[0]:
        bands = [int(np.abs(wavelength - nm).argmin()) for nm in COLOURS_NM]
        return bands, "false colours: " + ", ".join(f"{wavelength[b]:.0f}" for b in bands) + " nm"
    bands = [n // 2, n // 3, n // 6]
    return bands, f"false colours: bands {', '.join(map(str, bands))}"


def quicklook(
    array: ZarrArray, axis: int | None, bands: list[int]
) -> tuple[NDArray[np.float64], tuple[float, float, float, float], str]:
    """Return the picture, its extent, and a note if it shows only a part.

    Returns
    -------
    picture : (rows, columns[, 3]) float64 in 0..1
    extent : (left, right, bottom, top) in samples
    note : " (the middle)" if the array has more than MAX_CHUNKS chunks, else ""
    """
    rank = len(array.shape)
    image = [i for i in range(max(0, rank - 3), rank) if i != axis]
    window = {i: _middle(array, i) for i in image}
    step = max(1, max(-(-(s.stop - s.start) // MAX_PIXELS) for s in window.values()))
    planes = [_plane(array, axis, band, window)[::step, ::step] for band in bands]
    y, x = (window[i] for i in image)
    whole = all((s.start, s.stop) == (0, array.shape[i]) for i, s in window.items())
    picture = np.dstack([_stretch(p) for p in planes]) if len(planes) > 1 else _stretch(planes[0])
    return picture, (x.start, x.stop, y.stop, y.start), "" if whole else " (the middle)"


def _middle(array: ZarrArray, axis: int) -> slice[int, int, int | None]:
    """Return the range of at most sqrt(MAX_CHUNKS) whole chunks around the middle of an axis."""
    chunk = (array.chunks or array.shape)[axis]
    count = -(-array.shape[axis] // chunk)
    taken = min(count, math.isqrt(MAX_CHUNKS))
    first = (count - taken) // 2 * chunk
    return slice(first, min(first + taken * chunk, array.shape[axis]))


def _plane(
    array: ZarrArray, axis: int | None, band: int, window: dict[int, slice[int, int, int | None]]
) -> NDArray[np.float64]:
    region = [slice(0, 1)] * len(array.shape)
    if axis is not None:
        region[axis] = slice(band, band + 1)
    for i, part in window.items():
        region[i] = part
    plane: NDArray[np.float64] = array.read(tuple(region)).squeeze().astype(float)
    return plane.reshape([s.stop - s.start for s in window.values()])


def _stretch(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    known = plane[np.isfinite(plane)]
    low, high = np.percentile(known, STRETCH) if known.size else (0.0, 1.0)
    shares = (np.nan_to_num(plane, nan=low, posinf=high, neginf=low) - low) / ((high - low) or 1.0)
    stretched: NDArray[np.float64] = np.clip(shares, 0, 1)
    return stretched
