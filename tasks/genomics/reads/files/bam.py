"""Reader of BAM, CRAM and SAM by pysam: reads in their original orientation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.codecs.core.nucleotides.alphabet import reverse_complement_text
from gangsaw.tasks.genomics.reads.files.kernels import LINES, NAME, QUALITY, SEQUENCE
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, ReadFile
from gangsaw.tasks.genomics.reads.files.settings import ALL, tags_of

if TYPE_CHECKING:
    from pysam import AlignedSegment, AlignmentFile

PAIRED, UNMAPPED, REVERSE, FIRST, LAST, NOT_PRIMARY = 1, 4, 16, 64, 128, 256 | 2048
MARKS = 512 | 1024  # flags of failed quality checks, and of duplicates
HARD_CLIP = 5  # CIGAR operation: bases that the file does not contain
PHRED, MOST_QUALITY = 33, 93
SAM_FIELDS = 11  # fields of a SAM line before its tags
EVERY = 16  # after the first batch, tags of every 16th record are examined
BATCH, BATCH_LETTERS = 1 << 14, 1 << 23  # records and bases per batch

# hints for messages about missing mates
ALONE = "--singles yes stores reads without mates after the pairs"
TOGETHER = "samtools collate -o OUT puts mates together"

Line = tuple[bytes, bytes, bytes]  # name, sequence, qualities as bytes from 0


class BamFile(ReadFile):
    """BAM, CRAM or SAM file, read once; the line after "+" is empty.

    Aligned reads are restored to the sequenced orientation; alignments are lost. Selected tags are
    appended to the names, as `samtools fastq -T` writes them.

    Parameters
    ----------
    part : "pairs" or "singles" of a file that has both; "" if all records are of one kind
    tags : tags to store, as in `Settings`
    """

    def __init__(self, path: str, part: str = "", tags: str = "") -> None:
        super().__init__(path)
        self._part, self._kept = part, tags_of(tags)
        self._other, self._marks, self._mapped, self._has_mates = 0, 0, False, False
        self._tags: set[str] = set()

    def records(self) -> Iterator[FastqRecords]:
        """Yield batches of records; raise BadParams with the record number if the file is cut."""
        number = 0
        with open_bam(self.path, lambda: f" (after record {number})") as file:
            lines: list[Line] = []
            letters = 0
            for segment in self._select_reads(file):
                number += 1
                lines.append(self._line(segment, number))
                letters += len(lines[-1][1])
                if letters >= BATCH_LETTERS or len(lines) >= BATCH:
                    yield self._records(lines)
                    lines, letters = [], 0
            if lines:
                yield self._records(lines)
            self.lost = self._all_lost(file)

    def _select_reads(self, file: AlignmentFile) -> Iterator[AlignedSegment]:
        """Return the reads of the selected part: pairs, singles or all."""
        if not self._part:
            return self._checked(self._primary(file))
        if file.header.to_dict().get("HD", {}).get("SO") == "coordinate":
            raise BadParams(
                f"{self.path} is sorted by position, so that mates are not adjacent ({TOGETHER})"
            )
        return _parted(self._primary(file), self._part, Apart(self.path))

    def _primary(self, file: AlignmentFile) -> Iterator[AlignedSegment]:
        for segment in file.fetch(until_eof=True):
            if segment.flag & NOT_PRIMARY:
                self._other += 1
            else:
                yield segment

    def _checked(self, segments: Iterator[AlignedSegment]) -> Iterator[AlignedSegment]:
        reads = _Pairs(self)
        for segment in segments:
            reads.check(segment)
            yield segment
        reads.end()

    def _line(self, segment: AlignedSegment, number: int) -> Line:
        """Return the fields of a record in the sequenced orientation.

        Note the items that are lost.
        """
        flag = segment.flag
        if not flag & UNMAPPED:
            self._mapped = True
            cigar = segment.cigartuples
            if cigar and HARD_CLIP in (cigar[0][0], cigar[-1][0]):
                raise BadParams(
                    f"{self.path}: record {number}, {segment.query_name}, is clipped: some of "
                    "its bases are missing"
                )
        self._marks |= flag & MARKS
        self._has_mates |= bool(flag & PAIRED)
        self._note_tags(segment, number)
        sequence, values = (segment.query_sequence or "").encode(), segment.query_qualities
        qualities = b"" if values is None else values.tobytes()
        if flag & REVERSE:
            # pysam's function does not complement IUPAC codes
            sequence, qualities = reverse_complement_text(sequence), qualities[::-1]
        name = (segment.query_name or "").encode()
        return name + self._tags_behind(segment), sequence, qualities

    def _note_tags(self, segment: AlignedSegment, number: int) -> None:
        """Note which tags occur, in the first batch of records and every 16th record after it."""
        if number <= BATCH or not self._tags or number % EVERY == 0:
            self._tags |= {tag for tag, _ in segment.get_tags()}

    def _tags_behind(self, segment: AlignedSegment) -> bytes:
        """Return the selected tags in SAM notation, each after a tab."""
        if not self._kept:
            return b""
        own = segment.to_string().split("\t")[SAM_FIELDS:]
        if self._kept != (ALL,):
            own = [tag for tag in own if tag[:2] in self._kept]
        return "".join(f"\t{tag}" for tag in own).encode()

    def _records(self, lines: Sequence[Line]) -> FastqRecords:
        fields = list(zip(*lines, strict=True))
        sizes = np.array([[len(text) for text in field] for field in fields], np.int64)
        name_ends, sequence_ends, ends = np.cumsum(sizes.ravel()).reshape(sizes.shape)
        text = np.frombuffer(bytearray(b"".join(map(b"".join, fields))), np.uint8)
        qualities = text[sequence_ends[-1] :]
        if qualities.size and qualities.max() > MOST_QUALITY:
            which = int(np.searchsorted(ends, sequence_ends[-1] + np.argmax(qualities), "right"))
            raise BadParams(
                f"{self.path}: record {self.n_records + which + 1} has a quality of "
                f"{qualities.max()}; {MOST_QUALITY} is the most that text holds"
            )
        qualities += PHRED
        self.n_records += len(lines)
        places = np.stack([name_ends, sequence_ends, sequence_ends, ends], axis=1)
        begins = places.copy()
        begins[:, [NAME, SEQUENCE, QUALITY]] -= sizes.T
        assert begins.shape[1] == LINES
        return FastqRecords(text, begins, places)

    def _all_lost(self, file: AlignmentFile) -> tuple[str, ...]:
        """Return descriptions of the file's items that the store does not contain."""
        # htslib adds an empty @SQ to a header without references
        header = [kind for kind, some in file.header.to_dict().items() if some and kind != "HD"]
        left = set() if self._kept == (ALL,) else self._tags - set(self._kept)
        tags, lines = ", ".join(sorted(left)), ", ".join(f"@{kind}" for kind in header)
        found = {
            f"tags ({tags})": bool(left),
            f"lines of the header ({lines})": bool(header),
            "alignments": self._mapped,
            f"{self._other} secondary and supplementary records": self._other > 0,
            "marks of failed checks and duplicates": self._marks != 0,
            "which mates single reads are": self._part == "singles" and self._has_mates,
        }
        return tuple(what for what, is_there in found.items() if is_there)


def _parted(
    segments: Iterable[AlignedSegment], part: str, apart: Apart
) -> Iterator[AlignedSegment]:
    """Yield the reads of one part: pairs, first mates first, or reads without an adjacent mate.

    Raises BadParams for reads whose mate is not adjacent.
    """
    waiting: AlignedSegment | None = None
    for segment in segments:
        if waiting is not None and _are_mates(waiting, segment):
            if part == "pairs":
                yield from sorted((waiting, segment), key=lambda mate: mate.flag & LAST)
            waiting = None
            continue
        if waiting is not None:
            apart.add(waiting)
            if part == "singles":
                yield waiting
        waiting = segment
    if waiting is not None:
        apart.add(waiting)
        if part == "singles":
            yield waiting
    apart.end()


def _are_mates(one: AlignedSegment, other: AlignedSegment) -> bool:
    flags = {segment.flag & (PAIRED | FIRST | LAST) for segment in (one, other)}
    return flags == {PAIRED | FIRST, PAIRED | LAST} and one.query_name == other.query_name


class Apart:
    """Checker that no two single reads of a BAM file are mates; 8 bytes for each such read.

    Otherwise a pair would become two single reads, which the store could not show.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._new: list[tuple[int, str]] = []  # hash of the name, mate in the lowest bit; name
        self._known = np.empty(0, np.uint64)

    def add(self, segment: AlignedSegment) -> None:
        """Add a read without an adjacent mate."""
        name = segment.query_name or ""
        if segment.flag & PAIRED and segment.flag & (FIRST | LAST):
            own = int.from_bytes(blake2b(name.encode(), digest_size=8).digest())
            self._new.append((own & ~1 | bool(segment.flag & LAST), name))
            if len(self._new) >= BATCH:
                self.end()

    def end(self) -> None:
        """Raise BadParams if two of the added reads are mates."""
        new = np.array([own for own, _ in self._new], np.uint64)
        # stable: this algorithm merges sorted runs
        self._known = np.sort(np.concatenate((self._known, np.sort(new))), kind="stable")
        mates = new ^ np.uint64(1)
        places = np.searchsorted(self._known, mates)
        is_there = self._known[np.minimum(places, self._known.size - 1)] == mates
        if is_there.any():
            name = self._new[int(np.argmax(is_there))][1]
            raise BadParams(
                f"{self.path}: the mates {name} do not follow each other: --singles yes would make "
                f"single reads of them ({TOGETHER})"
            )
        self._new = []


class _Pairs:
    """Checker that all records of a BAM file are single reads, or that all mates are adjacent.

    Attributes
    ----------
    n : number of records so far
    """

    def __init__(self, file: BamFile) -> None:
        self.path, self.n, self._is_paired, self._name = file.path, 0, False, ""

    def check(self, segment: AlignedSegment) -> None:
        """Check the next record; raise BadParams if its mate is not adjacent."""
        self.n += 1
        flag, name = segment.flag, segment.query_name
        if self.n == 1:
            self._is_paired = bool(flag & PAIRED)
        if bool(flag & PAIRED) != self._is_paired:
            one, other = ("", " not") if flag & PAIRED else ("not ", "")
            raise self._wrong(f"is {one}one of a pair, those before are{other}", ALONE)
        if not self._is_paired:
            return
        mate = FIRST if self.n % 2 else LAST
        if flag & (FIRST | LAST) != mate or (mate == LAST and name != self._name):
            raise self._wrong(
                "and its mate do not follow each other, the first one first", f"{TOGETHER}; {ALONE}"
            )
        self._name = name or ""

    def end(self) -> None:
        """Raise BadParams if the mate of the last record of the file is missing."""
        if self._is_paired and self.n % 2:
            raise self._wrong("has no mate", ALONE)

    def _wrong(self, why: str, hint: str) -> BadParams:
        return BadParams(f"{self.path}: record {self.n} {why} ({hint})")


def is_paired(path: str) -> bool:
    """Return True if the first read of a file is paired; raise BadParams for an unreadable file."""
    with open_bam(path) as file:
        flags = (s.flag for s in file.fetch(until_eof=True) if not s.flag & NOT_PRIMARY)
        return bool(next(flags, 0) & PAIRED)


@contextmanager
def open_bam(path: str, place: Callable[[], str] = str) -> Iterator[AlignmentFile]:
    """Open a BAM, CRAM or SAM file; raise BadParams if invalid or truncated, also while reading.

    htslib's messages appear only in the error. `place` returns the position for it.
    """
    import pysam

    before = pysam.set_verbosity(0)
    try:
        # one thread: with several, htslib hangs at a damaged first block
        with pysam.AlignmentFile(path, check_sq=False) as file:
            yield file
    except GangsawError:
        raise
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError | PermissionError) and not os.access(path, os.R_OK):
            raise
        hint = " (aligned CRAM needs its reference: see REF_PATH)" if path.endswith("cram") else ""
        raise BadParams(
            f"{path}: it is incomplete, or no BAM, CRAM or SAM: {_why(error)}{place()}{hint}"
        ) from error
    finally:
        pysam.set_verbosity(before)


def _why(error: Exception) -> str:
    """Return htslib's message; it is misleading for a damaged file that htslib fails to close."""
    return "its data are damaged" if "Closing failed" in str(error) else str(error)
