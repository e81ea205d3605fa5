"""Export of a store's reads to unaligned BAM, CRAM or SAM by pysam."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.formats.contract.format import Fit, Work
from gangsaw.tasks.formats.exporting.atomic import check_target, write_whole_files
from gangsaw.tasks.genomics.reads.export.export import (
    batches,
    lost_signs,
    select_sound_records,
    shard_of,
)
from gangsaw.tasks.genomics.reads.files.bam import FIRST, LAST, MOST_QUALITY, PAIRED, UNMAPPED
from gangsaw.tasks.genomics.reads.sets.file_sets import split_by_set
from gangsaw.tasks.genomics.reads.stored.info import ReadsInfo
from gangsaw.tasks.genomics.reads.stored.record_text import read_names
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.genomics.sequences.blanks import has_words
from gangsaw.tasks.sources.source import Source

if TYPE_CHECKING:
    from pysam import AlignedSegment, AlignmentHeader

MATE_UNMAPPED = 8
MODES = {".bam": "wb", ".cram": "wc", ".sam": "w"}
BASE_OF_CODE = np.frombuffer(b"=ACMGRSVTWYHKDBN", np.uint8)
MATES = tuple(PAIRED | UNMAPPED | MATE_UNMAPPED | which for which in (FIRST, LAST))
MOST_NAME = 254  # bytes of the longest name


def export_bam(source: Source, path: str, shard: str, work: Work) -> None:
    """Write all reads of a store, or one shard, as unaligned BAM, CRAM or SAM.

    Mates are adjacent.
    """
    import pysam

    stored = Stored(source.arrays, source.attrs)
    first, last = shard_of(shard or "1/1", stored)
    has_pairs = any(own.together == 2 for own in stored.contents.parts)
    grouped = {"GO": "query"} if has_pairs else {"SO": "unknown"}
    check_target(Path(path), overwrite=work.overwrite)
    kept = select_sound_records(stored, first, last, work.damage, partial(_read, stored))
    comments = {"CO": work.damage.marks()} if work.damage.skips else {}
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6", **grouped}, **comments})
    mode = MODES.get(Path(path).suffix.lower(), "wb")
    with (
        write_whole_files([Path(path)], overwrite=work.overwrite) as (part,),
        pysam.AlignmentFile(str(part), mode, header=header, threads=thread_limit()) as out,
    ):
        for begin, end in (some for one in kept for some in batches(stored, *one)):
            for segment in _segments(stored, begin, end, header):
                out.write(segment)


def _read(stored: Stored, first: int, last: int) -> None:
    """Read all lines of records that BAM contains, to find damaged ones."""
    read_names(stored, first, last)
    for name in ("sequence", "quality"):
        if stored.has(name):
            stored.lines(name, first, last)


def fit_bam(source: Source) -> Fit:
    """Return whether a store can be exported as BAM, and the items that BAM cannot represent."""
    contents = ReadsInfo.from_attrs(source.attrs)
    if contents is None:
        return Fit(f"{source.name} holds no reads, which BAM is for")
    if any(own.together > 2 for own in contents.parts):
        return Fit(f"{source.name} holds more than two reads of a name, which BAM cannot hold")
    is_own = contents.format == "bam"
    is_lost = not contents.settings.tags and has_words(source)
    words = ("what stands behind a blank in names",) if is_lost else ()
    return Fit(lost=(*words, *lost_signs(source, contents)), is_own=is_own)


def _segments(
    stored: Stored, first: int, last: int, header: AlignmentHeader
) -> Iterator[AlignedSegment]:
    """Yield records first..last - 1, which belong to one set of files, as pysam segments."""
    from pysam import AlignedSegment

    (run,) = split_by_set(stored.contents.parts, first, last)
    is_paired = run.of.together == 2
    names, tags = _names(stored, first, last, is_paired), _tags(stored, first, last)
    sequences, ends = _gathered(stored, "sequence", first, last, BASE_OF_CODE)
    zero = stored.contents.settings.zero
    allowed = np.arange(zero, min(zero + MOST_QUALITY, 126) + 1, dtype=np.uint8)
    qualities, quality_ends = _gathered(stored, "quality", first, last, allowed)
    qualities -= zero
    for i, name in enumerate(names):
        segment = AlignedSegment(header)
        segment.query_name = name.decode() or None
        segment.flag = MATES[i % 2] if is_paired else UNMAPPED
        segment.query_sequence = sequences[ends[i] : ends[i + 1]].tobytes().decode()
        own = qualities[quality_ends[i] : quality_ends[i + 1]]
        segment.query_qualities = array("B", own.tobytes()) if own.size else None
        yield _tagged(segment, tags[i], header) if tags else segment


def _tagged(segment: AlignedSegment, tags: bytes, header: AlignmentHeader) -> AlignedSegment:
    """Return a segment with the SAM tags behind its name; raise BadParams for invalid tags."""
    from pysam import AlignedSegment

    if not tags:
        return segment
    try:
        return AlignedSegment.fromstring(f"{segment.to_string()}\t{tags.decode()}", header)
    except ValueError as error:
        name = segment.query_name
        raise BadParams(f"the text after the name of {name} is no tag: {error}") from error


def _tags(stored: Stored, first: int, last: int) -> list[bytes]:
    """Return the SAM tags behind each name, after its first tab; [] if tags were not stored."""
    if not stored.contents.settings.tags:
        return []
    field = read_names(stored, first, last)
    return [field.line(i).partition(b"\t")[2] for i in range(last - first)]


def _gathered(
    stored: Stored, name: str, first: int, last: int, allowed: Text
) -> tuple[Text, list[int]]:
    """Return the lines of array `name` of records, concatenated, and their offsets (n + 1).

    Raises BadParams for a byte that is not in `allowed`. Lines that are not stored are empty.
    """
    if not stored.has(name):
        return np.empty(0, np.uint8), [0] * (last - first + 1)
    lines = stored.lines(name, first, last).gathered()
    data, offsets = lines.data, lines.offsets
    is_wrong = np.ones(256, bool)
    is_wrong[allowed] = False
    wrong = is_wrong[data]
    if wrong.any():
        at = int(np.argmax(wrong))
        record = first + int(np.searchsorted(offsets, at, "right"))
        letter = chr(data[at])
        raise BadParams(f"record {record}: BAM cannot hold {letter!r} in a {name}")
    return data, offsets.tolist()


def _names(stored: Stored, first: int, last: int, is_paired: bool) -> list[bytes]:
    """Return names up to the first blank; the names of mates without /1 and /2."""
    field = read_names(stored, first, last)
    names = [_word(field.line(i)) for i in range(last - first)]
    if is_paired:
        for i in range(0, len(names), 2):
            one, other = names[i : i + 2]
            if one.endswith(b"/1") and other.endswith(b"/2"):
                names[i : i + 2] = one, other = one[:-2], other[:-2]
            if one != other:
                number = first + i + 1
                raise BadParams(f"records {number} and {number + 1} are mates of different names")
    for i, name in enumerate(names):
        if len(name) > MOST_NAME or not name.isascii() or b"\0" in name:
            raise BadParams(
                f"record {first + i + 1}: its name is longer than {MOST_NAME} bytes, or no ASCII"
            )
    return names


def _word(name: bytes) -> bytes:
    return (name.split(None, 1) or [b""])[0] if not name[:1].isspace() else b""
