"""Plots of a repertoire's statistics: path counts by sharing, and N2 length by sharing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.atomic import check_target, whole_files
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.tcr.statistics.by_sharing import QUANTILES, Group

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gangsaw.tasks.tcr.statistics.associate import Association

NAMES = ("path_counts_by_sharing", "n2_length_by_sharing")
FORMATS = ("svg", "png")
MAX_BOXES = 12  # more would overlap; the rest is in the JSON
BOX = "#dbe4ea"


@dataclass(frozen=True)
class Style:
    """Texts and scales of a plot.

    Attributes
    ----------
    title, axis : of the plot and of its vertical axis
    is_log : decades, with 0 below 1
    mean : whether means with their 95 % confidence intervals are drawn
    """

    title: str
    axis: str
    is_log: bool
    mean: bool


def write_plots(found: Association, folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write both plots as SVG and PNG into a folder, which is made; return the files.

    Raises BadParams where a file is there and may not be replaced.
    """
    from matplotlib import rc_context

    check_folder(folder, overwrite=overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    figures = (plot_paths(found), plot_n2(found))
    targets = [folder / f"{name}.{form}" for name in NAMES for form in FORMATS]
    # neither salt nor date: equal figures are equal files
    plain = rc_context({"svg.hashsalt": "gangsaw"})
    with plain, whole_files(targets, overwrite=overwrite) as parts:
        for i, part in enumerate(parts):
            form = FORMATS[i % len(FORMATS)]
            metadata = {"Date": None} if form == "svg" else None
            figures[i // len(FORMATS)].savefig(part, format=form, dpi=150, metadata=metadata)
    return targets


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Raise BadParams where the plots cannot be written into a folder."""
    if folder.exists() and not folder.is_dir():
        raise BadParams(f"{folder} is a file: --plots takes a folder")
    if folder.is_dir():
        for name in NAMES:
            for form in FORMATS:
                check_target(folder / f"{name}.{form}", overwrite=overwrite)


def plot_paths(found: Association) -> Figure:
    """Return the figure of path counts by the number of individuals that have a nucleotype."""
    column = found.by_sharing[0].column
    title = "Recombination paths by sharing"
    return _figure(found, column, Style(title, f"paths, {_in_words(column)}", True, False))


def plot_n2(found: Association) -> Figure:
    """Return the figure of N2 lengths by sharing; of a V-J chain those of its one junction."""
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


def _figure(found: Association, column: str, look: Style) -> Figure:
    from matplotlib.figure import Figure

    groups = [group for group in found.by_sharing if group.column == column]
    shown, rest = groups[:MAX_BOXES], groups[MAX_BOXES:]
    figure = Figure(figsize=(max(6.4, 1.6 + 0.72 * len(shown)), 4.6), layout="constrained")
    axes = figure.add_subplot()
    _draw_boxes(axes, shown, look)
    if look.mean:
        _draw_means(axes, shown)
    _label(axes, shown, look)
    left_out = f"; {sum(g.n for g in rest):,} of more individuals are not drawn" if rest else ""
    note = f"{sum(g.n for g in groups):,} nucleotypes{_of(found)}{left_out}"
    figure.suptitle(look.title, x=0.01, ha="left", color=INK, fontsize=12)
    axes.set_title(f"{note}\n{_legend(look)}", fontsize=8, color=INK, loc="left")
    return figure


def _of(found: Association) -> str:
    return f" of {found.individuals:,} individuals" if found.individuals else ""


def _legend(look: Style) -> str:
    whiskers = f"{100 * QUANTILES[0]:.0f} and {100 * QUANTILES[-1]:.0f} %"
    boxes = f"boxes: median and quartiles; whiskers: {whiskers}"
    return f"{boxes}; points: mean with 95 % confidence interval" if look.mean else boxes


def _draw_boxes(axes: Axes, groups: Sequence[Group], look: Style) -> None:
    has_zero = any(group.quantiles[0] <= 0 for group in groups)
    if look.is_log and has_zero:
        axes.set_yscale("symlog", linthresh=1, linscale=0.5)
    elif look.is_log:
        axes.set_yscale("log")
    keys = ("whislo", "q1", "med", "q3", "whishi")
    boxes: list[dict[str, float]] = [
        dict(zip(keys, group.quantiles, strict=True)) for group in groups
    ]
    line = {"color": INK, "lw": 0.9}
    axes.bxp(
        boxes,
        positions=range(len(groups)),
        widths=0.6,
        showfliers=False,
        patch_artist=True,
        boxprops={"facecolor": BOX, "edgecolor": INK, "lw": 0.9},
        medianprops={"color": INK, "lw": 1.8},
        whiskerprops=line,
        capprops=line,
    )


def _draw_means(axes: Axes, groups: Sequence[Group]) -> None:
    """Draw each mean with its interval; of a single value there is none."""
    has = [(i, group) for i, group in enumerate(groups) if group.n > 1]
    one = [(i, group) for i, group in enumerate(groups) if group.n == 1]
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
    axes.plot([i for i, _ in one], [g.mean for _, g in one], "o", color=ACCENT, ms=4, zorder=3)


def _label(axes: Axes, groups: Sequence[Group], look: Style) -> None:
    ticks = [f"{group.individuals}\n{_short(group.n)}" for group in groups]
    axes.set_xticks(range(len(groups)), ticks)
    axes.set_xlabel("individuals that have the nucleotype, and below it how many nucleotypes")
    axes.set_ylabel(look.axis)
    axes.grid(axis="y", color=SOFT, lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", labelsize=8)  # a short log axis labels minor ticks
    axes.xaxis.label.set_fontsize(9)
    axes.yaxis.label.set_fontsize(9)
    # room for a median at 0, and none for the part of an interval that no length can have
    if not look.is_log:
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])
    elif axes.get_yscale() == "symlog":
        axes.set_ylim(bottom=0)


def _short(n: int) -> str:
    """Return a number that fits below a box."""
    return f"n={n:,}" if n < 1_000_000 else f"n={n / 1e6:.3g} M"
