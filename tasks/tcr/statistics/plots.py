"""Plots of a repertoire's statistics: sharing by path count, path counts and N2 by sharing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.exporting.atomic import check_target, write_whole_files
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.tcr.statistics.by_sharing import QUANTILES, Group
from gangsaw.tasks.tcr.statistics.deciles import NO_PATH, Decile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gangsaw.tasks.tcr.statistics.associate import Association

NAMES = ("sharing_by_path_count", "path_counts_by_sharing", "n2_length_by_sharing")
FORMATS = ("svg", "png")
MAX_BOXES = 12  # more would overlap; the JSON output has all
FEW = 3  # values that are drawn as points: quartiles of so few are meaningless
BOX = "#dbe4ea"


@dataclass(frozen=True)
class Style:
    """Texts and scales of a plot.

    Attributes
    ----------
    title, axis : title of the plot, and label of its vertical axis
    is_log : decades, with 0 below 1
    mean : True to draw means with their 95 % confidence intervals
    """

    title: str
    axis: str
    is_log: bool
    mean: bool


def write_plots(found: Association, folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write all plots as SVG and PNG into a folder, which is created; return the files.

    Raises BadParams if a file exists and may not be replaced.
    """
    from matplotlib import rc_context

    check_folder(folder, overwrite=overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    figures = (plot_deciles(found), plot_paths(found), plot_n2(found))
    targets = [folder / f"{name}.{form}" for name in NAMES for form in FORMATS]
    # neither salt nor date, so that equal figures give equal files
    plain = rc_context({"svg.hashsalt": "gangsaw"})
    with plain, write_whole_files(targets, overwrite=overwrite) as parts:
        for i, part in enumerate(parts):
            form = FORMATS[i % len(FORMATS)]
            metadata = {"Date": None} if form == "svg" else None
            figures[i // len(FORMATS)].savefig(part, format=form, dpi=150, metadata=metadata)
    return targets


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Raise `BadParams` if the plots cannot be written into a folder."""
    if folder.exists() and not folder.is_dir():
        raise BadParams(f"{folder} is a file: --plots needs a folder")
    if folder.is_dir():
        for name in NAMES:
            for form in FORMATS:
                check_target(folder / f"{name}.{form}", overwrite=overwrite)


def plot_deciles(found: Association) -> Figure:
    """Return the figure of the share of nucleotypes that is shared, by deciles of path counts."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.6), layout="constrained")
    axes = figure.add_subplot()
    _draw_shares(axes, found.deciles)
    axes.set_xticks(range(len(found.deciles)), [_paths_of(each) for each in found.deciles])
    axes.set_xlabel(f"{_in_words(found.paths)}, from, and below it shared nucleotypes")
    axes.set_ylabel("nucleotypes that are shared")
    _dress(axes)
    axes.tick_params(axis="x", labelsize=7)
    whole = f"{found.shared:,} of {found.nucleotypes:,} nucleotypes{_of(found)}"
    _entitle(
        figure,
        axes,
        "Sharing by recombination paths",
        f"{whole}\ndeciles by path count; {_intervals(found.deciles)}open: none",
    )
    return figure


def plot_paths(found: Association) -> Figure:
    """Return the figure of path counts by the number of individuals that have a nucleotype."""
    column = found.by_sharing[0].column
    title = "Recombination paths by sharing"
    return _figure(found, column, Style(title, f"paths, {_in_words(column)}", True, False))


def plot_n2(found: Association) -> Figure:
    """Return the figure of N2 lengths by sharing; for a V-J chain those of its one junction."""
    columns = {group.column for group in found.by_sharing}
    column, name = ("n2", "N2") if "n2" in columns else ("ndn", "N")
    return _figure(
        found, column, Style(f"{name} length by sharing", f"{name} length, nt", False, True)
    )


def _in_words(column: str) -> str:
    kind, *rest = column.split()
    words = {"all": "all D choices and none", "no_d": "without D", "dp1": "DP-1"}
    limits = ", ".join(part.replace("=", " ≤ ") for part in rest)
    return f"{words.get(kind, kind)} ({limits})"


def _draw_shares(axes: Axes, groups: Sequence[Decile]) -> None:
    """Draw shares of deciles with their intervals on a log axis.

    An open circle at the foot marks a share of 0.

    If nothing is shared, the axis is linear from 0 to 1.
    """
    has = [(i, each) for i, each in enumerate(groups) if each.shared]
    sure = [(i, each) for i, each in has if math.isfinite(each.low)]
    if has:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1)
    axes.errorbar(
        [i for i, _ in sure],
        [each.share for _, each in sure],
        [[e.share - e.low for _, e in sure], [min(e.high, 1) - e.share for _, e in sure]],
        fmt="none",
        color=ACCENT,
        lw=1.5,
        capsize=4,
    )
    shares = [each.share for _, each in has]
    axes.plot([i for i, _ in has], shares, "o", color=ACCENT, ms=5, clip_on=False)
    foot, top = axes.get_ylim()
    foot = min(foot, 0.9)  # if all shares are 1
    none = [i for i, each in enumerate(groups) if not each.shared]
    axes.plot(none, [foot] * len(none), "o", color=ACCENT, mfc="none", ms=5, clip_on=False)
    axes.set_ylim(foot, min(top, 1))  # shares are at most 1


def _intervals(groups: Sequence[Decile]) -> str:
    if not any(math.isfinite(each.low) for each in groups):
        return ""
    return "95 % intervals by the jackknife over individuals; "


def _paths_of(group: Decile) -> str:
    first = "no path" if group.number == NO_PATH else f"{group.lowest:.2g}".replace("e+0", "e")
    return f"{first}\n{group.shared:,}"


def _figure(found: Association, column: str, look: Style) -> Figure:
    from matplotlib.figure import Figure

    groups = [group for group in found.by_sharing if group.column == column]
    shown, rest = groups[:MAX_BOXES], groups[MAX_BOXES:]
    figure = Figure(figsize=(max(6.4, 1.6 + 0.72 * len(shown)), 4.6), layout="constrained")
    axes = figure.add_subplot()
    _scale(axes, shown, look)
    _draw_boxes(axes, shown)
    _draw_points(axes, shown)
    if look.mean:
        _draw_means(axes, shown)
    _label(axes, shown, look)
    left_out = f"; {sum(g.n for g in rest):,} of more individuals are not drawn" if rest else ""
    note = f"{sum(g.n for g in groups):,} nucleotypes{_of(found)}{left_out}"
    if look.mean:
        note += "; intervals treat nucleotypes as independent"
    _entitle(figure, axes, look.title, f"{note}\n{_legend(look)}")
    return figure


def _entitle(figure: Figure, axes: Axes, title: str, note: str) -> None:
    figure.suptitle(title, x=0.01, ha="left", color=INK, fontsize=12)
    axes.set_title(note, fontsize=8, color=INK, loc="left")


def _of(found: Association) -> str:
    return f" of {found.individuals:,} individuals" if found.individuals else ""


def _legend(look: Style) -> str:
    whiskers = f"{100 * QUANTILES[0]:.0f} and {100 * QUANTILES[-1]:.0f} %"
    boxes = f"boxes: median, quartiles; whiskers: {whiskers}; rings: values of {FEW} or fewer"
    return f"{boxes}; points: mean, 95 % interval" if look.mean else boxes


def _many(groups: Sequence[Group]) -> list[tuple[int, Group]]:
    return [(i, group) for i, group in enumerate(groups) if group.n > FEW]


def _scale(axes: Axes, groups: Sequence[Group], look: Style) -> None:
    has_zero = any(group.quantiles[0] <= 0 for group in groups)
    if look.is_log and has_zero:
        axes.set_yscale("symlog", linthresh=1, linscale=0.5)
    elif look.is_log:
        axes.set_yscale("log")


def _draw_boxes(axes: Axes, groups: Sequence[Group]) -> None:
    keys = ("whislo", "q1", "med", "q3", "whishi")
    many = _many(groups)
    boxes: list[dict[str, float]] = [
        dict(zip(keys, group.quantiles, strict=True)) for _, group in many
    ]
    line = {"color": INK, "lw": 0.9}
    axes.bxp(
        boxes,
        positions=[i for i, _ in many],
        widths=0.6,
        showfliers=False,
        patch_artist=True,
        boxprops={"facecolor": BOX, "edgecolor": INK, "lw": 0.9},
        medianprops={"color": INK, "lw": 1.8},
        whiskerprops=line,
        capprops=line,
    )


def _draw_points(axes: Axes, groups: Sequence[Group]) -> None:
    """Draw each value of small groups, whose quantiles are these values."""
    points = [
        (i, value)
        for i, group in enumerate(groups)
        if group.n <= FEW
        for value in sorted(set(group.quantiles))
    ]
    places, values = [i for i, _ in points], [value for _, value in points]
    axes.plot(places, values, "o", color=INK, mfc="none", ms=5, zorder=3)


def _draw_means(axes: Axes, groups: Sequence[Group]) -> None:
    """Draw the mean of each group's box, with its 95 % interval."""
    has = _many(groups)
    axes.errorbar(
        [i for i, _ in has],
        [group.mean for _, group in has],
        [[g.mean - g.low for _, g in has], [g.high - g.mean for _, g in has]],
        fmt="o",
        color=ACCENT,
        ms=4,
        lw=1.5,
        capsize=4,
        zorder=3,
    )


def _label(axes: Axes, groups: Sequence[Group], look: Style) -> None:
    ticks = [f"{group.individuals}\n{_short(group.n)}" for group in groups]
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.set_xticks(range(len(groups)), ticks)
    axes.set_xlabel("individuals that have the nucleotype, and below it how many nucleotypes")
    axes.set_ylabel(look.axis)
    _dress(axes)
    # margin for a median at 0, but not for negative parts of an interval
    if not look.is_log:
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])
    elif axes.get_yscale() == "symlog":
        axes.set_ylim(bottom=0)


def _dress(axes: Axes) -> None:
    axes.grid(axis="y", color=SOFT, lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", labelsize=8)  # a short log axis labels minor ticks
    axes.xaxis.label.set_fontsize(9)
    axes.yaxis.label.set_fontsize(9)


def _short(n: int) -> str:
    """Return a number as text that fits below a box."""
    return f"n={n:,}" if n < 1_000_000 else f"n={n / 1e6:.3g} M"
