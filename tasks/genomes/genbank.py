"""GenBank flat files read: names, definitions and sequences of their records.

The format: https://www.ncbi.nlm.nih.gov/genbank/release/current, "Sequence Entry Files".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomes.parts import GenomeFile, GenomePart, NameCheck
from gangsaw.tasks.sequences.files.signs import START, hint
from gangsaw.tasks.sequences.files.text import Text, text_of

WIDTH = 60  # of lines of FASTA, as in ORIGIN
END = b"\n//"
NOT_LETTERS = b"0123456789 \t\r\n"
INDENT = b" " * 12  # of lines that go on
MOST_LINE = 1 << 20  # bytes; longer ones are no GenBank
MOST_HEAD = 1 << 16  # bytes of a definition
NAMED = (b"VERSION", b"ACCESSION", b"LOCUS")  # what names a record, the best first


class GenBank(GenomeFile):
    """A GenBank file, read once; letters become upper case, as in FASTA of the same archive."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.width = WIDTH
        self._names, self._lines = NameCheck(path), _GenBankLines(path)

    def parts(self) -> Iterator[GenomePart]:
        """Yield records; BadParams, with the number of the line, for what is none."""
        n, has_more = 0, False
        while (fields := self._fields()) is not None:
            has_more |= b"FEATURES" in fields or b"REFERENCE" in fields
            begun = np.zeros(1, np.int64)
            names = np.frombuffer(head_of(fields) + b"\n", np.uint8)
            self._names.add(names, [f"line {self._lines.number}"])
            yield GenomePart(names[:0], names, begun, begun)
            for letters in self._sequence(expected_size(fields)):
                yield GenomePart(letters, names[:0], begun[:0], begun[:0])
            n += 1
        if not n:
            raise BadParams(f"{self.path} holds no records: it is empty")
        self.lost = ("features, references and comments",) if has_more else ()

    def _fields(self) -> dict[bytes, bytes] | None:
        """Return keywords and values of the next record up to ORIGIN; None behind the last one."""
        fields, key = dict[bytes, bytes](), b""
        while (line := self._lines.next()) is not None:
            if not fields and not line.strip():
                continue
            if not fields and not line.startswith(b"LOCUS"):
                raise self._wrong(f"it does not begin with LOCUS{hint(line[:START])}")
            if line.startswith(b"ORIGIN"):
                return fields
            if line.startswith(b"//"):
                raise self._wrong(_why_none(fields))
            if line[:1].strip():
                key, _, value = line.partition(b" ")
                fields[key] = value.strip()
            elif line.startswith(INDENT) and key == b"DEFINITION":
                fields[key] = (fields[key] + b" " + line.strip())[:MOST_HEAD]
        if fields:
            raise self._wrong("it is cut off: a record does not end with //")
        return None

    def _sequence(self, size: int | None) -> Iterator[Text]:
        """Yield the letters of a record; BadParams where they are not as many as LOCUS says."""
        found = 0
        for text in self._lines.until_end():
            letters = text.translate(None, NOT_LETTERS).upper()
            if letters and not letters.isalpha():
                raise self._wrong("a sequence holds something other than letters")
            found += len(letters)
            yield np.frombuffer(letters, np.uint8)
        if size is not None and found != size:
            raise self._wrong(f"LOCUS says {size:,} bp, and the sequence has {found:,}")

    def _wrong(self, why: str) -> BadParams:
        return BadParams(f"{self.path}: line {self._lines.number}: {why}")


class _GenBankLines:
    """The lines of a text, and the rest of a sequence at once.

    Attributes
    ----------
    number : of the last line that was taken
    """

    def __init__(self, path: str) -> None:
        self.path, self.number = path, 0
        self._blocks, self._text, self._at = text_of(path), b"", 0

    def next(self) -> bytes | None:
        """Return the next line without its end; None behind the last one."""
        while (end := self._text.find(b"\n", self._at)) < 0:
            if len(self._text) - self._at > MOST_LINE:
                raise BadParams(f"{self.path}: line {self.number + 1} is too long for GenBank")
            if not self._more():
                break
        line = self._text[self._at : end if end >= 0 else None]
        if end < 0 and not line:
            return None
        self._at = end + 1 if end >= 0 else len(self._text)
        self.number += 1
        return line.rstrip(b"\r")

    def until_end(self) -> Iterator[bytes]:
        """Yield the text before the next line that begins with "//", which is taken."""
        self._at = max(0, self._at - 1)  # the end of the line before
        while (end := self._text.find(END, self._at)) < 0:
            whole = max(self._at, len(self._text) - len(END))
            part, self._at = self._text[self._at : whole], whole
            self.number += part.count(b"\n")
            yield part
            if not self._more():
                raise BadParams(f"{self.path} is cut off: a record does not end with //")
        part, self._at = self._text[self._at : end], end + 1
        self.number += part.count(b"\n")
        yield part
        self.next()

    def _more(self) -> bool:
        """Read another block behind the text that waits; return whether there is one."""
        block = next(self._blocks, None)
        if block is not None:
            self._text, self._at = self._text[self._at :] + block.tobytes(), 0
        return block is not None


def head_of(fields: dict[bytes, bytes]) -> bytes:
    """Return the name of a record and its definition, as a head of FASTA."""
    values = (fields.get(key, b"").split() for key in NAMED)
    name = next((value[0] for value in values if value), b"")
    definition = b" ".join(fields.get(b"DEFINITION", b"").split()).removesuffix(b".")
    return name + (b" " + definition if definition else b"")


def expected_size(fields: dict[bytes, bytes]) -> int | None:
    """Return the bases that LOCUS says; None where it says none."""
    words = fields[b"LOCUS"].split()
    at = words.index(b"bp") if b"bp" in words else 0
    return int(words[at - 1]) if at and words[at - 1].isdigit() else None


def _why_none(fields: dict[bytes, bytes]) -> str:
    if b"CONTIG" in fields:
        return "its record has CONTIG instead of a sequence: download it with its sequence"
    return "its record has no sequence"
