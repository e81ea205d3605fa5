"""Charts of the page: the throughput of a job over time, and the map of its chunks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bokeh.models import (
    AdaptiveTicker,
    ColumnDataSource,
    CustomJSTickFormatter,
    DataRange1d,
    HoverTool,
    Plot,
    Range1d,
)
from bokeh.plotting import figure

from gangsaw.cluster.dashboard.jobs import JobState
from gangsaw.cluster.dashboard.units import clock, rate, scale

# Bokeh draws on a canvas, which no style sheet reaches: legible on light and dark backgrounds.
INK, GRID, LINE = "#828a93", "#8888882e", "#3d8fd6"
DONE, BEGUN, LEFT, BAD = "#3d8fd6", "#3d8fd680", "#80808033", "#e0574c"
HEIGHT = 230  # pixels
LEAST_SECONDS = 1.0  # between two points of the curve: shorter intervals are noisy
WIDE = 3.2  # ratio of width to height of the map
CLOCK = """
const s = Math.round(tick), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
const two = n => String(n).padStart(2, "0");
return h ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
"""


def _plain(title: str, name: str, **options: object) -> figure:
    plot = figure(
        title=title,
        name=name,
        height=HEIGHT,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        **options,
    )
    plot.title.text_color = INK
    plot.title.text_font_size = "13px"
    return plot


class ThroughputCurve:
    """Chart of a job's throughput over time."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"t": [], "rate": [], "said": []})
        self.root = _plain(
            "Throughput since the job began",
            "curve",
            y_range=DataRange1d(start=0, range_padding=0.15),
        )
        self.root.varea("t", 0, "rate", source=self.source, fill_color=LINE, fill_alpha=0.15)
        self.root.line("t", "rate", source=self.source, line_color=LINE, line_width=2)
        self.root.add_tools(HoverTool(tooltips="@said", mode="vline", line_policy="nearest"))
        self.root.xaxis.ticker = AdaptiveTicker(
            base=60, mantissas=[1, 5, 10, 20, 30], min_interval=1
        )
        self.root.xaxis.formatter = CustomJSTickFormatter(code=CLOCK)
        _draw_frame(self.root)

    def show(self, state: JobState | None) -> None:
        """Draw the curve of a job; None clears it."""
        points = rates(state.points) if state is not None else []
        unit, factor = scale(max((r for _, r in points), default=0.0))
        self.root.yaxis.axis_label = f"{unit}/s of samples"
        self.source.data = {
            "t": [t for t, _ in points],
            "rate": [r / factor for _, r in points],
            "said": [f"{rate(r)} at {clock(t)}" for t, r in points],
        }


def rates(points: Sequence[tuple[float, int, int]]) -> list[tuple[float, float]]:
    """Return pairs of time (s) and mean rate since the time before (bytes/s).

    Times are at least `LEAST_SECONDS` apart.

    Parameters
    ----------
    points : times in seconds, bytes and chunks, as in `JobState`
    """
    found: list[tuple[float, float]] = []
    last, last_bytes, _ = points[0]
    for t, n_bytes, _ in points[1:]:
        if t - last >= LEAST_SECONDS or (not found and t > last and (t, n_bytes) == points[-1][:2]):
            found.append((t, (n_bytes - last_bytes) / (t - last)))
            last, last_bytes = t, n_bytes
    return [(points[0][0], found[0][1]), *found] if found else []


def _draw_frame(plot: Plot) -> None:
    for axis in plot.axis:
        axis.axis_line_color = axis.major_tick_line_color = GRID
        axis.minor_tick_line_color = None
        axis.major_label_text_color = axis.axis_label_text_color = INK
        axis.axis_label_text_font_style = "normal"
    plot.grid.grid_line_color = GRID


class ChunkMapChart:
    """Chart of the chunks of a job in rows: done, failed or missing.

    A cell stands for several chunks in a large job.
    """

    def __init__(self) -> None:
        self.source = ColumnDataSource({name: [] for name in ("x", "y", "colour", "said")})
        self.root = _plain("Chunks", "map", x_range=Range1d(-0.5, 0.5), y_range=Range1d(0.5, -0.5))
        self.root.rect(
            "x", "y", 0.88, 0.88, source=self.source, fill_color="colour", line_color=None
        )
        self.root.add_tools(HoverTool(tooltips="@said"))
        self.root.axis.visible = False
        self.root.grid.visible = False

    def show(self, state: JobState | None) -> None:
        """Draw the map of a job; None clears it."""
        room = state.room if state is not None else []
        columns = max(1, math.ceil(math.sqrt(len(room) * WIDE)))
        rows = max(1, -(-len(room) // columns))
        self.root.x_range.update(start=-0.5, end=columns - 0.5)
        self.root.y_range.update(start=rows - 0.5, end=-0.5)
        self.root.title.text = _map_title(room)
        cells = range(len(room))
        self.source.data = {
            "x": [cell % columns for cell in cells],
            "y": [cell // columns for cell in cells],
            "colour": [_colour(state, cell) for cell in cells] if state is not None else [],
            "said": _describe_cells(state) if state is not None else [],
        }


def _map_title(cell_sizes: Sequence[int]) -> str:
    if not cell_sizes:
        return "Chunks: this job has no map"
    most = max(cell_sizes)
    return "Chunks" if most == 1 else f"Chunks, up to {most:,} in a cell"


def _colour(state: JobState, cell: int) -> str:
    if cell in state.bad:
        return BAD
    done = state.cells[cell]
    return LEFT if done <= 0 else DONE if done >= state.room[cell] else BEGUN


def _describe_cells(state: JobState) -> list[str]:
    lines, first = [], 0
    for cell, (n, done) in enumerate(zip(state.room, state.cells, strict=True)):
        name = f"chunk {first:,}" if n == 1 else f"chunks {first:,} to {first + n - 1:,}"
        what = ("done" if done else "left") if n == 1 else f"{done:,} of {n:,} done"
        lines.append(f"{name}: {what}" + (", with failures" if cell in state.bad else ""))
        first += n
    return lines
