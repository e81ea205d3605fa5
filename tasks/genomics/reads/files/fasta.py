"""Reader of FASTA records: the lines of a sequence are joined, and their lengths recorded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.signs import hint, refuse_bare_returns
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.files.fasta_kernels import (
    HEAD,
    first_width,
    join_sequence_lines,
    odd_folds,
)
from gangsaw.tasks.genomics.reads.files.kernels import LINES, NEWLINE, SEQUENCE, strip_returns
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Int64s, ReadFile
from gangsaw.tasks.genomics.sequences.fasta import HEAD_SIGN

COMMENT = 59  # ";"
SAMPLE = 1 << 16  # largest number of bases in a sample
NUMBERING = 1 << 32  # larger than the number of lines in a record


class FastaFile(ReadFile):
    """FASTA file of reads, read once; qualities and the line after "+" are empty.

    Attributes
    ----------
    n_lines : number of lines that were read so far
    """

    numbering = NUMBERING

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.n_lines, self._longest, self._is_fixed = 0, 0, False

    def records(self) -> Iterator[FastqRecords]:
        """Yield batches of records; raise BadParams with the line number if it is not FASTA."""
        waiting: list[Text] = []
        is_line_start = True
        for block in self._blocks():
            if self.n_lines == 0 and not waiting:
                self._check_start(block[:SAMPLE].tobytes())
            cut = _last_head(block, is_line_start)
            is_line_start = bool(block[-1] == NEWLINE)
            if cut > 0 or (cut == 0 and waiting):
                yield self._parsed(np.concatenate([*waiting, block[:cut]]))
                waiting, block = [], block[cut:]
            waiting.append(block)
        if waiting:
            yield self._parsed(np.concatenate(waiting))

    def _check_start(self, start: bytes) -> None:
        refuse_bare_returns(start, self.path, HEAD_SIGN)
        if not start.startswith(HEAD_SIGN):
            is_late = start.lstrip().startswith(HEAD_SIGN)
            other = " (blank lines before the first record: --format genome keeps them)"
            raise self._wrong(0, f"it does not begin with >{other if is_late else hint(start)}")

    def _parsed(self, text: Text) -> FastqRecords:
        """Parse a text of whole records, in place; return these."""
        ends = np.flatnonzero(text == NEWLINE)
        if text[-1] != NEWLINE:
            self.ends_open, ends = True, np.append(ends, text.size)
        begins = np.concatenate(([0], ends[:-1] + 1))
        self._note_first(text, int(ends[0]))
        odd = np.empty(ends.size, np.int64)
        n_odd = int(strip_returns(text, begins, ends, self.has_returns, odd))
        self._check(text, begins)
        heads = np.append(np.flatnonzero(text[begins] == HEAD), begins.size)
        self._note_lines(odd[:n_odd], heads, ends - begins)
        places = np.empty((2, heads.size - 1, LINES), np.int64)
        join_sequence_lines(text, begins, ends, heads, *places)
        if not self.n_records and heads.size > 1:
            begin, end = places[:, 0, SEQUENCE]
            self._note_colours(text[begin:end].tobytes())
        self.n_records += heads.size - 1
        self.n_lines += begins.size
        return FastqRecords(text, *places)

    def _check(self, text: Text, begins: Int64s) -> None:
        comments = np.flatnonzero(text[begins] == COMMENT)
        if comments.size:
            raise self._wrong(int(comments[0]), "it begins with ; (comments are not read)")
        if not text.all():
            line = int(np.searchsorted(begins, np.argmin(text), "right")) - 1
            raise self._wrong(line, "it holds a byte 0, so that it is no text")

    def _note_lines(self, odd: Int64s, heads: Int64s, lengths: Int64s) -> None:
        """Note the lines with an unusual end, and the records with unusual line lengths."""
        records = np.searchsorted(heads, odd, "right") - 1
        numbers = (records + self.n_records) * NUMBERING + odd - heads[records]
        self.odd_ends.add(numbers[:, None])
        if not self._is_fixed:
            self._find_width(lengths, heads)
        is_odd = np.empty(heads.size - 1, bool)
        odd_folds(lengths, heads, self.width, is_odd)
        owners = np.repeat(np.arange(heads.size - 1), np.diff(heads))
        chosen = is_odd[owners]
        chosen[heads[:-1]] = False
        rows = np.column_stack((owners[chosen] + self.n_records, lengths[chosen]))
        self.folds.add(rows)

    def _find_width(self, lengths: Int64s, heads: Int64s) -> None:
        """Set the line width to that of the first full line, unless an earlier line is longer."""
        width, self._longest = map(int, first_width(lengths, heads, self._longest))
        if width:
            self.width, self._is_fixed = width if self._longest <= width else 0, True

    def _wrong(self, line: int, why: str) -> BadParams:
        return BadParams(f"{self.path}: line {self.n_lines + line + 1}: {why}")


def _last_head(block: Text, is_line_start: bool) -> int:
    """Return the offset of the last record in a block; -1 if none begins there."""
    found = np.flatnonzero(block == HEAD)
    is_head = block[found - 1] == NEWLINE
    if found.size and found[0] == 0:
        is_head[0] = is_line_start
    heads = found[is_head]
    return int(heads[-1]) if heads.size else -1


def sample_bases(records: FastqRecords) -> Text:
    """Return the first SAMPLE bases of a batch of records."""
    parts, n = [], 0
    for begin, end in zip(records.begins[:, SEQUENCE], records.ends[:, SEQUENCE], strict=True):
        parts.append(records.text[begin : min(end, begin + SAMPLE - n)])
        n += parts[-1].size
        if n >= SAMPLE:
            break
    return np.concatenate([np.empty(0, np.uint8), *parts])
