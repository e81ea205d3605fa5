"""Options and output of `gangsaw extract` for stores of reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console.extractors import Extractor

if TYPE_CHECKING:
    from gangsaw.tasks.genomics.reads.views.readset import ReadSet


STDOUT = "-"
BATCH = 1 << 16  # reads that are written per step


@dataclass(frozen=True)
class ReadsWanted:
    """Command-line options that select reads by name or bin, which needs an index of the store."""

    PANEL: ClassVar[str] = "Reads"

    name: Annotated[
        list[str],
        typer.Option(help="Name of reads, or its first word; repeatable."),
    ] = field(default_factory=list)
    name_file: Annotated[str, typer.Option(metavar="PATH", help="File of names, one per line.")] = (
        ""
    )
    to: Annotated[str, typer.Option(metavar="PATH", help="File to write; .gz compresses it.")] = (
        STDOUT
    )
    bin_: Annotated[
        list[str],
        typer.Option(
            "--bin",
            metavar="BASES",
            help="Bases of a read: select reads with the same signature; repeatable.",
        ),
    ] = field(default_factory=list)


def extract_reads(store: str, numbers: tuple[str, ...], wanted: ReadsWanted) -> None:
    """Write reads by their numbers from 0, by names or by bins, as FASTQ or FASTA."""
    from gangsaw.tasks.compressed_text.targets import open_targets
    from gangsaw.tasks.formats.contract.format import Work
    from gangsaw.tasks.genomics.reads.views.readset import open

    names = [*wanted.name, *_names_of(wanted.name_file)]
    if len(numbers) + bool(wanted.name or wanted.name_file) + bool(wanted.bin_) != 1:
        raise BadParams("select reads: by their numbers, such as 1000:2000, or --name, or --bin")
    found = open(store)
    runs = _wanted(found, "".join(numbers), names, wanted.bin_)
    with open_targets((wanted.to,), Work(overwrite=False)) as (out,):
        for first, last in runs:
            for begin in range(first, last, BATCH):
                out.write(found.text(begin, min(begin + BATCH, last)))


EXTRACTOR = Extractor("reads", ReadsWanted, extract_reads)


def _names_of(path: str) -> list[str]:
    """Return the names in a file, one per line."""
    lines = Path(path).read_text(errors="surrogateescape").splitlines() if path else []
    return [line for line in lines if line.strip()]


def _wanted(
    found: ReadSet, reads: str, names: Iterable[str], bins: Iterable[str]
) -> list[tuple[int, int]]:
    """Return the record ranges selected by number, name or bin.

    Raise BadParams for unknown names.
    """
    if reads:
        return [parse_range(reads, len(found))]
    runs = []
    for name in names:
        own = found.find(name)
        if not own:
            raise BadParams(f"there is no read {name!r} in {found.path}")
        runs += own
    for letters in bins:
        runs += found.near(letters)
    return list(neighbours(runs))


def neighbours(several: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield distinct read numbers, in order of first occurrence, as ranges of consecutive ones."""
    first = last = 0
    for number in dict.fromkeys(several):
        if number != last or first == last:
            if first < last:
                yield first, last
            first = number
        last = number + 1
    if first < last:
        yield first, last


def parse_range(text: str, n: int) -> tuple[int, int]:
    """Return first and end of a range of n reads, such as "5", "5:9", ":9", "5:" or "-3:".

    Raises BadParams for other text.
    """
    first, colon, last = text.partition(":")
    try:
        bounds = [int(part) if part else None for part in (first, last)]
    except ValueError:
        raise BadParams(
            f"reads must be like 1000:2000, got {text!r}; --name finds them by an index, and FASTA "
            "that is compressed with --format genome has records by name"
        ) from None
    if not colon:
        number = bounds[0]
        if number is None or not -n <= number < n:
            raise BadParams(f"there is no read {text}: the store has {n}")
        return number % n, number % n + 1
    begin, end, _ = slice(*bounds).indices(n)
    return begin, max(begin, end)
