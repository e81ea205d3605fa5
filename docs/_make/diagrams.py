"""Diagrams as SVG: windows over blocks, alignments, hits along a file, costs of chunks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

INK, GREY, LIGHT, ORANGE, TEAL = "#222222", "#b9b9b9", "#eef1f3", "#c4650f", "#5b8f95"
COLOURS = (ORANGE, TEAL, "#7a5195", "#3f7d4e")


def svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """Return an SVG file of some parts, on a white ground."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' font-family="sans-serif" font-size="12" fill="{INK}" role="img">'
        f'<title>{title}</title><rect width="{width}" height="{height}" fill="#fff"/>'
        f"{''.join(parts)}</svg>\n"
    )


def text(x: float, y: float, words: str, anchor: str = "start", more: str = "") -> str:
    """Return a text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    """Return a rectangle."""
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{fill}"{more}/>'


def line(x: float, y: float, x2: float, y2: float, colour: str = INK, wide: float = 1) -> str:
    """Return a line."""
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{wide}"/>'


@dataclass(frozen=True)
class Window:
    """A window over the blocks of an image.

    Attributes
    ----------
    rows, columns : offsets of the blocks, and the end of the image, in samples
    stored : stored bytes of each block, by row
    y, x : first and last + 1 row and column of the window
    """

    rows: Sequence[int]
    columns: Sequence[int]
    stored: Sequence[Sequence[int]]
    y: tuple[int, int]
    x: tuple[int, int]

    def touches(self, row: int, column: int) -> bool:
        """Return True if the window has samples of a block."""
        return (
            self.rows[row] < self.y[1]
            and self.y[0] < self.rows[row + 1]
            and self.columns[column] < self.x[1]
            and self.x[0] < self.columns[column + 1]
        )

    def decoded(self) -> tuple[int, int]:
        """Return how many blocks are decoded, and their stored bytes."""
        found = [
            n
            for row, values in enumerate(self.stored)
            for column, n in enumerate(values)
            if self.touches(row, column)
        ]
        return len(found), sum(found)


def draw_window(window: Window) -> str:
    """Return the drawing of an image in blocks, with those that a window touches in colour."""
    side, left, top = 360, 60, 56
    scale = side / max(window.rows[-1], window.columns[-1])
    wide, high = window.columns[-1] * scale, window.rows[-1] * scale
    parts = []
    for row, values in enumerate(window.stored):
        for column, stored in enumerate(values):
            x, y = left + window.columns[column] * scale, top + window.rows[row] * scale
            width = (window.columns[column + 1] - window.columns[column]) * scale
            height = (window.rows[row + 1] - window.rows[row]) * scale
            fill = "#f3d3b3" if window.touches(row, column) else LIGHT
            parts.append(box(x, y, width, height, fill, f' stroke="{GREY}"'))
            parts.append(text(x + 6, y + 16, f"{stored / 1000:,.0f} kB", more=' font-size="11"'))
    x, y = left + window.x[0] * scale, top + window.y[0] * scale
    width, height = (window.x[1] - window.x[0]) * scale, (window.y[1] - window.y[0]) * scale
    parts.append(box(x, y, width, height, "none", f' stroke="{ORANGE}" stroke-width="2.5"'))
    for column in window.columns:
        parts.append(text(left + column * scale, top + high + 16, str(column), "middle"))
    for row in window.rows:
        parts.append(text(left - 6, top + row * scale + 4, str(row), "end"))
    count, stored = window.decoded()
    total = sum(map(sum, window.stored))
    n_blocks = sum(map(len, window.stored))
    notes = [
        f"window: rows {window.y[0]} to {window.y[1]},",
        f"columns {window.x[0]} to {window.x[1]}, all bands",
        "",
        f"decoded: {count} of {n_blocks} blocks,",
        f"{stored / 1e6:.1f} of {total / 1e6:.1f} MB",
    ]
    for i, note in enumerate(notes):
        parts.append(text(left + wide + 24, top + 90 + 20 * i, note, more=' font-size="14"'))
    parts.append(text(left, 24, "Blocks that a window decodes", more=' font-size="16"'))
    parts.append(text(left, 44, "stored size of each block"))
    parts.append(text(left + wide / 2, top + high + 36, "column", "middle"))
    middle = top + high / 2
    parts.append(text(16, middle, "row", "middle", f' transform="rotate(-90 16 {middle:.0f})"'))
    title = "Blocks of an image; those that a window touches are in colour"
    return svg(left + side + 240, top + side + 48, title, parts)


@dataclass(frozen=True)
class Segment:
    """An alignment: 0-based ranges in query and genome, in bases."""

    query: tuple[int, int]
    genome: tuple[int, int]
    is_inverted: bool


def draw_dots(segments: Sequence[Segment], n_query: int) -> str:
    """Return the dot plot of a query against the part of a genome that it aligns with."""
    left, top, side = 70, 52, 360
    low = min(one.genome[0] for one in segments) // 10_000 * 10_000
    high = -(-max(one.genome[1] for one in segments) // 10_000) * 10_000
    x_of = side / (high - low)
    y_of = side / n_query
    parts = []
    for place in range(low, high + 1, 20_000):
        x = left + (place - low) * x_of
        parts.append(line(x, top, x, top + side, LIGHT))
        parts.append(text(x, top + side + 16, f"{place // 1000}", "middle"))
    for place in range(0, n_query + 1, 20_000):
        y = top + side - place * y_of
        parts.append(line(left, y, left + side, y, LIGHT))
        parts.append(text(left - 8, y + 4, f"{place // 1000}", "end"))
    parts.append(box(left, top, side, side, "none", f' stroke="{GREY}"'))
    for one in segments:
        ends = one.genome[::-1] if one.is_inverted else one.genome
        x, x2 = (left + (end - low) * x_of for end in ends)
        y, y2 = (top + side - end * y_of for end in one.query)
        parts.append(line(x, y, x2, y2, TEAL if one.is_inverted else ORANGE, 3))
    for i, (name, colour) in enumerate((("same strand", ORANGE), ("other strand", TEAL))):
        parts.append(box(left + side + 20, top + 20 + 22 * i, 14, 14, colour))
        parts.append(text(left + side + 40, top + 32 + 22 * i, name, more=' font-size="13"'))
    parts.append(text(left, 24, "Alignment of a query with an inversion", more=' font-size="16"'))
    parts.append(text(left + side / 2, top + side + 38, "position in chr1, kb", "middle"))
    turn = f' transform="rotate(-90 22 {top + side / 2:.0f})"'
    parts.append(text(22, top + side / 2, "position in the query, kb", "middle", turn))
    return svg(left + side + 150, top + side + 52, "Dot plot of an alignment", parts)


def draw_hits(counts: Mapping[str, Sequence[int]], size_mb: float) -> str:
    """Return bars of the number of hits of each pattern in equal parts of a file."""
    left, top, wide, high = 60, 54, 560, 84
    parts = [text(left, 24, "Hits of patterns along a log", more=' font-size="16"')]
    for i, (pattern, found) in enumerate(counts.items()):
        foot, most = top + (i + 1) * high - 14, max(*found, 1)
        step = wide / len(found)
        for part, n in enumerate(found):
            tall = (high - 40) * n / most
            if n:
                x, y = left + part * step, foot - tall
                parts.append(box(x, y, step * 0.92, tall, COLOURS[i % len(COLOURS)]))
        parts.append(line(left, foot, left + wide, foot, GREY))
        label = f"{pattern.replace('&', '&amp;').replace('<', '&lt;')}: {sum(found):,} hits"
        parts.append(text(left, foot - high + 32, label, more=' font-weight="bold"'))
        parts.append(text(left - 6, foot - high + 48, str(most), "end", ' font-size="11"'))
        parts.append(text(left - 6, foot + 4, "0", "end", ' font-size="11"'))
    foot = top + len(counts) * high
    for half in range(int(2 * size_mb) + 1):
        x = left + half / 2 / size_mb * wide
        parts.append(text(x, foot + 6, f"{half / 2:.1f}", "middle"))
    parts.append(text(left + wide / 2, foot + 26, "offset in the log, MB", "middle"))
    n_parts = len(next(iter(counts.values())))
    parts.append(text(left, 42, f"hits in each of {n_parts} equal parts"))
    return svg(left + wide + 30, foot + 40, "Hits of patterns along a log", parts)


def draw_costs(costs: Mapping[str, Mapping[int, float]]) -> str:
    """Return lines of the processor time of a chunk over the number of chunks, in logarithms."""
    left, top, wide, high = 76, 54, 420, 260
    x_all = sorted({x for values in costs.values() for x in values})
    y_all = [y for values in costs.values() for y in values.values()]
    first, last = math.log10(x_all[0]), math.log10(x_all[-1])
    low, up = math.floor(math.log10(min(y_all))), math.ceil(math.log10(max(y_all)))

    def at(x: float, y: float) -> tuple[float, float]:
        across = left + wide * (math.log10(x) - first) / (last - first)
        return across, top + high * (up - math.log10(y)) / (up - low)

    parts = []
    for power in range(low, up + 1):
        _, y = at(x_all[0], 10.0**power)
        parts.append(line(left, y, left + wide, y, LIGHT))
        parts.append(text(left - 8, y + 4, f"{10.0**power:g}", "end"))
    for x_value in x_all:
        x, _ = at(x_value, 10.0**low)
        parts.append(text(x, top + high + 18, f"{x_value:,}", "middle"))
    for i, (name, values) in enumerate(costs.items()):
        points = [at(x, y) for x, y in sorted(values.items())]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        colour = COLOURS[i]
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in points]
        parts.append(box(left + wide - 110, top + 12 + 20 * i, 12, 12, colour))
        parts.append(text(left + wide - 92, top + 22 + 20 * i, name, more=' font-size="13"'))
    parts.append(text(left, 24, "Overhead of a chunk that does nothing", more=' font-size="16"'))
    parts.append(text(left, 42, "processor time per chunk"))
    parts.append(text(left + wide / 2, top + high + 40, "chunks of the job", "middle"))
    turn = f' transform="rotate(-90 20 {top + high / 2:.0f})"'
    parts.append(text(20, top + high / 2, "microseconds per chunk", "middle", turn))
    return svg(left + wide + 50, top + high + 54, "Processor time per chunk of a job", parts)
