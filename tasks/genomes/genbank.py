"""GenBank flat files read: names, definitions and sequences of their records.

The format: https://www.ncbi.nlm.nih.gov/genbank/release/current, "Sequence Entry Files".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomes.parts import GenomeFile, GenomePart, NameCheck
from gangsaw.tasks.sequences.fasta import BLANKS, protein, refuse_protein
from gangsaw.tasks.sequences.files.signs import START, hint, refuse_bare_returns
from gangsaw.tasks.sequences.files.streams import SIGNS
from gangsaw.tasks.sequences.files.text import Text, beginning, text_of

WIDTH = 60  # of lines of FASTA, as in ORIGIN
END = b"\n//"
LOCUS = b"LOCUS "
UNITS = (b"bp", b"aa")
NOT_LETTERS = b"0123456789 \t\r\n"
INDENT = b" " * 12  # of lines that go on
MOST_LINE = 1 << 20  # bytes; longer ones are no GenBank
MOST_HEAD = 1 << 16  # bytes of a definition
BEGINNING = 1 << 12  # bytes of a text that tell whether it is GenBank
RELEASE = b"Genetic Sequence Data Bank"  # in the first line of files of a release
MOST_LINES = 1 << 10  # before the first record of such a file
LOOK = 1 << 20  # letters that tell whether they are protein
# what records have in place of a sequence: parts of others, or sets of them
ELSEWHERE = (b"CONTIG", b"WGS", b"TSA", b"TLS")
MOST_SHOWN = 3  # names of records that are left out
NAMED = (b"VERSION", b"ACCESSION", b"LOCUS")  # what names a record, the best first


class GenBank(GenomeFile):
    """A GenBank file, read once; letters become upper case, as in FASTA of the same archive.

    Records whose sequence is elsewhere are left out, and named. Protein is refused unless the user
    named the format.
    """

    def __init__(self, path: str, *, takes_protein: bool = False) -> None:
        super().__init__(path)
        self.width, self.takes_protein = WIDTH, takes_protein
        self._names, self._lines = NameCheck(path), _GenBankLines(path)
        self._sample, self._left_out = b"", list[bytes]()
        self._why, self._has_head = "", False

    def parts(self) -> Iterator[GenomePart]:
        """Yield records; BadParams, with the number of the line, for what is none."""
        n, has_more = 0, False
        while (fields := self._fields()) is not None:
            if b"ORIGIN" not in fields:
                self._leave_out(fields)
                continue
            has_more |= b"FEATURES" in fields or b"REFERENCE" in fields
            begun = np.zeros(1, np.int64)
            names = np.frombuffer(head_of(fields) + b"\n", np.uint8)
            self._names.add(names, [f"line {self._lines.number}"])
            yield GenomePart(names[:0], names, begun, begun)
            for letters in self._sequence(fields):
                yield GenomePart(letters, names[:0], begun[:0], begun[:0])
            n += 1
        if not n and self._left_out:
            raise self._wrong(self._why)
        if not n:
            raise BadParams(f"{self.path} holds no records: it is empty")
        self._judge()
        self.lost = tuple(self._lost(has_more=has_more))

    def _leave_out(self, fields: dict[bytes, bytes]) -> None:
        """Take note of a record without a sequence; BadParams where that is not elsewhere."""
        key = next((key for key in ELSEWHERE if key in fields), None)
        if key is None:
            raise self._wrong("its record has no sequence")
        self._why = (
            f"its record has {key.decode()} instead of a sequence: download it with its sequence"
        )
        self._left_out.append(head_of(fields).split(None, 1)[0])

    def _lost(self, *, has_more: bool) -> Iterator[str]:
        """Yield what of the file is in no record."""
        if has_more:
            yield "features, references and comments"
        if self._has_head:
            yield "the head of a release's file"
        if (n := len(self._left_out)) > 0:
            shown = b", ".join(self._left_out[:MOST_SHOWN]).decode("utf-8", "backslashreplace")
            more = ", ..." if n > MOST_SHOWN else ""
            yield f"{n} records that have CONTIG or WGS instead of a sequence ({shown}{more})"

    def _judge(self) -> None:
        """Raise BadParams where the letters so far are those of protein."""
        if not self.takes_protein:
            refuse_protein(np.frombuffer(self._sample, np.uint8), self.path, "genbank")

    def _fields(self) -> dict[bytes, bytes] | None:
        """Return keywords and values of the next record up to ORIGIN; None behind the last one."""
        fields, key = dict[bytes, bytes](), b""
        while (line := self._lines.next()) is not None:
            if not fields and not line.strip():
                continue
            if self._is_head(line, fields):
                continue
            if not fields and not line.startswith(b"LOCUS"):
                raise self._wrong(f"it does not begin with LOCUS{hint(line[:START])}")
            if line.startswith(b"//"):
                return fields
            if line[:1].strip():
                key, _, value = line.partition(b" ")
                fields[key] = value.strip()
                if key == b"ORIGIN":
                    return fields
            elif line.startswith(INDENT) and key == b"DEFINITION":
                fields[key] = (fields[key] + b" " + line.strip())[:MOST_HEAD]
        if fields:
            raise self._wrong("it is cut off: a record does not end with //")
        return None

    def _is_head(self, line: bytes, fields: dict[bytes, bytes]) -> bool:
        """Whether a line is of what stands before the records of a release's file."""
        if RELEASE in line and self._lines.number == 1:
            self._has_head = True
        is_before = not fields and not self._left_out and not self._sample
        is_one = self._has_head and is_before and not line.startswith(b"LOCUS")
        return is_one and self._lines.number < MOST_LINES

    def _sequence(self, fields: dict[bytes, bytes]) -> Iterator[Text]:
        """Yield the letters of a record; BadParams where they are not as many as LOCUS says."""
        size, unit = expected_size(fields)
        if unit == b"aa" and not self.takes_protein:
            raise protein(self.path, "genbank")
        found = 0
        for text in self._lines.until_end():
            letters = text.translate(None, NOT_LETTERS).upper()
            if letters and not letters.isalpha():
                raise self._wrong("a sequence holds something other than letters")
            found += len(letters)
            if len(self._sample) < LOOK:
                self._sample += letters[:LOOK]
                if len(self._sample) >= LOOK:
                    self._judge()
            yield np.frombuffer(letters, np.uint8)
        if size is not None and found != size:
            raise self._wrong(
                f"LOCUS says {size:,} {unit.decode()}, and the sequence has {found:,}"
            )

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
            if self.number == 0 and not self._text:
                refuse_bare_returns(block[:MOST_LINE].tobytes(), self.path)
            self._text, self._at = self._text[self._at :] + block.tobytes(), 0
        return block is not None


def head_of(fields: dict[bytes, bytes]) -> bytes:
    """Return the name of a record and its definition, as a head of FASTA."""
    values = (fields.get(key, b"").split() for key in NAMED)
    name = next((value[0] for value in values if value), b"")
    definition = b" ".join(fields.get(b"DEFINITION", b"").split()).removesuffix(b".")
    return name + (b" " + definition if definition else b"")


def expected_size(fields: dict[bytes, bytes]) -> tuple[int | None, bytes]:
    """Return the letters that LOCUS says, None where it says none, and "bp", or "aa" of protein."""
    words = fields[b"LOCUS"].split()
    for number, unit in pairwise(words):
        if unit in UNITS and number.isdigit():
            return int(number), unit
    return None, b"bp"


def is_genbank(path: str, start: bytes) -> bool:
    """Say whether a file that begins with `start` is GenBank, whatever it is called.

    The head of a release's file and blank lines may stand before its records.
    """
    if start.startswith(LOCUS):
        return True
    if start.lstrip(BLANKS)[:2] not in (b"", b"GB", b"LO") and not start.startswith(SIGNS):
        return False
    text = beginning(path, BEGINNING).lstrip(BLANKS) if start else b""
    return text.startswith(LOCUS) or RELEASE in text.partition(b"\n")[0]
