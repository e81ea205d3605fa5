"""Plots of the visibility page, drawn from its rows alone, so that page and plots never differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gangsaw.tasks.bench.table import Row
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Row]
TEAL, SAND, BERRY = "#2f6f73", "#c9a227", "#7a3b69"
OURS = {"dense": ACCENT, "fast": TEAL}
LINES = {"prefix sums": TEAL, "independent blocks": ACCENT}
MARKS = {"xor, bits": "o", "xor, bytes": "s", "difference, bits": "^", "difference, bytes": "D"}
SYNTHETIC = "synthetic 8 s"
CROWD = (  # settings whose points lie on that of another one
    "blosc2 shuffle4+zstd5",
    "pcodec level 8",
    "pcodec level 8, re and im split",
    "fpzip time fastest",
    "differences in frequency, blosc2 bitshuffle4+zstd5",
)
DIRECTIONS = ("compress", "decompress")


def draw(sections: Mapping[str, Rows]) -> Iterator[tuple[str, str, Figure]]:
    """Yield name, caption and figure of what the sections, by the name of their module, hold."""
    if ratios := sections.get("visibility"):
        yield "visibility-ratios", "Ratio of each file", plot_ratios(ratios)
        if speeds := sections.get("visibility_speed"):
            yield "visibility-speeds", "Ratio against speed", plot_speeds(ratios, speeds)
    if ways := sections.get("visibility_paper"):
        yield "visibility-constructions", "The paper's constructions", plot_constructions(ways)
    if cases := sections.get("visibility_packing"):
        yield "visibility-packing", "Prefix sums and independent blocks", plot_packing(cases)


def plot_ratios(ratios: Rows) -> Figure:
    """Return the ratio of both efforts and of each file's best peer."""
    figure, (axes,) = _figure(1, "Ratio, and the best peer of each file")
    found = {row.what: row for row in ratios}
    names = [row.what.removeprefix("dense, ") for row in ratios if "best peer" in row.figures]
    for y, name in enumerate(reversed(names)):
        dense, fast = found[f"dense, {name}"], found[f"fast, {name}"]
        best = dense.figures["best peer"]
        axes.plot([best, dense.value or best], [y, y], color=SOFT, lw=3, zorder=1)
        axes.plot(best, y, "o", mfc="white", mec=INK, label="best peer" if not y else None)
        for effort, row in (("dense", dense), ("fast", fast)):
            label = effort if not y else None
            axes.plot(row.value, y, "o", color=OURS[effort], label=label)
    axes.set_yticks(range(len(names)), reversed(names))
    axes.set_xlabel("raw bytes / stored bytes")
    axes.legend(frameon=False, fontsize=8)
    return figure


def plot_speeds(ratios: Rows, speeds: Rows) -> Figure:
    """Return ratio against speed of one core on the synthetic cube, each codec a point."""
    figure, panels = _figure(2, "Synthetic 8 s cube, one core")
    ratio = {row.what: row.value or 0 for row in ratios}
    for axes, direction in zip(panels, DIRECTIONS, strict=True):
        start = f"{direction} {SYNTHETIC}, "
        named = {r.what.removeprefix(start): r for r in speeds if r.what.startswith(start)}
        for i, name in enumerate(name for name in named if name not in CROWD):
            y = ratio[f"{name}, {SYNTHETIC}"]
            _name_point(axes, named[name].value or 0, y, name, above=i % 2 == 0)
        axes.set_xscale("log")
        axes.set_xlim(3, 100_000)  # room for names
        axes.set_xlabel(f"{direction}, MB/s")
    panels[0].set_ylabel("raw bytes / stored bytes")
    return figure


def _name_point(axes: Axes, x: float, y: float, name: str, *, above: bool) -> None:
    colour = OURS.get(name, INK)
    axes.plot(x, y, "o", color=colour, ms=5)
    shift = (5, 3 if above else -8)  # in turn, for neighbours are of one kind
    axes.annotate(name, (x, y), shift, textcoords="offset points", fontsize=7, color=colour)


def plot_constructions(ways: Rows) -> Figure:
    """Return percent saved against speed, a colour for each predictor, a mark for its packing."""
    from matplotlib import colormaps

    figure, panels = _figure(2, "The paper's constructions: percent saved against speed")
    saved = [row for row in ways if "compress" in row.figures and row.what.count(", ") == 3]
    predictors = list(dict.fromkeys(row.what.split(", ")[1] for row in saved))
    for axes, direction in zip(panels, DIRECTIONS, strict=True):
        for row in saved:
            _, predictor, rest = row.what.split(", ", 2)
            colour = colormaps["tab10"](predictors.index(predictor))
            label = predictor if rest == "xor, bits" else None
            at = row.figures[direction], row.value
            axes.plot(*at, MARKS[rest], color=colour, ms=5, label=label)
        for row in (row for row in ways if row.what in ("saved, dense", "saved, fast")):
            name = row.what.removeprefix("saved, ")
            axes.plot(row.figures[direction], row.value, "*", color=OURS[name], ms=11, label=name)
        axes.set_xlabel(f"{direction}, GB/s of one core")
        axes.set_xlim(0, None)
    panels[0].set_ylabel("% saved on all real files")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right", fontsize=7)
    figure.supxlabel(
        "circle xor, bits; square xor, bytes; triangle difference, bits; diamond difference, bytes",
        fontsize=7,
        color=INK,
    )
    return figure


def plot_packing(cases: Rows) -> Figure:
    """Return GB/s over block sizes, a line for each way and number of threads."""
    figure, panels = _figure(2, "Packing counts of zero bits: prefix sums and independent blocks")
    rows = [row for row in cases if "words" in row.figures and ", bits, " in row.what]
    for axes, direction in zip(panels, DIRECTIONS, strict=True):
        for way, colour in LINES.items():
            for threads, style in ((1, "--"), (2, "-")):
                line = [
                    (row.figures["words"], _speed(row, direction))
                    for row in rows
                    if row.what.startswith(way) and row.figures["threads"] == threads
                ]
                label = f"{way}, {threads} thread{'s' * (threads > 1)}"
                axes.plot(*zip(*line, strict=True), style, marker="o", color=colour, label=label)
        axes.set_xscale("log", base=2)
        axes.set_xlabel(f"words of a block; {direction}")
    panels[0].set_ylim(0, None)
    panels[0].set_ylabel("GB/s")
    panels[1].legend(frameon=False, fontsize=7)
    return figure


def _speed(row: Row, direction: str) -> float:
    return (row.value or 0) if direction == "compress" else row.figures[direction]


def _figure(n: int, title: str) -> tuple[Figure, Sequence[Axes]]:
    from matplotlib.figure import Figure as New

    figure = New(figsize=(9, 4.4), layout="constrained")
    panels = figure.subplots(1, n, sharey=True, squeeze=False)[0]
    for axes in panels:
        axes.grid(color=SOFT, lw=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    figure.suptitle(title, x=0.01, ha="left", color=INK, fontsize=11)
    return figure, panels
