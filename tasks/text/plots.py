"""Figure of a store of text: bits per byte along the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.tasks.jobs.figures.colours import INK
from gangsaw.tasks.jobs.figures.plots import (
    draw_blocks,
    draw_mean,
    draw_steps,
    label_axes,
    scaled_edges,
    title,
)
from gangsaw.tasks.jobs.figures.report import ArrayInfo
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_text(info: ArrayInfo, array: ZarrArray, source: ZarrSource) -> Figure:
    """Draw the encoded bits per byte of each block, or else of each chunk, along the text."""
    from matplotlib.figure import Figure

    bits = info.block_bits or info.chunk_bits
    if bits is None or bits.bits.ndim != 1:
        return draw_blocks(info)
    part = "block" if info.block_bits else "chunk"
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    axes = figure.add_subplot()
    edges, unit = scaled_edges(bits.edges[0], "B")
    draw_steps(axes, bits.bits, edges)
    draw_mean(axes, info.bits_per_sample, f"mean {info.bits_per_sample:.2f}")
    axes.set_title(f"bits per byte of each {part}", fontsize=10, color=INK, loc="left")
    label_axes(axes, "bits/byte", f"offset in the text, {unit}")
    figure.suptitle(title(info), x=0.01, ha="left", color=INK, fontsize=12)
    return figure
