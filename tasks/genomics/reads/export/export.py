"""Export of reads to text: identical to the source if everything was stored, or a part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.compressed_text.targets import check_targets, open_targets
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.formats.contract.format import Fit, Format, Paths, Work
from gangsaw.tasks.genomics.reads.sets.file_sets import split_by_set
from gangsaw.tasks.genomics.reads.stored.fasta_text import FastaText
from gangsaw.tasks.genomics.reads.stored.info import ReadsInfo
from gangsaw.tasks.genomics.reads.stored.record_text import FastqText, RecordText
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.sources.source import Source
from gangsaw.tasks.store.damage import Damage
from gangsaw.tasks.store.readable_ranges import find_readable_ranges

BATCH = 1 << 16  # records of one file that are written at once; fewer if they are long
BATCH_BASES = 1 << 26  # bases that are written at once; more if one sequence is longer
TEXTS: Mapping[str, Callable[[Stored], RecordText]] = {"fastq": FastqText, "fasta": FastaText}


def fit_reads(source: Source, kind: str) -> Fit:
    """Return whether a store can be exported as "fastq" or "fasta", and the items that are lost."""
    contents = ReadsInfo.from_attrs(source.attrs)
    if contents is None:
        return Fit(f"{source.name} holds no reads, which {kind.upper()} is for")
    has_qualities = contents.settings.qualities != "none"
    if kind == "fastq" and not has_qualities:
        return Fit(f"{source.name} holds no qualities, which FASTQ needs")
    lost: tuple[str, ...] = ()
    if kind == "fasta" and has_qualities:
        lost = (*_lost_qualities(contents), *lost_signs(source, contents))
    return Fit(lost=lost, is_own=contents.format == kind)


def _lost_qualities(contents: ReadsInfo) -> tuple[str, ...]:
    """Return the message that qualities are lost, unless no read of the source has any."""
    return ("qualities",) if contents.figures is None or contents.figures.qualities else ()


def lost_signs(source: Source, contents: ReadsInfo) -> tuple[str, ...]:
    """Return the message that names after "+" are lost, if the FASTQ had any."""
    has_signs = contents.sign or any(array.name == "plus" for array in source.arrays)
    return ("lines behind +",) if has_signs else ()


def check_meant(source: Source, paths: Paths, kind: Format) -> None:
    """Raise BadParams if a target's suffix stands for another format than the source's."""
    contents = ReadsInfo.from_attrs(source.attrs)
    if contents is None or (contents.settings.qualities == "none" and kind.name == "fasta"):
        return  # no other text format is possible
    if contents.format != kind.name:
        raise BadParams(
            f"{source.name} was made from {contents.format.upper()} and {', '.join(paths)} is "
            f"{kind.title} by its suffix: pass --format {contents.format} or {kind.name}"
        )


def export_reads(source: Source, paths: Paths, shard: str, work: Work, kind: str) -> None:
    """Write all reads of a store, or one shard of them, as FASTQ or FASTA.

    Mates alternate if there is one target.

    Raises
    ------
    BadParams : two targets for reads without mates, an invalid shard, an existing target
    CorruptChunk : the arrays of the store are inconsistent
    """
    stored = open_reads(source, paths)
    first, last = shard_of(shard or "1/1", stored)
    records = records_text(stored, kind)
    check_targets(paths, overwrite=work.overwrite)
    kept = select_sound_records(
        stored, first, last, work.damage, lambda a, b: records.texts(a, b, 1)
    )
    with open_targets(paths, work) as outputs:
        for begin, end in kept:
            for text, which in _texts(records, begin, end, len(paths)):
                outputs[which].write(text)


def select_sound_records(
    stored: Stored,
    first: int,
    last: int,
    damage: Damage,
    read: Callable[[int, int], object],
) -> list[tuple[int, int]]:
    """Return the undamaged ranges of records first..last - 1, and add the others to `damage`.

    Of mates both are left out. `read` reads all of some records.
    """
    if not damage.skips:
        return [(first, last)]

    def read_all(begin: int, end: int) -> None:
        for some in batches(stored, begin, end):
            read(*some)

    kept = [
        one
        for run in split_by_set(stored.contents.parts, first, last)
        for one in find_readable_ranges(
            run.first, run.last, run.of.together, read_all, is_lost=stored.are_lost
        )
    ]
    damage.leave_out("record", kept, first, last)
    return kept


def records_text(stored: Stored, kind: str = "") -> RecordText:
    """Return a writer of stored records as text of a format, by default that of the source.

    Without qualities it is FASTA. Raises BadParams for FASTQ if there are no qualities.
    """
    usual = stored.contents.format if stored.has("quality") else "fasta"
    return TEXTS.get(kind or usual, FastqText)(stored)


def open_reads(source: Source, paths: Paths) -> Stored:
    """Open the reads of a store; raise BadParams if they cannot be written to that many targets."""
    stored = Stored(source.arrays, source.attrs)
    contents = stored.contents
    most = sum(own.together for own in contents.parts)
    if len(paths) in (1, contents.n_files, most):
        return stored
    if most == 1:
        raise BadParams(f"{source.name} holds no pairs: name one target")
    numbers = join_words(map(str, sorted({1, contents.n_files, most})), "or")
    raise BadParams(
        f"{source.name} was made of {contents.n_files} files: name {numbers} targets, not "
        f"{len(paths)}"
    )


def shard_of(text: str, stored: Stored) -> tuple[int, int]:
    """Return first record and end of a shard "i/n"; mates stay together."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise BadParams(f"--shard must be like 3/16, got {text!r}")
    contents, i, n = stored.contents, int(number), int(count)
    begin, end = (contents.n_groups * part // n for part in (i - 1, i))
    return contents.start_of(begin), contents.start_of(end)


def _texts(
    records: RecordText, first: int, last: int, n_targets: int
) -> Iterator[tuple[memoryview, int]]:
    """Yield the text of records first..last - 1 in batches, each with the number of its target."""
    stored, contents = records.stored, records.contents
    is_whole = n_targets == contents.n_files and records.is_own
    targets = _targets(contents, n_targets)
    for run in split_by_set(contents.parts, first, last):
        own = targets[contents.parts.index(run.of)]
        for begin, end in batches(stored, run.first, run.last):
            texts = records.texts(begin, end, len(own))
            for which, text in zip(own, texts, strict=True):
                ends_open = is_whole and end == run.of.last and contents.open[which]
                yield text.data[: text.size - _newline_bytes(text) if ends_open else None], which
    for which in range(n_targets if is_whole and last == stored.n_records else 0):
        yield memoryview(contents.tails[which].encode()), which


def _targets(contents: ReadsInfo, n_targets: int) -> list[tuple[int, ...]]:
    """Return the targets of each set of input files: one for all, one per file, or one per mate."""
    parts = contents.parts
    if n_targets == 1:
        return [(0,)] * len(parts)
    if n_targets == contents.n_files:
        return [own.files for own in parts]
    firsts = [sum(own.together for own in parts[:i]) for i in range(len(parts))]
    return [
        tuple(range(first, first + own.together)) for first, own in zip(firsts, parts, strict=True)
    ]


def _newline_bytes(text: Text) -> int:
    return min(1, text.size)


def batches(stored: Stored, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of records to write at once: complete pairs of one set of input files."""
    for run in split_by_set(stored.contents.parts, first, last):
        begin, together = run.first, run.of.together
        while begin < run.last:
            end = min(begin + together * BATCH, run.last)
            starts = stored.starts("sequence", begin, end)
            n = int(np.searchsorted(starts, starts[0] + BATCH_BASES)) // together * together
            end = min(end, begin + max(n, together))
            yield begin, end
            begin = end
