"""Lanes of names that are right but for one thing, so that one check alone refuses each.

They are written by the slow reference, all streams as raw bytes: then a lane may say anything.
Checks that no example needs, as the end of a lane is looked at once more, have none here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from helpers.lane_checks import Example, block_of, check_both_refuse, check_mutant, outcome
from reference.reads_name import (
    COUNT,
    LEAD,
    N_STREAMS,
    PER_COLUMN,
    Model,
    Writer,
    write_model,
)

from gangsaw.codecs.reads import cpu, gpu
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import CODED, HEAD

SIZE = 1024  # bytes of a block
TEMPLATE = [b"r" * 200, b"12", b"abc", b"1" * 19, b"12"]
WHOLE_LINE = b"".join(TEMPLATE) + b"\n"
MODEL = Model([1] * N_STREAMS, [], TEMPLATE)
END, REST, TEXT, UP, NUMBER, MATCH, UUID, HEX, SAME = 0, 1, 2, 3, 7, 19, 20, 22, 63
BYTE_UP, BYTE_NUMBER, TEXT_PART, MATCH_PART, DIGITS, VERSION, VARIANT = 1, 7, 14, 15, 16, 18, 19
Put = Callable[[Writer], None]
Line = list[Put]


def op(column: int, operation: int) -> Put:
    return lambda lane: lane.byte(column * PER_COLUMN, operation)


def byte(column: int, part: int, value: int) -> Put:
    return lambda lane: lane.byte(column * PER_COLUMN + part, value)


def raw(value: int, bits: int) -> Put:
    return lambda lane: lane.coder.raw(value, bits)


def text(column: int, letters: bytes) -> Line:
    return [op(column, TEXT), *(byte(column, TEXT_PART, c) for c in letters + b"\n")]


def uuid(column: int, version: int = 4, variant: int = 8) -> Line:
    parts: Line = [op(column, UUID), *(raw(0, bits) for bits in (12, 12, 8, 12, 4))]
    parts += [byte(column, VERSION, version), raw(0, 12), byte(column, VARIANT, variant)]
    return [*parts, *(raw(0, 12) for _ in range(5))]


def up(column: int) -> Line:
    """The line before, but a token is 5 more."""
    copied = [op(0, SAME + column)]
    return [*copied, op(column, UP), byte(column, BYTE_UP, 5), op(column + 1, REST)]


COPY: Line = [op(0, REST)]
FULL = 4 * [COPY]  # 908 of 1024 bytes
FILL = text(0, b"x" * 115)  # all but one of the others


def window(lines: list[Line], lead: int = 0, last: int = 1 << 16) -> bytes:
    lane = Writer(MODEL)
    lane.counted(LEAD, lead)
    lane.counted(COUNT, len(lines))
    for put in (put for line in lines for put in line):
        put(lane)
    return lane.coder.bytes(last)


def forged(windows: dict[int, bytes], used: int, n_lines: int, lane: int) -> Example:
    model, shared = write_model(MODEL), 1 + 2 * len(TEMPLATE) + sum(map(len, TEMPLATE))
    front = HEAD.pack(CODED, used, n_lines) + model[:-shared]
    lanes = [front, model[-shared:], *(windows.get(i, b"") for i in range(-(-SIZE // lane)))]
    return Example("", "", block_of(lanes), SIZE, Params(kind="name", lane=lane))


def one(lines: list[Line], used: int, last: int = 1 << 16) -> Example:
    """A block of one window."""
    return forged({0: window(lines, last=last)}, used, len(lines), SIZE)


def four(counts: dict[int, int]) -> Example:
    """A block of four lines in windows of 256 bytes; `counts` : how many each of them has."""
    lanes, begin = {}, 0
    for i, n in counts.items():
        lanes[i] = window(n * [COPY], begin - 256 * i)
        begin += n * len(WHOLE_LINE)
    return forged(lanes, begin, 4, 256)


CHECKS: dict[str, Callable[[], Example]] = {}


def _check(name: str, there: str, instead: str, example: Callable[[], Example]) -> None:
    CHECKS[name] = lambda: example()._replace(there=there, instead=instead)


N = len(WHOLE_LINE)
_check(
    "a copy of no tokens",
    "(n == 0 && operation != REST) || ",
    "",
    partial(one, [[op(0, SAME), op(0, REST)]], N),
)
_check(
    "a copy of more tokens than there are",
    " || k + n > line.n_old",
    "",
    partial(
        one,
        [
            COPY,
            COPY,
            [*text(0, b"a"), op(1, END)],
            [op(0, SAME + 2), *text(2, b"x" * 252), op(3, 0)],
        ],
        457,
    ),
)
_check(
    "all other tokens where there are none",
    "n < 0 || ",
    "",
    partial(
        one,
        [COPY, COPY, [*text(0, b"a"), op(1, END)], [*text(0, b"b"), *text(1, b"c"), op(2, REST)]],
        712,
    ),
)
_check(
    "more tokens than a line may have",
    "} else if (k < MOST_TOKENS) {",
    "} else if (true) {",
    partial(one, [[put for k in range(64) for put in text(k, b"")] + [op(64, END)]], 1),
)
_check(
    "a line begins behind its window",
    "if (at >= window_end) return WRONG;",
    "",
    partial(four, {0: 3, 2: 1}),
)
_check(
    "a line has no room for its end",
    "else if (!is_open || i + 1 < start.lines)",
    "else if (false)",
    partial(one, [COPY], N - 1),
)
_check(
    "a copy behind the block",
    "if (size > line.limit - at) return -1;\n    for",
    "for",
    partial(one, [*FULL, COPY], SIZE),
)
_check(
    "a text behind the block",
    "if (at == line.limit) break;",
    "",
    partial(one, [*FULL, [*text(0, b"x" * 300), op(1, END)]], SIZE),
)
_check(
    "a number more than what is none",
    "if (digit < 0 || digit > 9) return -1;",
    "",
    partial(one, [up(2)], N + 1),
)
_check(
    "a number that is none is told", "if (base < 0) return -1;", "", partial(one, [up(2)], N - 2)
)
_check(
    "a number of more digits than 64 bits hold",
    "if (width > MOST_DIGITS) return -1;",
    "",
    partial(one, [up(3)], N),
)
_check(
    "a number behind the block",
    "if (n > line.limit - at) return -1;\n    for",
    "for",
    partial(one, [*FULL, [*FILL, op(1, NUMBER), byte(1, BYTE_NUMBER, 200), op(2, END)]], SIZE),
)
_check(
    "hexadecimal digits behind the block",
    "if (n > line.limit - at) return -1;\n    read_digits",
    "read_digits",
    partial(
        one, [*FULL, [*FILL, op(1, HEX), byte(1, DIGITS, 9), *(3 * [raw(0, 12)]), op(2, END)]], SIZE
    ),
)
_check(
    "a UUID behind the block",
    "if (line.limit - at < UUID_LENGTH) return -1;",
    "",
    partial(one, [*FULL, [*FILL, *uuid(1), op(2, END)]], SIZE),
)
_check(
    "a version of a UUID", "version > 15 || ", "", partial(one, [[*uuid(0, 16), op(1, END)]], 37)
)
_check(
    "a variant of a UUID", " || variant > 15", "", partial(one, [[*uuid(0, 4, 16), op(1, END)]], 37)
)
_check(
    "a match of a token that is not there yet",
    "if (j >= k) return -1;",
    "",
    partial(
        one,
        [COPY, COPY, [op(0, MATCH), byte(0, MATCH_PART, 0), *text(1, b"x" * 254), op(2, END)]],
        455,
    ),
)
_check(
    "a match behind the block",
    "if (size > line.limit - at) return -1;\n    copy_bytes(line.out",
    "copy_bytes(line.out",
    partial(one, [*FULL, [*FILL, op(1, MATCH), byte(1, MATCH_PART, 0), op(2, END)]], SIZE),
)
_check(
    "an operation that there is not",
    "operation > HEX, line, at);\n    return -1;",
    "operation > HEX, line, at);\n    return at;",
    partial(one, [[op(0, 24), op(1, END)]], 1),
)
_check(
    "a state that is not the first",
    "lane.x == LOWEST && ",
    "",
    partial(one, [COPY], N, (1 << 16) + 1),
)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_lanes_without_a_fault_are_decoded(cupy: Any) -> None:
    for example, n in ((one([COPY], N), 1), (four({0: 2, 1: 1, 2: 1}), 4)):
        wanted = (WHOLE_LINE * n).ljust(SIZE, b"\0")
        assert outcome(cpu, np, example) == outcome(gpu, cupy, example) == wanted


@pytest.mark.parametrize("name", CHECKS)
def test_both_sides_refuse_one_fault(name: str, cupy: Any) -> None:
    check_both_refuse(CHECKS[name](), cupy)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("name", CHECKS)
def test_kernels_without_the_check_are_noticed(
    name: str, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_mutant(CHECKS[name](), cupy, monkeypatch)
