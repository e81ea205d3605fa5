"""Reader of FASTQ records in batches, as offsets into the text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.signs import (
    IN_COLOURS,
    START,
    hint,
    is_in_colours,
    refuse_bare_returns,
)
from gangsaw.tasks.compressed_text.text import CutAtBlockError, Text
from gangsaw.tasks.genomics.reads.files.kernels import (
    AT,
    FINE,
    LENGTHS,
    LINE_OF,
    LINES,
    NEWLINE,
    NO_AT,
    PLUS,
    QUALITY,
    REASONS,
    RETURN,
    SEQUENCE,
    check_records,
    strip_returns,
)
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Int64s, ReadFile

SIGN_BYTES = np.array([1, 0, 1, 0])  # bytes before the fields of a record: "@" and "+"
SAMPLE = 1 << 16  # bytes of text from which line ends are detected
MOST_TAIL = 1 << 10  # bytes of blank lines after the last record


class FastqFile(ReadFile):
    """FASTQ file, read once."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._cut: CutAtBlockError | None = None

    def records(self) -> Iterator[FastqRecords]:
        """Yield batches of records; raise BadParams with record and line if it is not FASTQ."""
        rest: Text = np.empty(0, np.uint8)
        for block in self._until_cut():
            if self.n_records == 0 and not rest.size:
                refuse_bare_returns(block[:SAMPLE].tobytes(), self.path)
            if self.n_records == 0 and not rest.size and block[0] != AT:
                raise self._wrong(0, NO_AT, block[:START].tobytes())
            text = np.concatenate((rest, block)) if rest.size else block
            newlines = np.flatnonzero(text == NEWLINE)
            n = newlines.size // LINES * LINES
            if n:
                yield self._checked(text, newlines[:n])
            rest = text[newlines[n - 1] + 1 :] if n else text
        yield from self._last(rest)

    def _until_cut(self) -> Iterator[Text]:
        """Yield the file's text in blocks; store a truncation error, which `_last` raises."""
        try:
            yield from self._blocks()
        except CutAtBlockError as error:
            self._cut = error

    def _last(self, rest: Text) -> Iterator[FastqRecords]:
        """Yield a last record without a final newline from the rest of the text.

        Note blank lines.
        """
        if self._cut is not None:
            if rest.size or not self.n_records:
                raise self._cut
            self.notes.append(f"{self._cut}; it was stored, since a record ends there")
        newlines = np.flatnonzero(rest == NEWLINE)
        if not np.isin(rest, (NEWLINE, RETURN)).all():
            self.ends_open = bool(rest.size and rest[-1] != NEWLINE)
            self.ends_open |= _lacks_empty_line(rest, newlines)
            ends = np.append(newlines, rest.size) if self.ends_open else newlines
            if ends.size < LINES:
                raise self._cut_off(int(ends.size))
            yield self._checked(rest, ends)
            return
        if rest.size > MOST_TAIL:
            raise BadParams(f"{self.path}: {rest.size} bytes of blank lines after the last record")
        self.tail = rest.tobytes()

    def _checked(self, text: Text, line_ends: Int64s) -> FastqRecords:
        begins, ends = np.concatenate(([0], line_ends[:-1] + 1)), line_ends.copy()
        self._note_first(text, int(ends[0]))
        odd = np.empty(ends.size, np.int64)
        n_odd = int(strip_returns(text, begins, ends, self.has_returns, odd))
        self.odd_ends.add(odd[:n_odd, None] + LINES * self.n_records)
        begins, ends = begins.reshape(-1, LINES), ends.reshape(-1, LINES)
        first, reason = check_records(text, begins, ends)
        if reason != FINE:
            start = text[begins[first, SEQUENCE] : ends[first, SEQUENCE]]
            why = start.tobytes() if reason == LENGTHS else text[:START].tobytes()
            raise self._wrong(int(first), int(reason), why)
        if not self.n_records:
            self._note_colours(text[begins[0, SEQUENCE] : ends[0, SEQUENCE]].tobytes())
        self.n_records += len(begins)
        return FastqRecords(text, begins + SIGN_BYTES, ends)

    def _wrong(self, place: int, reason: int, start: bytes) -> BadParams:
        record = self.n_records + place
        is_known = record or reason == LENGTHS or start[:1] == b"@"
        other = "" if is_known else hint(start)
        if reason == LENGTHS and is_in_colours(start):
            other = f" ({IN_COLOURS})"
        line = LINES * record + LINE_OF[reason] + 1
        what = "its quality " if LINE_OF[reason] == QUALITY else "it "
        why = f"{what}{REASONS[reason]}{other}"
        return BadParams(f"{self.path}: line {line}, record {record + 1}: {why}")

    def _cut_off(self, n_lines: int) -> BadParams:
        line = LINES * self.n_records + n_lines
        return BadParams(
            f"{self.path}: line {line}: record {self.n_records + 1} ends after {n_lines} of 4 lines"
        )


def _lacks_empty_line(rest: Text, newlines: Int64s) -> bool:
    """Return True if `rest` is a last record without bases that lacks its empty quality line."""
    if newlines.size != LINES - 1 or rest[-1] != NEWLINE:
        return False
    name, sequence, _ = newlines.tolist()
    is_empty = not rest[name + 1 : sequence].tobytes().strip(b"\r")
    return is_empty and bool(rest[sequence + 1] == PLUS)
