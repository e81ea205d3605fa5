"""Stores of reads back into text: the same where all was kept, or a part of the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.formats.format import Fit, Format, Paths, Work
from gangsaw.tasks.reads.sets.file_sets import runs
from gangsaw.tasks.reads.stored.fasta_text import FastaText
from gangsaw.tasks.reads.stored.info import ReadsInfo
from gangsaw.tasks.reads.stored.record_text import FastqText, RecordText
from gangsaw.tasks.reads.stored.stored import Stored
from gangsaw.tasks.sequences.files.targets import open_targets
from gangsaw.tasks.sequences.files.text import Text
from gangsaw.tasks.source import Source

BATCH = 1 << 16  # records of one file that are written at once, fewer where they are long
BATCH_LETTERS = 1 << 26  # of sequences that are written at once, more where one is longer
TEXTS: Mapping[str, Callable[[Stored], RecordText]] = {"fastq": FastqText, "fasta": FastaText}


def fit(source: Source, kind: str) -> Fit:
    """Say whether a store holds what a format needs, by the format's name."""
    contents = ReadsInfo.from_attrs(source.attrs)
    if contents is None:
        return Fit(f"{source.name} holds no reads, which {kind.upper()} is for")
    has_qualities = contents.settings.qualities != "none"
    if kind == "fastq" and not has_qualities:
        return Fit(f"{source.name} holds no qualities, which FASTQ needs")
    lost: tuple[str, ...] = ()
    if kind == "fasta" and has_qualities:
        lost = ("qualities", *lost_signs(source, contents))
    return Fit(lost=lost, is_own=contents.format == kind)


def lost_signs(source: Source, contents: ReadsInfo) -> tuple[str, ...]:
    """Return that names behind + are lost, where the FASTQ had some."""
    has_signs = contents.sign or any(array.name == "plus" for array in source.arrays)
    return ("lines behind +",) if has_signs else ()


def check_meant(source: Source, paths: Paths, kind: Format) -> None:
    """Raise BadParams where a suffix stands for another format than that which was read."""
    contents = ReadsInfo.from_attrs(source.attrs)
    if contents is None or (contents.settings.qualities == "none" and kind.name == "fasta"):
        return  # there is no other text for them
    if contents.format != kind.name:
        raise BadParams(
            f"{source.name} was made from {contents.format.upper()} and {', '.join(paths)} is "
            f"{kind.title} by its suffix: say --format {contents.format} or {kind.name}"
        )


def export(source: Source, paths: Paths, shard: str, work: Work, kind: str) -> None:
    """Write all records, or one shard of them; mates alternate where there is one target.

    Raises
    ------
    BadParams : two targets for reads without mates, a shard that is none, a target that exists
    CorruptChunk : the arrays of the store do not go together
    """
    stored = opened(source, paths)
    first, last = shard_of(shard or "1/1", stored)
    with open_targets(paths, work) as outputs:
        for text, which in _texts(records_text(stored, kind), first, last, len(paths)):
            outputs[which].write(text)


def records_text(stored: Stored, kind: str = "") -> RecordText:
    """Return the records as text of a format, by default of the one that they came from.

    Without qualities that is FASTA. Raises BadParams where FASTQ is asked for, and there are none.
    """
    usual = stored.contents.format if stored.has("quality") else "fasta"
    return TEXTS.get(kind or usual, FastqText)(stored)


def opened(source: Source, paths: Paths) -> Stored:
    """Return the reads of a store; BadParams for a number of targets that they do not go to."""
    stored = Stored(source.arrays, source.attrs)
    contents = stored.contents
    most = sum(own.together for own in contents.parts)
    if len(paths) in (1, contents.n_files, most):
        return stored
    if most == 1:
        raise BadParams(f"{source.name} holds no pairs: name one target")
    numbers = listed(map(str, sorted({1, contents.n_files, most})), "or")
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
    """Yield text and the number of its target."""
    stored, contents = records.stored, records.contents
    is_whole = n_targets == contents.n_files and records.is_own
    targets = _targets(contents, n_targets)
    for run in runs(contents.parts, first, last):
        own = targets[contents.parts.index(run.of)]
        for begin, end in batches(stored, run.first, run.last):
            texts = records.texts(begin, end, len(own))
            for which, text in zip(own, texts, strict=True):
                ends_open = is_whole and end == run.of.last and contents.open[which]
                yield text.data[: text.size - _newline_bytes(text) if ends_open else None], which
    for which in range(n_targets if is_whole and last == stored.n_records else 0):
        yield memoryview(contents.tails[which].encode()), which


def _targets(contents: ReadsInfo, n_targets: int) -> list[tuple[int, ...]]:
    """Return the targets of each set: one for all, those of its files, or one for each mate."""
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
    """Yield ranges of records, of whole groups and of one set, whose text is not long."""
    for run in runs(stored.contents.parts, first, last):
        begin, together = run.first, run.of.together
        while begin < run.last:
            end = min(begin + together * BATCH, run.last)
            starts = stored.starts("sequence", begin, end)
            n = int(np.searchsorted(starts, starts[0] + BATCH_LETTERS)) // together * together
            end = min(end, begin + max(n, together))
            yield begin, end
            begin = end
