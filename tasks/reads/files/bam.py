"""Records of BAM, CRAM and SAM through pysam: the reads, as they came from the sequencer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.codecs.core.nucleotides.letters import other_strand
from gangsaw.tasks.reads.files.kernels import LINES, NAME, QUALITY, SEQUENCE
from gangsaw.tasks.reads.files.records import FastqRecords, ReadFile

if TYPE_CHECKING:
    from pysam import AlignedSegment, AlignmentFile

PAIRED, UNMAPPED, REVERSE, FIRST, LAST, NOT_PRIMARY = 1, 4, 16, 64, 128, 256 | 2048
MARKS = 512 | 1024  # failed checks, duplicate
HARD_CLIP = 5  # of a CIGAR: letters that the file does not have
PHRED, MOST_QUALITY = 33, 93
BATCH, BATCH_LETTERS = 1 << 14, 1 << 23  # records and letters that are yielded at once

# what helps where mates are not as they should be
APART = "samtools view -f 1 gives the pairs, -F 1 the others"
TOGETHER = "samtools collate -o OUT puts mates together"
ALONE = "samtools fastq -1 -2 -s puts reads without mates apart"

Line = tuple[bytes, bytes, bytes]  # name, sequence, qualities as numbers


class BamFile(ReadFile):
    """A BAM, CRAM or SAM file, read once. What would follow "+" is empty.

    Reads that were aligned are given as they were before; alignments are lost.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._other, self._marks, self._mapped = 0, 0, False
        self._tags: set[str] = set()

    def records(self) -> Iterator[FastqRecords]:
        """Yield records; BadParams, with the number of the record, for what is not whole."""
        reads = _Pairs(self)
        with reading(self.path, lambda: f" (behind record {reads.n})") as file:
            lines: list[Line] = []
            letters = 0
            for segment in file.fetch(until_eof=True):
                if segment.flag & NOT_PRIMARY:
                    self._other += 1
                    continue
                reads.check(segment)
                lines.append(self._line(segment, reads.n))
                letters += len(lines[-1][1])
                if letters >= BATCH_LETTERS or len(lines) >= BATCH:
                    yield self._records(lines)
                    lines, letters = [], 0
            reads.end()
            if lines:
                yield self._records(lines)
            self.lost = self._all_lost(file)

    def _line(self, segment: AlignedSegment, number: int) -> Line:
        """Return a record as it was sequenced; take note of what it has beyond that."""
        flag = segment.flag
        if not flag & UNMAPPED:
            self._mapped = True
            cigar = segment.cigartuples
            if cigar and HARD_CLIP in (cigar[0][0], cigar[-1][0]):
                raise BadParams(
                    f"{self.path}: record {number}, {segment.query_name}, is clipped: not all of "
                    "its letters are there"
                )
        self._marks |= flag & MARKS
        self._note_tags(segment, number)
        sequence, values = (segment.query_sequence or "").encode(), segment.query_qualities
        qualities = b"" if values is None else values.tobytes()
        if flag & REVERSE:
            # pysam's own leaves letters of IUPAC as they are
            sequence, qualities = other_strand(sequence), qualities[::-1]
        return (segment.query_name or "").encode(), sequence, qualities

    def _note_tags(self, segment: AlignedSegment, number: int) -> None:
        """Take note of the tags of the first records, and of later ones until there are some."""
        if number <= BATCH or not self._tags:
            self._tags |= {tag for tag, _ in segment.get_tags()}

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
        """Return what the file holds beyond its reads, in words."""
        # htslib gives a header without references an empty @SQ
        header = [kind for kind, some in file.header.to_dict().items() if some and kind != "HD"]
        tags, lines = ", ".join(sorted(self._tags)), ", ".join(f"@{kind}" for kind in header)
        found = {
            f"tags ({tags})": bool(self._tags),
            f"lines of the header ({lines})": bool(header),
            "alignments": self._mapped,
            f"{self._other} secondary and supplementary records": self._other > 0,
            "marks of failed checks and duplicates": self._marks != 0,
        }
        return tuple(what for what, is_there in found.items() if is_there)


class _Pairs:
    """Checks that records are single reads, or mates one behind the other.

    Attributes
    ----------
    n : records so far
    """

    def __init__(self, file: BamFile) -> None:
        self.path, self.n, self._is_paired, self._name = file.path, 0, False, ""

    def check(self, segment: AlignedSegment) -> None:
        """Take the next record; BadParams where a mate is not where it should be."""
        self.n += 1
        flag, name = segment.flag, segment.query_name
        if self.n == 1:
            self._is_paired = bool(flag & PAIRED)
        if bool(flag & PAIRED) != self._is_paired:
            one, other = ("", " not") if flag & PAIRED else ("not ", "")
            raise self._wrong(f"is {one}one of a pair, those before are{other}", APART)
        if not self._is_paired:
            return
        mate = FIRST if self.n % 2 else LAST
        if flag & (FIRST | LAST) != mate or (mate == LAST and name != self._name):
            raise self._wrong(
                "and its mate do not follow each other, the first one first", f"{TOGETHER}; {ALONE}"
            )
        self._name = name or ""

    def end(self) -> None:
        """Take the end of the file; BadParams where a mate is missing."""
        if self._is_paired and self.n % 2:
            raise self._wrong("has no mate", ALONE)

    def _wrong(self, why: str, hint: str) -> BadParams:
        return BadParams(f"{self.path}: record {self.n} {why} ({hint})")


def is_paired(path: str) -> bool:
    """Whether the first read of a file is one of a pair; BadParams where it cannot be read."""
    with reading(path) as file:
        flags = (s.flag for s in file.fetch(until_eof=True) if not s.flag & NOT_PRIMARY)
        return bool(next(flags, 0) & PAIRED)


@contextmanager
def reading(path: str, place: Callable[[], str] = str) -> Iterator[AlignmentFile]:
    """Open a file; BadParams for what is none, and for one that is cut off, also while it is read.

    What htslib would print of them goes into the error alone. `place` says how far it was read.
    """
    import pysam

    before = pysam.set_verbosity(0)
    try:
        # one thread: with several, htslib never comes back from a damaged block at the front
        with pysam.AlignmentFile(path, check_sq=False) as file:
            yield file
    except GangsawError:
        raise
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError | PermissionError) and not os.access(path, os.R_OK):
            raise
        hint = " (aligned CRAM needs its reference: see REF_PATH)" if path.endswith("cram") else ""
        raise BadParams(
            f"{path}: it is not whole, or no BAM, CRAM or SAM: {_why(error)}{place()}{hint}"
        ) from error
    finally:
        pysam.set_verbosity(before)


def _why(error: Exception) -> str:
    """Return what htslib says; of a damaged file that it closes, its number is another error's."""
    return "its data are damaged" if "Closing failed" in str(error) else str(error)
