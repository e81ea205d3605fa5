"""The picture of a store: bits of each block; of a scene also of each band, and false colours."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.axes import spectral_axis
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.atomic import whole_files
from gangsaw.tasks.formats.zarr import ZarrArray, ZarrSource, open_zarr
from gangsaw.tasks.jobs.colours import ACCENT, INK, SOFT
from gangsaw.tasks.jobs.report import ArrayInfo, BitMap, StoreInfo

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CHUNKS = 64  # decoded for the quicklook; of a larger store its middle is shown
MAX_PIXELS = 1024  # along each side of the quicklook
COLOURS_NM = (860.0, 650.0, 550.0)  # near infrared, red, green: vegetation is red
STRETCH = (2.0, 98.0)  # percentiles that become black and white


def plot_store(info: StoreInfo, path: Path) -> None:
    """Write a PNG of the first array of a store that has a map of its blocks.

    Raises BadParams for a store without such an array, CorruptChunk for damaged chunks.
    """
    figure = figure_of(info)
    with whole_files([path], overwrite=True) as (part,):
        figure.savefig(part, format="png", dpi=150)


def figure_of(info: StoreInfo) -> Figure:
    """Return the figure of the first array that has a map of its blocks; see `plot_store`."""
    mapped = [array for array in info.arrays if array.block_bits is not None]
    if not mapped:
        raise BadParams(f"{info.store}: no array with blocks, there is nothing to plot")
    if mapped[0].is_image:
        return draw(mapped[0], open_zarr(info.store))
    return draw_blocks(mapped[0])


def draw_blocks(info: ArrayInfo) -> Figure:
    """Return the figure of an array that is no image: its blocks along one axis or two."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.6), layout="constrained")
    assert info.block_bits is not None
    axes = figure.add_subplot()
    if info.block_bits.bits.ndim == 1:
        _draw_line(axes, info.block_bits)
    else:
        _draw_map(figure, axes, info.block_bits)
    figure.suptitle(_title(info), x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def draw(info: ArrayInfo, source: ZarrSource) -> Figure:
    """Return the figure: quicklook and map of the blocks above, bits of the bands below."""
    from matplotlib.figure import Figure

    array = next(a for a in source.arrays if a.name == info.name)
    wavelength = _wavelength(source, array)
    bands = info.band_bits if info.band_bits is not None and len(info.band_bits) > 1 else None
    figure = Figure(figsize=(11, 8.2 if bands is not None else 5.6), layout="constrained")
    grid = figure.add_gridspec(
        2 if bands is not None else 1, 2, height_ratios=[2.1, 1][: 2 if bands is not None else 1]
    )
    _draw_quicklook(figure.add_subplot(grid[0, 0]), array, wavelength)
    assert info.block_bits is not None
    _draw_map(figure, figure.add_subplot(grid[0, 1]), info.block_bits, is_image=True)
    if bands is not None:
        _draw_bands(figure.add_subplot(grid[1, :]), bands, wavelength, info)
    figure.suptitle(_title(info), x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def _title(info: ArrayInfo) -> str:
    shape = " x ".join(map(str, info.shape))
    return (
        f"{info.name}: {shape} {info.dtype}, {info.codec}, ratio {info.ratio:.2f}, "
        f"{info.bits_per_sample:.2f} bits/sample"
    )


def _draw_quicklook(axes: Axes, array: ZarrArray, wavelength: NDArray[Any] | None) -> None:
    bands, label = _colours(array, wavelength)
    picture, extent, part = quicklook(array, bands)
    axes.imshow(picture, extent=extent, interpolation="nearest", cmap="gray")
    axes.set_title(f"{label}{part}", fontsize=10, color=INK, loc="left")
    _label_axes(axes, "row", "column")


def _draw_map(figure: Figure, axes: Axes, blocks: BitMap, is_image: bool = False) -> None:
    down, across = blocks.edges
    mesh = axes.pcolormesh(across, down, blocks.bits, cmap="cividis", edgecolors="white", lw=0.4)
    axes.invert_yaxis()
    axes.set_title("bits/sample of each block", fontsize=10, color=INK, loc="left")
    if is_image:
        axes.set_aspect("equal")
        _label_axes(axes, "row", "column")
    else:
        _label_axes(axes, *blocks.dims)
    if blocks.bits.size <= MAX_CHUNKS:
        _write_values(axes, blocks)
    figure.colorbar(mesh, ax=axes, shrink=0.85, pad=0.02, panchor=False)  # or it moves them


def _write_values(axes: Axes, blocks: BitMap) -> None:
    middle = (blocks.bits.min() + blocks.bits.max()) / 2
    for (row, column), bits in np.ndenumerate(blocks.bits):
        x = blocks.edges[1][column : column + 2].mean()
        y = blocks.edges[0][row : row + 2].mean()
        ink = "black" if bits > middle else "white"
        axes.text(x, y, f"{bits:.2f}", ha="center", va="center", color=ink, fontsize=8)


def _draw_bands(
    axes: Axes, bits: NDArray[np.float64], wavelength: NDArray[Any] | None, info: ArrayInfo
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


def _draw_line(axes: Axes, blocks: BitMap) -> None:
    axes.stairs(blocks.bits, blocks.edges[0], color=ACCENT, fill=True, alpha=0.18)
    axes.stairs(blocks.bits, blocks.edges[0], color=ACCENT, lw=1.3, baseline=None)
    axes.set_xlim(blocks.edges[0][0], blocks.edges[0][-1])
    axes.set_ylim(0, None)
    axes.set_title("bits/sample of each block", fontsize=10, color=INK, loc="left")
    axes.grid(axis="y", color=SOFT, lw=0.6)
    _label_axes(axes, "bits/sample", blocks.dims[0])


def _label_axes(axes: Axes, down: str, across: str) -> None:
    axes.set_anchor("W")  # the title of a narrow image uses the space to its right
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(down, fontsize=9)
    axes.tick_params(labelsize=8)


def _wavelength(source: ZarrSource, array: ZarrArray) -> NDArray[Any] | None:
    """Return rising wavelengths of the bands in nanometres, or None."""
    axis = spectral_axis(array.dims)
    for coord in source.coords:
        if axis is None or coord.name.lower() not in ("wavelength", "wavelengths"):
            continue
        if coord.dims == (array.dims[axis],) and bool(np.all(np.diff(coord.values) > 0)):
            micro = float(np.max(coord.values)) < 100  # no sensor has such short nanometres
            return np.asarray(coord.values) * (1000.0 if micro else 1.0)
    return None


def _colours(array: ZarrArray, wavelength: NDArray[Any] | None) -> tuple[list[int], str]:
    """Return the bands for red, green and blue, or one for grey, and what to call them."""
    axis = spectral_axis(array.dims)
    n = 1 if axis is None else array.shape[axis]
    if n < 3:
        return [0], "quicklook"
    if wavelength is not None and wavelength[0] < COLOURS_NM[2] and wavelength[-1] > COLOURS_NM[0]:
        bands = [int(np.abs(wavelength - nm).argmin()) for nm in COLOURS_NM]
        return bands, "false colours: " + ", ".join(f"{wavelength[b]:.0f}" for b in bands) + " nm"
    bands = [n // 2, n // 3, n // 6]
    return bands, f"false colours: bands {', '.join(map(str, bands))}"


def quicklook(
    array: ZarrArray, bands: list[int]
) -> tuple[NDArray[np.float64], tuple[float, float, float, float], str]:
    """Return (rows, columns[, 3]) of 0..1, its extent (left, right, bottom, top), and its part.

    At most MAX_CHUNKS chunks are read; of a larger array that is its middle.
    """
    rank = len(array.shape)
    axis = spectral_axis(array.dims)
    image = [i for i in range(max(0, rank - 3), rank) if i != axis]
    window = {i: _middle(array, i) for i in image}
    step = max(1, max(-(-(s.stop - s.start) // MAX_PIXELS) for s in window.values()))
    planes = [_plane(array, axis, band, window)[::step, ::step] for band in bands]
    y, x = (window[i] for i in image)
    whole = all((s.start, s.stop) == (0, array.shape[i]) for i, s in window.items())
    picture = (
        np.dstack([_stretched(p) for p in planes]) if len(planes) > 1 else _stretched(planes[0])
    )
    return picture, (x.start, x.stop, y.stop, y.start), "" if whole else " (the middle)"


def _middle(array: ZarrArray, axis: int) -> slice:
    """Whole chunks around the middle of an image axis: a fair part of MAX_CHUNKS."""
    chunk = (array.chunks or array.shape)[axis]
    count = -(-array.shape[axis] // chunk)
    taken = min(count, math.isqrt(MAX_CHUNKS))
    first = (count - taken) // 2 * chunk
    return slice(first, min(first + taken * chunk, array.shape[axis]))


def _plane(
    array: ZarrArray, axis: int | None, band: int, window: dict[int, slice]
) -> NDArray[np.float64]:
    region = [slice(0, 1)] * len(array.shape)
    if axis is not None:
        region[axis] = slice(band, band + 1)
    for i, part in window.items():
        region[i] = part
    plane: NDArray[np.float64] = array.read(tuple(region)).squeeze().astype(float)
    return plane.reshape([s.stop - s.start for s in window.values()])


def _stretched(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = np.percentile(plane, STRETCH)
    stretched: NDArray[np.float64] = np.clip((plane - low) / ((high - low) or 1.0), 0, 1)
    return stretched
