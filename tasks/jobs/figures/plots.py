"""The picture of an array in a store: bits of each block, or what a domain draws of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core import tables
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.formats.atomic import whole_files
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.jobs.figures.report import ArrayInfo, BitMap, StoreInfo
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUP = "gangsaw.pictures"  # by `Picture.kind`, functions that return a figure of an array
MAX_VALUES = 64  # blocks of a map whose bits are also written as numbers

PICTURES = (".png", ".pdf", ".svg")
Draw = Callable[[ArrayInfo, ZarrArray, ZarrSource], "Figure"]


def check_picture(path: Path) -> None:
    """Raise BadParams for a suffix of no picture that can be written."""
    if path.suffix.lower() not in PICTURES:
        raise BadParams(f"{path}: a picture is {listed(PICTURES, 'or')}")


def plot_store(info: StoreInfo, path: Path) -> None:
    """Draw the first array of a store that has a map of its blocks; the suffix says how.

    Raises BadParams for a store without such an array, CorruptChunk for damaged chunks.
    """
    check_picture(path)
    figure = figure_of(info)
    with whole_files([path], overwrite=True) as (part,):
        figure.savefig(part, format=path.suffix.lower()[1:], dpi=150)


def figure_of(info: StoreInfo) -> Figure:
    """Return the figure of the first array that has a map of its blocks; see `plot_store`."""
    mapped = next((array for array in info.arrays if array.block_bits is not None), None)
    if mapped is None:
        raise BadParams(f"{info.store}: no array with blocks, there is nothing to plot")
    several = tables.entries(GROUP).get(mapped.picture)
    draw: Draw | None = None if several is None else tables.load(several, lambda found: found)
    if draw is None:
        return draw_blocks(mapped)
    array = next(array for array in info.source.there if array.name == mapped.name)
    return draw(mapped, array, info.source)


def draw_blocks(info: ArrayInfo) -> Figure:
    """Return the figure of an array's blocks along one axis or two."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.6), layout="constrained")
    assert info.block_bits is not None
    axes = figure.add_subplot()
    if info.block_bits.bits.ndim == 1:
        _draw_line(axes, info.block_bits)
    else:
        draw_map(figure, axes, info.block_bits)
    figure.suptitle(title(info), x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def title(info: ArrayInfo) -> str:
    """Return the title of an array's figure."""
    shape = " x ".join(map(str, info.shape))
    return (
        f"{info.name}: {shape} {info.dtype}, {info.codec}, ratio {info.ratio:.2f}, "
        f"{info.bits_per_sample:.2f} bits/sample"
    )


def draw_map(figure: Figure, axes: Axes, blocks: BitMap) -> None:
    """Draw the bits of blocks over two axes of their array."""
    down, across = blocks.edges
    mesh = axes.pcolormesh(across, down, blocks.bits, cmap="cividis", edgecolors="white", lw=0.4)
    axes.invert_yaxis()
    axes.set_title("bits/sample of each block", fontsize=10, color=INK, loc="left")
    label_axes(axes, *blocks.dims)
    if blocks.bits.size <= MAX_VALUES:
        _write_values(axes, blocks)
    figure.colorbar(mesh, ax=axes, shrink=0.85, pad=0.02, panchor=False)  # or it moves them


def _write_values(axes: Axes, blocks: BitMap) -> None:
    middle = (blocks.bits.min() + blocks.bits.max()) / 2
    for (row, column), bits in np.ndenumerate(blocks.bits):
        x = blocks.edges[1][column : column + 2].mean()
        y = blocks.edges[0][row : row + 2].mean()
        ink = "black" if bits > middle else "white"
        axes.text(x, y, f"{bits:.2f}", ha="center", va="center", color=ink, fontsize=8)


def _draw_line(axes: Axes, blocks: BitMap) -> None:
    axes.stairs(blocks.bits, blocks.edges[0], color=ACCENT, fill=True, alpha=0.18)
    axes.stairs(blocks.bits, blocks.edges[0], color=ACCENT, lw=1.3, baseline=None)
    axes.set_xlim(blocks.edges[0][0], blocks.edges[0][-1])
    axes.set_ylim(0, None)
    axes.set_title("bits/sample of each block", fontsize=10, color=INK, loc="left")
    axes.grid(axis="y", color=SOFT, lw=0.6)
    label_axes(axes, "bits/sample", blocks.dims[0])


def label_axes(axes: Axes, down: str, across: str) -> None:
    """Name the axes in small letters."""
    axes.set_anchor("W")  # the title of a narrow image uses the space to its right
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(down, fontsize=9)
    axes.tick_params(labelsize=8)
