"""Reader of GenBank flat files: names, definitions and sequences of records.

The format: https://www.ncbi.nlm.nih.gov/genbank/release/current, "Sequence Entry Files".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.signs import START, hint, refuse_bare_returns
from gangsaw.tasks.compressed_text.streams import may_be_packed
from gangsaw.tasks.compressed_text.text import Text, beginning, read_blocks
from gangsaw.tasks.genomics.genomes.files.file_parts import GenomeFile, GenomePart, NameCheck
from gangsaw.tasks.genomics.sequences.fasta import BLANKS, protein, refuse_protein

WIDTH = 60  # residues per FASTA line, as in ORIGIN
END = b"\n//"
LOCUS = b"LOCUS "
UNITS = (b"bp", b"aa")
NOT_RESIDUES = b"0123456789 \t\r\n"
INDENT = b" " * 12  # indentation of continued lines
MOST_LINE = 1 << 20  # bytes of the longest line of GenBank
MOST_HEAD = 1 << 16  # bytes of a definition
BEGINNING = 1 << 12  # bytes of text from which GenBank is detected
RELEASE = b"Genetic Sequence Data Bank"  # text in the first line of release files
MOST_LINES = 1 << 10  # most lines before the first record of a release file
LOOK = 1 << 20  # residues from which protein is detected
# keywords of records without a sequence: parts or sets of other records
ELSEWHERE = (b"CONTIG", b"WGS", b"TSA", b"TLS")
MOST_SHOWN = 3  # names of skipped records in a message
NAMED = (b"VERSION", b"ACCESSION", b"LOCUS")  # fields with a record's name, best first


class GenBankReader(GenomeFile):
    """GenBank file, read once; residues become upper case, as in FASTA of the same archive.

    Records without a sequence of their own are skipped, and reported. Protein is refused unless the
    user named the format.
    """

    def __init__(self, path: str, *, takes_protein: bool = False) -> None:
        super().__init__(path)
        self.width, self.takes_protein = WIDTH, takes_protein
        self._names, self._lines = NameCheck(path), _GenBankLines(path)
        self._sample, self._left_out = b"", list[bytes]()
        self._why, self._has_head = "", False

    def parts(self) -> Iterator[GenomePart]:
        """Yield parts of the records; raise BadParams with the line number if it is not GenBank."""
        n, has_more = 0, False
        while (fields := self._fields()) is not None:
            if b"ORIGIN" not in fields:
                self._leave_out(fields)
                continue
            has_more |= b"FEATURES" in fields or b"REFERENCE" in fields
            begun = np.zeros(1, np.int64)
            names = np.frombuffer(build_header(fields) + b"\n", np.uint8)
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
        """Note a skipped record, whose sequence is in other records.

        Raise BadParams for any other.
        """
        key = next((key for key in ELSEWHERE if key in fields), None)
        if key is None:
            raise self._wrong("its record has no sequence")
        self._why = (
            f"its record has {key.decode()} instead of a sequence: download it with its sequence"
        )
        self._left_out.append(build_header(fields).split(None, 1)[0])

    def _lost(self, *, has_more: bool) -> Iterator[str]:
        """Yield descriptions of the file's items that the store does not contain."""
        if has_more:
            yield "features, references and comments"
        if self._has_head:
            yield "the head of a release's file"
        if (n := len(self._left_out)) > 0:
            shown = b", ".join(self._left_out[:MOST_SHOWN]).decode("utf-8", "backslashreplace")
            more = ", ..." if n > MOST_SHOWN else ""
            yield f"{n} records that have CONTIG or WGS instead of a sequence ({shown}{more})"

    def _judge(self) -> None:
        """Raise BadParams if the residues read so far are amino acids."""
        if not self.takes_protein:
            refuse_protein(np.frombuffer(self._sample, np.uint8), self.path, "genbank")

    def _fields(self) -> dict[bytes, bytes] | None:
        """Return keywords and values of the next record up to ORIGIN; None after the last one."""
        fields, key = dict[bytes, bytes](), b""
        while (line := self._lines.next()) is not None:
            if not fields and not line.strip():
                continue
            if self._is_head(line, fields):
                continue
            if not fields and line.split(b" ")[0] != b"LOCUS":
                raise self._wrong(f"it does not begin with LOCUS and a blank{hint(line[:START])}")
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
        """Return True if a line belongs to the header of a release file, before its records."""
        if RELEASE in line and self._lines.number == 1:
            self._has_head = True
        is_before = not fields and not self._left_out and not self._sample
        is_one = self._has_head and is_before and not line.startswith(b"LOCUS")
        return is_one and self._lines.number < MOST_LINES

    def _sequence(self, fields: dict[bytes, bytes]) -> Iterator[Text]:
        """Yield the residues of a record; raise BadParams if their number is not that of LOCUS."""
        size, unit = expected_size(fields)
        if unit == b"aa" and not self.takes_protein:
            raise protein(self.path, "genbank")
        found = 0
        for text in self._lines.until_end():
            letters = text.translate(None, NOT_RESIDUES).upper()
            if letters and not letters.isalpha():
                raise self._wrong("a sequence has other characters than residues")
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
    """Buffered reader of lines of a GenBank file, and of a record's whole sequence at once.

    Attributes
    ----------
    number : number of the last line that was read
    """

    def __init__(self, path: str) -> None:
        self.path, self.number = path, 0
        self._blocks, self._text, self._at = read_blocks(path), b"", 0

    def next(self) -> bytes | None:
        """Return the next line without its end; None after the last one."""
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
        """Yield the text up to the next line that begins with "//", and consume that line."""
        self._at = max(0, self._at - 1)  # include the newline of the previous line
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
        """Append another block to the buffered text; return False at the end."""
        block = next(self._blocks, None)
        if block is not None:
            if self.number == 0 and not self._text:
                refuse_bare_returns(block[:MOST_LINE].tobytes(), self.path)
            self._text, self._at = self._text[self._at :] + block.tobytes(), 0
        return block is not None


def build_header(fields: dict[bytes, bytes]) -> bytes:
    """Return the name and definition of a record as a FASTA header."""
    values = (fields.get(key, b"").split() for key in NAMED)
    name = next((value[0] for value in values if value), b"")
    definition = b" ".join(fields.get(b"DEFINITION", b"").split()).removesuffix(b".")
    return name + (b" " + definition if definition else b"")


def expected_size(fields: dict[bytes, bytes]) -> tuple[int | None, bytes]:
    """Return the length that LOCUS declares, or None, and its unit "bp" or "aa"."""
    words = fields[b"LOCUS"].split()
    for number, unit in pairwise(words):
        if unit in UNITS and number.isdigit():
            return int(number), unit
    return None, b"bp"


def is_genbank(path: str, start: bytes) -> bool:
    """Return True if a file that begins with `start` is GenBank, whatever its name.

    The header of a release file or blank lines may precede its records.
    """
    if start.startswith(LOCUS):
        return True
    if start.lstrip(BLANKS)[:2] not in (b"", b"GB", b"LO") and not may_be_packed(start):
        return False
    text = beginning(path, BEGINNING).lstrip(BLANKS) if start else b""
    return text.startswith(LOCUS) or RELEASE in text.partition(b"\n")[0]
