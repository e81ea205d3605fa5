"""Reader of FASTA with records of any length: residues, headers and layout of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.signs import START, hint, refuse_bare_returns
from gangsaw.tasks.compressed_text.text import Positions, Text, read_blocks
from gangsaw.tasks.genomics.genomes.files import fasta_kernels as kernels
from gangsaw.tasks.genomics.genomes.files.file_parts import (
    LINE_COLUMNS,
    UNFOLDED,
    GenomeFile,
    GenomePart,
    NameCheck,
)
from gangsaw.tasks.genomics.genomes.info import MOST_BEFORE
from gangsaw.tasks.genomics.sequences.fasta import BLANKS, HEAD_SIGN, refuse_protein

LOOK = 1 << 20  # bytes of text from which line width and protein are detected
HEADS = re.compile(rb"\n>[^\n]*")
STEP = 1 << 20  # bytes of text that are parsed at once


class FastaGenome(GenomeFile):
    """A FASTA file, read once; protein is refused unless the user named the format."""

    def __init__(self, path: str, *, takes_protein: bool = False) -> None:
        super().__init__(path)
        self.takes_protein = takes_protein
        self._state = np.zeros(kernels.STATES, np.int64)
        self._names = NameCheck(path, ", or store the file as reads: --format fasta")
        self._room = _ScanBuffers(STEP)

    def parts(self) -> Iterator[GenomePart]:
        """Yield parts of the records; raise BadParams with the line number if it is not FASTA."""
        blocks = self._blocks()
        begun, n = [], 0
        while n < LOOK and (block := next(blocks, None)) is not None:
            begun.append(block)
            n += block.size
        if not begun:
            raise BadParams(f"{self.path} holds no records: it is empty")
        for block in chain([self._look(np.concatenate(begun))], blocks):
            for at in range(0, block.size, STEP):
                yield self._part(block[at : at + STEP])
        yield self._last()

    def _blocks(self) -> Iterator[Text]:
        """Yield blocks of the file's text."""
        try:
            yield from read_blocks(self.path)
        except BadParams as error:
            record = self._state[kernels.RECORD] + 1
            raise BadParams(f"{error} (in record {record})") from error

    def _look(self, text: Text) -> Text:
        """Detect line width, line ends and protein in the first block.

        Return the block from its first record on.
        """
        refuse_bare_returns(text[:LOOK].tobytes(), self.path, HEAD_SIGN)
        self.before = blank_lines(text[: MOST_BEFORE + 1].tobytes())
        text = text[len(self.before) :]
        line, start = self.before.count(b"\n"), text[:START].tobytes()
        if not start.startswith(HEAD_SIGN) or len(self.before) > MOST_BEFORE:
            raise self._wrong(line, f"it does not begin with >{hint(start)}")
        lines = text[:LOOK].tobytes().split(b"\n")
        self.has_returns = len(lines) > 1 and lines[0].endswith(b"\r")
        self.width = usual_width(lines[:-1])
        if not self.takes_protein:
            letters = HEADS.sub(b"", b"\n" + text[:LOOK].tobytes())
            refuse_protein(np.frombuffer(letters, np.uint8), self.path, "genome")
        self._state[kernels.WIDTH], self._state[kernels.RETURNS] = self.width, self.has_returns
        self._state[kernels.RECORD], self._state[kernels.IS_START] = -1, 1
        self._state[kernels.LINE] = line
        return text

    def _part(self, text: Text) -> GenomePart:
        """Parse a block of text; return its part of the genome."""
        first_line = int(self._state[kernels.LINE])
        if not text.all():
            line = first_line + text[: np.argmin(text)].tobytes().count(b"\n")
            raise self._wrong(line, "it holds a byte 0, so that it is no text")
        totals = np.zeros(kernels.TOTALS, np.int64)
        room = self._room
        kernels.scan(text, self._state, totals, *room.all)
        if totals[kernels.READ] < text.size:
            raise self._wrong(
                int(self._state[kernels.LINE]), "it begins with ; (comments are not read)"
            )
        return self._copy_part(totals)

    def _last(self) -> GenomePart:
        """Return the last part of the genome, from the parser's state at the end of the text."""
        totals, room = np.zeros(kernels.TOTALS, np.int64), self._room
        self.is_open = kernels.end_file(self._state, totals, room.names, room.runs, room.odd)
        return self._copy_part(totals)

    def _copy_part(self, totals: Positions) -> GenomePart:
        """Return a part of the genome, copied from the parser's output buffers.

        `totals` are the numbers of items in them.
        """
        n_letters, n_names, n_heads, n_runs, n_odd = totals[: kernels.READ].tolist()
        room = self._room
        heads, names = room.heads[:n_heads].copy(), room.names[:n_names].copy()
        self._names.add(names, [f"line {line + 1}" for line in heads[:, kernels.IN_LINES].tolist()])
        letters, lines = room.letters[:n_letters].copy(), room.runs[:n_runs].copy()
        starts, name_starts = heads[:, kernels.IN_LETTERS], heads[:, kernels.IN_NAMES]
        return GenomePart(letters, names, starts, name_starts, lines, room.odd[:n_odd].copy())

    def _wrong(self, line: int, why: str) -> BadParams:
        return BadParams(f"{self.path}: line {line + 1}: {why}")


class _ScanBuffers:
    """Output buffers of the FASTA parser for one block; unused pages take no memory."""

    def __init__(self, n: int) -> None:
        self.letters, self.names = np.empty(n + 4, np.uint8), np.empty(n + 4, np.uint8)
        self.heads = np.empty((n, kernels.HEAD_COLUMNS), np.int64)
        self.runs = np.empty((n + 4, LINE_COLUMNS), np.int64)
        self.odd = np.empty(n + 1, np.int64)
        self.all = self.letters, self.names, self.heads, self.runs, self.odd


def blank_lines(text: bytes) -> bytes:
    """Return the blank lines at the beginning of a text."""
    n_blank = len(text) - len(text.lstrip(BLANKS))
    return text[: text.rfind(b"\n", 0, n_blank) + 1]


def usual_width(lines: list[bytes]) -> int:
    """Return the residues of the first full line, the usual line width, or UNFOLDED.

    A full line is the first of two or more lines of a record. There is none if an earlier record
    has a longer single line.
    """
    longest = first = 0
    for line in lines:
        if line.startswith(b">"):
            longest, first = max(longest, first), 0
        elif not first:
            first = len(line.rstrip())
        elif line.strip():
            return first if longest <= first else UNFOLDED
    return UNFOLDED
