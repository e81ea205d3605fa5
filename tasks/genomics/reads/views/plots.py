"""Figure of a store of reads: lengths, qualities, bases, and their encoded bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.tasks.console.output import size
from gangsaw.tasks.genomics.reads.stored.figures import ReadFigures
from gangsaw.tasks.genomics.reads.stored.info import ReadsInfo
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.genomics.reads.views.profile import Profile, profile_of
from gangsaw.tasks.genomics.reads.views.report import Costs, measure_costs
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.jobs.figures.plots import draw_blocks
from gangsaw.tasks.jobs.figures.report import ArrayInfo, StoreInfo, describe
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"A": "#3f7d4e", "C": "#2f6db3", "G": "#c58f00", "T": ACCENT, "other": "#7b8794"}
BLUE = COLOURS["C"]
BANDS = ((10, 90, 0.16), (25, 75, 0.3))  # percentile ranges, and opacity of the band between them
BARS = 60  # largest number of bars for lengths


def draw_reads(info: ArrayInfo, array: ZarrArray, source: ZarrSource) -> Figure:
    """Draw the figure of an array of a reads store: statistics, or the bits of its blocks."""
    from matplotlib.figure import Figure

    reads = ReadsInfo.from_attrs(source.attrs)
    if reads is None or reads.figures is None or not reads.records:
        return draw_blocks(info)
    store = describe(source.name)
    profile = profile_of(Stored(source.arrays, source.attrs), reads.figures.longest)
    figure = Figure(figsize=(13, 7.2), layout="constrained")
    (lengths, qualities, bytes_of), (by_place, letters, along) = figure.subplots(2, 3)
    _draw_lengths(lengths, reads.figures)
    _draw_qualities(qualities, reads.figures)
    _draw_costs(bytes_of, measure_costs(store, reads))
    _draw_quality_by_position(by_place, profile)
    _draw_bases_by_position(letters, profile)
    _draw_along(along, store)
    figure.suptitle(_title(source.name, reads), x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def _title(name: str, reads: ReadsInfo) -> str:
    assert reads.figures is not None
    n_bases, kind = reads.figures.n_bases, "in pairs" if reads.is_paired else "single"
    pairs = "some in pairs" if reads.is_mixed else kind
    order = f"order {reads.settings.order}"
    return f"{name}: {reads.records:,} reads, {pairs}, {n_bases:,} bases, {order}"


def _draw_lengths(axes: Axes, figures: ReadFigures) -> None:
    lengths, counts = np.array(figures.lengths).T
    step = max(1, -(-(figures.longest + 1 - figures.shortest) // BARS))
    edges = np.arange(figures.shortest, figures.longest + step + 1, step) - 0.5
    bars, _ = np.histogram(np.maximum(lengths, figures.shortest), edges, weights=counts)
    axes.stairs(bars, edges, color=ACCENT, fill=True)
    if bars.size == 1:  # a single length: the bar would fill the plot
        axes.set_xlim(edges[0] - 5, edges[1] + 5)
    axes.axvline(figures.n50, color=INK, lw=0.8, ls="--")
    top, text = axes.get_xaxis_transform(), f" N50 {figures.n50:,}"
    axes.text(figures.n50, 0.96, text, transform=top, fontsize=8)
    _label(axes, "length of all reads", "bases", "reads")


def _draw_qualities(axes: Axes, figures: ReadFigures) -> None:
    _label(axes, "quality of all bases", "Phred value", "share, %")
    if not figures.qualities:
        _say(axes, "no qualities stored")
        return
    values, counts = np.array(figures.qualities).T
    axes.bar(values, 100 * counts / counts.sum(), color=ACCENT, width=0.9)


def _draw_costs(axes: Axes, costs: Costs) -> None:
    names = sorted(costs.stored, key=lambda name: costs.stored[name])
    sizes = [costs.stored[name] for name in names]
    axes.barh(names, sizes, color=BLUE)
    for i, (name, stored) in enumerate(zip(names, sizes, strict=True)):
        unit = {"sequence": "base", "quality": "quality", "name": "name"}.get(name, "")
        bits = f", {costs.bits[unit]:.2f} bits/{unit}" if unit in costs.bits else ""
        axes.text(stored, i, f" {size(stored)}{bits}", fontsize=8, va="center", color=INK)
    axes.set_xlim(0, 1.75 * max(sizes))  # space for the labels
    axes.set_xticks([])
    _label(axes, "bytes in the store", "", "")
    axes.grid(visible=False)


def _draw_quality_by_position(axes: Axes, profile: Profile) -> None:
    _label(
        axes, f"quality by position, of {profile.n_reads:,} reads", _place(profile), "Phred value"
    )
    if not profile.qualities.any():
        _say(axes, "no qualities stored")
        return
    x = (profile.places[:-1] + profile.places[1:]) / 2
    for low, high, alpha in BANDS:
        down, up = (percentile(profile.qualities, part) - profile.zero for part in (low, high))
        axes.fill_between(x, down, up, step="mid", color=ACCENT, alpha=alpha, lw=0)
    axes.step(x, percentile(profile.qualities, 50) - profile.zero, where="mid", color=INK, lw=1)
    axes.set_ylim(0, None)
    axes.text(0.02, 0.03, "median, 25-75 %, 10-90 %", transform=axes.transAxes, fontsize=8)


def percentile(counts: npt.NDArray[np.int64], part: int) -> npt.NDArray[np.int64]:
    """Return the byte value at percentile `part` of each histogram, counts (n, 256): (n,) int64."""
    sums = np.cumsum(counts, axis=1)
    found: npt.NDArray[np.int64] = (100 * sums < part * sums[:, -1:]).sum(axis=1)
    return found


def _draw_bases_by_position(axes: Axes, profile: Profile) -> None:
    _label(axes, f"bases by position, of {profile.n_reads:,} reads", _place(profile), "share, %")
    totals = np.maximum(1, profile.letters.sum(axis=1))
    x = (profile.places[:-1] + profile.places[1:]) / 2
    shares = {base: 100 * profile.letters[:, ord(base)] / totals for base in BASES.decode()}
    shares["other"] = 100 - np.sum(list(shares.values()), axis=0)
    for name, share in shares.items():
        axes.step(x, share, where="mid", color=COLOURS[name], lw=1.2, label=name)
    axes.set_ylim(0, 1.2 * max(share.max() for share in shares.values()))
    axes.legend(fontsize=8, ncols=5, frameon=False, loc="upper right", handlelength=1)


def _draw_along(axes: Axes, store: StoreInfo) -> None:
    """Draw the encoded bits of sequences and qualities along the store, block by block."""
    for name, colour in (("sequence", BLUE), ("quality", ACCENT)):
        found = next((a for a in store.arrays if a.name == name), None)
        if found is not None and found.block_bits is not None:
            edges = 100 * found.block_bits.edges[0] / found.shape[0]
            bits = found.block_bits.bits
            axes.stairs(bits, edges, color=colour, baseline=None, label=name, lw=1.5)
    axes.set_ylim(0, None)
    axes.legend(fontsize=8, frameon=False)
    _label(axes, "cost along the store, block by block", "% of the reads", "bits/base")


def _place(profile: Profile) -> str:
    return "position, % of the length" if profile.is_share else "position in the read"


def _say(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=INK, fontsize=9)


def _label(axes: Axes, title: str, across: str, down: str) -> None:
    axes.set_title(title, fontsize=10, color=INK, loc="left")
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(down, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=SOFT, lw=0.6)
    axes.set_axisbelow(True)
