"""Plot of an array of a store: bits per sample of each block, or a plot of the domain's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins import entry_points
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.formats.exporting.atomic import write_whole_files
from gangsaw.tasks.jobs.figures.bits import BitMap
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.jobs.figures.report import ArrayInfo, StoreInfo
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# functions that return a figure: of an array, by `Picture.kind`; of a whole store, by the name of
# an attribute of its group
GROUP = "gangsaw.pictures"
MAX_VALUES = 64  # blocks of a map up to which their bits are also written as numbers

PICTURES = (".png", ".pdf", ".svg")
Draw = Callable[[ArrayInfo, ZarrArray, ZarrSource], "Figure"]


def check_picture(path: Path) -> None:
    """Raise BadParams if the suffix of a file to plot to is no supported image format."""
    if path.suffix.lower() not in PICTURES:
        raise BadParams(f"{path}: a picture is {join_words(PICTURES, 'or')}")


def plot_store(info: StoreInfo, path: Path, note: str = "") -> None:
    """Write a plot of the main array of a store, see `figure_of`; the suffix sets the format.

    A note is added to the title. Raises BadParams for a store without samples, CorruptChunk for
    damaged chunks.
    """
    check_picture(path)
    figure = figure_of(info)
    if note:
        add_note(figure, note)
    with write_whole_files([path], overwrite=True) as (part,):
        figure.savefig(part, format=path.suffix.lower()[1:], dpi=150)


def add_note(figure: Figure, note: str) -> None:
    """Add a note to the title of a figure."""
    figure.suptitle(f"{figure.get_suptitle()}; {note}", x=0.01, ha="left", color=INK, fontsize=12)


def figure_of(info: StoreInfo) -> Figure:
    """Return the plot of the store's domain, else of its main array.

    The main array is the largest one with known blocks, else the largest one.
    Raises BadParams for a store without samples.
    """
    mapped = _largest(info)
    domains = entry_points.find_entries(GROUP)
    names = [name for name in sorted(domains) if name in info.source.attrs]
    if mapped.picture in domains and mapped.block_bits is not None:
        names.append(mapped.picture)
    if not names:
        return draw_blocks(mapped)
    draw: Draw | None = entry_points.load_first(domains[names[0]], lambda found: found)
    if draw is None:
        return draw_blocks(mapped)
    array = next(array for array in info.source.there if array.name == mapped.name)
    return draw(mapped, array, info.source)


def _largest(info: StoreInfo) -> ArrayInfo:
    """Return the array to plot: the largest one, as names and offsets are smaller than data."""
    there = [array for array in info.arrays if array.mapped]
    if not there:
        raise BadParams(f"{info.store} holds no samples along an axis: there is nothing to plot")
    return max(there, key=lambda array: (array.mapped == "block", array.raw_bytes))


def draw_blocks(info: ArrayInfo) -> Figure:
    """Return a plot of the bits per sample of blocks, or of chunks, along one or two axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.6), layout="constrained")
    blocks, part = info.block_bits or info.chunk_bits, "block" if info.block_bits else "chunk"
    assert blocks is not None
    axes = figure.add_subplot()
    if blocks.bits.ndim == 1:
        _draw_line(axes, blocks, part)
    else:
        draw_map(figure, axes, blocks, part)
    figure.suptitle(title(info), x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def title(info: ArrayInfo) -> str:
    """Return the title of an array's figure."""
    shape = " x ".join(map(str, info.shape))
    return (
        f"{info.name}: {shape} {info.dtype}, {info.codec}, ratio {info.ratio:.2f}, "
        f"{info.bits_per_sample:.2f} bits/sample"
    )


def draw_map(figure: Figure, axes: Axes, blocks: BitMap, part: str = "block") -> None:
    """Draw the bits per sample of blocks or chunks over two axes as a heat map.

    Parameters
    ----------
    part : name of the parts in the title, "block" or "chunk"
    """
    down, across = blocks.edges
    mesh = axes.pcolormesh(across, down, blocks.bits, cmap="cividis", edgecolors="white", lw=0.4)
    axes.invert_yaxis()
    axes.set_title(f"bits/sample of each {part}", fontsize=10, color=INK, loc="left")
    label_axes(axes, *blocks.dims)
    if blocks.bits.size <= MAX_VALUES:
        _write_values(axes, blocks)
    # without panchor=False the colour bar moves the axes
    figure.colorbar(mesh, ax=axes, shrink=0.85, pad=0.02, panchor=False)


def _write_values(axes: Axes, blocks: BitMap) -> None:
    middle = (blocks.bits.min() + blocks.bits.max()) / 2
    for (row, column), bits in np.ndenumerate(blocks.bits):
        x = blocks.edges[1][column : column + 2].mean()
        y = blocks.edges[0][row : row + 2].mean()
        ink = "black" if bits > middle else "white"
        axes.text(x, y, f"{bits:.2f}", ha="center", va="center", color=ink, fontsize=8)


def _draw_line(axes: Axes, blocks: BitMap, part: str) -> None:
    draw_steps(axes, blocks.bits, blocks.edges[0])
    axes.set_title(f"bits/sample of each {part}", fontsize=10, color=INK, loc="left")
    label_axes(axes, "bits/sample", blocks.dims[0])


def draw_steps(axes: Axes, bits: NDArray[np.float64], edges: NumpyArray) -> None:
    """Draw bits of parts of an axis as filled steps from zero.

    Parameters
    ----------
    bits : (parts,) float64
    edges : (parts + 1,) offsets of the parts, and the end of the axis
    """
    axes.stairs(bits, edges, color=ACCENT, fill=True, alpha=0.18)
    axes.stairs(bits, edges, color=ACCENT, lw=1.3, baseline=None)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, None)
    axes.grid(axis="y", color=SOFT, lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def scaled_edges(edges: NDArray[np.int64], unit: str) -> tuple[NDArray[np.float64], str]:
    """Return offsets in thousands, millions or billions of a unit, and the name of that unit.

    The last offset is at least one of the unit: 1,500 in "B" is 1.5 kB.
    """
    last = int(edges[-1])
    power = next((power for power in (3, 2, 1) if last >= 1000**power), 0)
    return edges / 1000**power, f"{('', 'k', 'M', 'G')[power]}{unit}"


def draw_mean(axes: Axes, bits: float, text: str) -> None:
    """Draw a dashed line at a mean of bits, with its text above the left end."""
    axes.axhline(bits, color=INK, lw=0.8, ls="--")
    axes.annotate(
        text,
        (0, bits),
        xycoords=axes.get_yaxis_transform(),
        xytext=(4, 3),
        textcoords="offset points",
        fontsize=8,
        color=INK,
    )


def label_axes(axes: Axes, down: str, across: str) -> None:
    """Label the vertical axis with `down` and the horizontal one with `across`, in a small font."""
    axes.set_anchor("W")  # the title of a narrow image uses the space to its right
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(down, fontsize=9)
    axes.tick_params(labelsize=8)
