"""FastqRecords of FASTQ text, many at a time, as places in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.kernels import (
    FINE,
    LINE_OF,
    LINES,
    NEWLINE,
    REASONS,
    RETURN,
    check_records,
    strip_returns,
)
from gangsaw.tasks.reads.text import Text, text_of

Places = npt.NDArray[np.int64]
NAME, SEQUENCE, SIGN, QUALITY = range(LINES)
SIGN_BYTES = np.array([1, 0, 1, 0])  # that lines begin with: "@" and "+"
MOST_TAIL = 1 << 10  # bytes of blank lines behind the last record


class FastqRecords(NamedTuple):
    """Some records of a text.

    Attributes
    ----------
    text : (m,) uint8
    begins, ends : (n, 4) int64, name, sequence, what follows "+", and quality of each record: their
        places in the text, without "@", "+" and line ends
    """

    text: Text
    begins: Places
    ends: Places

    def __len__(self) -> int:
        """Return how many records these are."""
        return len(self.begins)

    def some(self, which: slice[int | None, int | None, int | None]) -> FastqRecords:
        """Return some of the records."""
        return FastqRecords(self.text, self.begins[which], self.ends[which])


class FastqFile:
    """A FASTQ text, read once.

    Attributes
    ----------
    path : for messages
    n_records : that were yielded so far
    has_returns : whether lines end with CR LF, as the first one does
    odd_ends : numbers of lines that end otherwise, counted from the first record
    ends_open : whether the last line has no newline; known at the end
    tail : blank lines behind the last record; known at the end
    """

    def __init__(self, path: str) -> None:
        self.path, self.n_records, self.has_returns = path, 0, False
        self.odd_ends: list[Places] = []
        self.ends_open, self.tail = False, b""

    def records(self) -> Iterator[FastqRecords]:
        """Yield records; BadParams, with the number of record and line, for what is none."""
        rest: Text = np.empty(0, np.uint8)
        for block in self._blocks():
            text = np.concatenate((rest, block)) if rest.size else block
            newlines = np.flatnonzero(text == NEWLINE)
            n = newlines.size // LINES * LINES
            if n:
                yield self._checked(text, newlines[:n])
            rest = text[newlines[n - 1] + 1 :] if n else text
        yield from self._last(rest)

    def _blocks(self) -> Iterator[Text]:
        try:
            yield from text_of(self.path)
        except BadParams as error:
            raise BadParams(f"{error} (behind record {self.n_records})") from error

    def _last(self, rest: Text) -> Iterator[FastqRecords]:
        """Yield the record that ends without a newline, if there is one; take note of the tail."""
        newlines = np.flatnonzero(rest == NEWLINE)
        if not np.isin(rest, (NEWLINE, RETURN)).all():
            self.ends_open = bool(rest.size and rest[-1] != NEWLINE)
            ends = np.append(newlines, rest.size) if self.ends_open else newlines
            if ends.size < LINES:
                raise self._cut_off(int(ends.size))
            yield self._checked(rest, ends)
            return
        if rest.size > MOST_TAIL:
            raise BadParams(f"{self.path}: {rest.size} bytes of blank lines behind the last record")
        self.tail = rest.tobytes()

    def _checked(self, text: Text, line_ends: Places) -> FastqRecords:
        begins, ends = np.concatenate(([0], line_ends[:-1] + 1)), line_ends.copy()
        if self.n_records == 0:
            self.has_returns = bool(ends[0] and text[ends[0] - 1] == RETURN)
        odd = np.empty(ends.size, np.int64)
        n_odd = int(strip_returns(text, begins, ends, self.has_returns, odd))
        self.odd_ends += [odd[:n_odd] + LINES * self.n_records] if n_odd else []
        begins, ends = begins.reshape(-1, LINES), ends.reshape(-1, LINES)
        first, reason = check_records(text, begins, ends)
        if reason != FINE:
            raise self._wrong(int(first), int(reason))
        self.n_records += len(begins)
        return FastqRecords(text, begins + SIGN_BYTES, ends)

    def _wrong(self, place: int, reason: int) -> BadParams:
        record = self.n_records + place
        line = LINES * record + LINE_OF[reason] + 1
        what = "its quality " if LINE_OF[reason] == QUALITY else "it "
        return BadParams(f"{self.path}: line {line}, record {record + 1}: {what}{REASONS[reason]}")

    def _cut_off(self, n_lines: int) -> BadParams:
        line = LINES * self.n_records + n_lines
        return BadParams(
            f"{self.path}: line {line}: record {self.n_records + 1} ends after {n_lines} of 4 lines"
        )
