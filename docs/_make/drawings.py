"""Drawings of the documentation, made by code: each function returns the text of an SVG file.

`python docs/_make/drawings.py` writes them to `docs/_static/pictures/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

INK, PAPER, LINE = "#1b2a33", "#ffffff", "#5b6b75"
WOOD, LIGHT, BLADE, INDEX = "#d9a066", "#f3e3cd", "#1f6f78", "#bcd9dc"
WIDTH, HEIGHT = 760, 372
ROWS, COLUMNS = 3, 4  # blocks of the chunk that is drawn
READ = (5, 6)  # blocks that the window touches
LENGTHS = (34, 28, 40, 31, 37, 46, 30, 42, 26, 35, 39, 33)  # of the encoded blocks, in pixels


def draw_blocks() -> str:
    """Return the drawing of an array, its chunks, the blocks of a chunk, and the chunk's frame."""
    parts = [*_array(24, 62), *_chunk(300, 62), *_frame(24, 276)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="14">'
        "<title>An array is cut into chunks, a chunk into blocks; a frame stores them</title>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{PAPER}"/>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def _array(x: int, y: int) -> Iterator[str]:
    """Yield the array: two rows of three chunks, one of which is drawn larger beside it."""
    size = 56
    yield _text(x, y - 32, "array", bold=True)
    yield _text(x, y - 12, "one object per chunk")
    for row in range(2):
        for column in range(3):
            fill = WOOD if (row, column) == (0, 1) else LIGHT
            yield _box(x + column * size, y + row * size, size, size, fill)
    right, top = x + 2 * size, y
    for dy in (0, size):
        yield _line(right, top + dy, 300, y + (0 if dy == 0 else ROWS * 44))


def _chunk(x: int, y: int) -> Iterator[str]:
    """Yield the chunk: numbered blocks, and the window that a reader requests."""
    wide, high = 62, 44
    yield _text(x, y - 32, "chunk", bold=True)
    yield _text(x, y - 12, "12 blocks, each encoded alone")
    for number in range(ROWS * COLUMNS):
        row, column = divmod(number, COLUMNS)
        left, top = x + column * wide, y + row * high
        yield _box(left, top, wide, high, WOOD if number in READ else LIGHT)
        yield _text(left + wide / 2, top + high / 2 + 5, str(number), middle=True)
    yield (
        f'<rect x="{x + wide + 22}" y="{y + high + 9}" width="{2 * wide - 44}" '
        f'height="{high - 18}" fill="none" stroke="{BLADE}" stroke-width="3"/>'
    )
    for i, line in enumerate(("window of a reader:", "blocks 5 and 6 are", "fetched and decoded")):
        yield _text(x + COLUMNS * wide + 16, y + high + 18 + 20 * i, line, fill=BLADE)


def _frame(x: int, y: int) -> Iterator[str]:
    """Yield the frame: header, index of lengths and checksums, encoded blocks."""
    yield _text(x, y - 32, "frame", bold=True)
    yield _text(x, y - 12, "the bytes of the chunk: header, index of block lengths, blocks")
    header, cell, high = 58, 18, 44
    yield _box(x, y, header, high, INDEX)
    yield _text(x + header / 2, y + high / 2 + 5, "header", middle=True)
    left: float = x + header
    for number in range(len(LENGTHS)):
        yield _box(left, y, cell, high, BLADE if number in READ else INDEX)
        left += cell
    first = left
    yield _text(x + header + 6 * cell, y + high + 20, "read 1: header and index", middle=True)
    for number, length in enumerate(LENGTHS):
        yield _box(left, y, length, high, WOOD if number in READ else LIGHT)
        yield _text(left + length / 2, y + high / 2 + 5, str(number), middle=True)
        left += length
    begin = first + sum(LENGTHS[: READ[0]])
    span = sum(LENGTHS[number] for number in READ)
    yield _text(begin + span / 2, y + high + 20, "read 2: these bytes", middle=True)
    for start, end in ((x, first), (begin, begin + span)):
        yield (
            f'<path d="M{start + 1:g} {y + high + 4}H{end - 1:g}" stroke="{BLADE}" '
            'stroke-width="3" fill="none"/>'
        )


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
        f'stroke="{LINE}"/>'
    )


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{LINE}" stroke-dasharray="4 4"/>'


def _text(
    x: float, y: float, text: str, *, bold: bool = False, middle: bool = False, fill: str = INK
) -> str:
    marks = (' font-weight="bold"' if bold else "") + (' text-anchor="middle"' if middle else "")
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}"{marks}>{text}</text>'


DRAWINGS: dict[str, Callable[[], str]] = {"blocks.svg": draw_blocks}
PICTURES = Path(__file__).parents[1] / "_static" / "pictures"

if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        (PICTURES / name).write_text(draw())
