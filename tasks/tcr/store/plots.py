"""Figure of a store of path counts: distribution of the total paths of its references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.jobs.figures.plots import draw_blocks, label_axes
from gangsaw.tasks.jobs.figures.report import ArrayInfo
from gangsaw.tasks.store.source import ZarrArray, ZarrSource
from gangsaw.tasks.tcr.store.counts_store import CountsStore, open_counts
from gangsaw.tasks.tcr.store.path_columns import PathColumn, largest_total, read_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CHUNKS = 16  # chunks whose references are counted
MAX_ROWS = 1 << 17  # references that are counted
CHUNK = 1 << 14  # references of a run if the array has no chunks
BINS = 60
KINDS = {"all": "all paths", "no_d": "paths without D", "dp1": "paths of DP-1"}


@dataclass(frozen=True)
class TotalPaths:
    """Total paths of references.

    Attributes
    ----------
    counts : (references,) uint64
    column : the column of path counts
    rows : references of the store, of which `counts` may have only a part
    """

    counts: NDArray[np.uint64]
    column: PathColumn
    rows: int


def draw_counts(info: ArrayInfo, array: ZarrArray, source: ZarrSource) -> Figure:
    """Draw the histogram of the total paths of references on a logarithmic axis."""
    from matplotlib.figure import Figure

    try:
        store = open_counts(source.name)
        found = read_totals(store, (array.chunks or (CHUNK,))[0])
    except BadParams:  # a store with other variables, or without counts
        return draw_blocks(info)
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    axes = figure.add_subplot()
    _draw_histogram(axes, found)
    samples = len(store.names["sample"])
    locus = store.attrs["germline_locus"]
    text = f"{source.name}: {store.rows:,} references of {samples:,} samples, {locus}"
    figure.suptitle(text, x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def read_totals(store: CountsStore, chunk: int) -> TotalPaths:
    """Return the total paths at the largest limits, of at most MAX_CHUNKS chunks of references.

    The chunks are spread evenly over the store.
    Raises BadParams if the store has no counts.
    """
    column = largest_total(store)
    n_chunks = -(-store.rows // chunk)
    most = max(1, min(MAX_CHUNKS, MAX_ROWS // chunk))
    chosen = np.unique(np.linspace(0, n_chunks - 1, min(n_chunks, most)).astype(int))
    counts = [np.zeros(0, np.uint64)]
    for number in chosen.tolist():
        rows = range(number * chunk, min((number + 1) * chunk, store.rows))
        rows = rows[:MAX_ROWS]
        found = read_columns(store, [column], rows, np.arange(len(rows)))
        counts.append(found[column.name])
    return TotalPaths(np.concatenate(counts), column, store.rows)


def bin_edges(counts: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return at most BINS + 1 edges, evenly spaced in the logarithm, of all counts but zeros."""
    known = counts[counts > 0].astype(np.float64)
    if not known.size:
        return np.array([0.5, 1.5])
    low, high = np.log10(known.min()), np.log10(known.max())
    return np.logspace(low - 0.02, max(high, low) + 0.02, BINS + 1)


def _draw_histogram(axes: Axes, found: TotalPaths) -> None:
    edges = bin_edges(found.counts)
    heights, _ = np.histogram(found.counts.astype(np.float64), edges)
    axes.stairs(heights, edges, color=ACCENT, fill=True)
    axes.set_xscale("log")
    known = found.counts[found.counts > 0]
    none = len(found.counts) - len(known)
    if len(known):
        middle = float(np.median(known.astype(np.float64)))
        axes.axvline(middle, color=INK, lw=0.8, ls="--")
        above = axes.get_xaxis_transform()
        axes.text(middle, 0.96, f" median {middle:.3g}", transform=above, fontsize=8, color=INK)
    n = len(found.counts)
    part = f"{n:,} references" if n == found.rows else f"{n:,} of {found.rows:,} references"
    column = found.column
    limits = f"nu ≤ {column.nu}" + ("" if column.pi is None else f", pi ≤ {column.pi}")
    text = f"total paths of {part}; {none:,} without a path"
    axes.set_title(text, fontsize=10, color=INK, loc="left")
    axes.grid(axis="y", color=SOFT, lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    label_axes(axes, "references", f"{KINDS.get(column.kind, column.kind)} ({limits})")
