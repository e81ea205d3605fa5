"""FASTQ as a format of the table: one file, two files of mates, or standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.codecs.core.options import Option
from gangsaw.tasks.formats.format import (
    ExportOptions,
    Fit,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
)
from gangsaw.tasks.reads.settings import NAMES, ORDERS, QUALITIES

if TYPE_CHECKING:
    from gangsaw.tasks.reads.stream import ReadStream
    from gangsaw.tasks.source import Source

NAMED = (".fastq", ".fq")
PACKED = ("", ".gz", ".bgz", ".bz2", ".xz", ".zst")
YES, NO = "yes", "no"


def _sure(look: Look) -> Sure:
    if look.is_folder or look.is_address:
        return Sure.NO
    if look.is_stream:
        return Sure.PERHAPS
    if not look.path.lower().endswith(tuple(f"{name}{end}" for name in NAMED for end in PACKED)):
        return Sure.NO
    return Sure.CONTENT if look.start.startswith(b"@") else Sure.PERHAPS


def _open(paths: Paths, options: SourceOptions) -> ReadStream:
    from gangsaw.tasks.reads.settings import Settings
    from gangsaw.tasks.reads.stream import ReadStream

    own = {name: str(value) for name, value in options.own.items()}
    is_interleaved = own.pop("interleaved", NO) == YES
    scratch = own.pop("scratch", "")
    return ReadStream(paths, Settings(**own, interleaved=is_interleaved), scratch=scratch)


def _fit(source: Source) -> Fit:
    from gangsaw.tasks.reads.export import fit

    return fit(source)


def _export(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.reads.export import export

    export(source, paths, str(options.own.get("shard", "")), work)


FASTQ = Format(
    name="fastq",
    title="FASTQ",
    about="reads; two files of mates together, or a stream",
    sure=_sure,
    open=_open,
    options=(
        Option("order", "Of the records in the store.", ORDERS[0], choices=ORDERS),
        Option("qualities", "What to store of them.", QUALITIES[0], choices=QUALITIES),
        Option("names", "What to store of them.", NAMES[0], choices=NAMES),
        Option("scratch", "Folder for what an order other than kept needs.", "beside the target"),
        Option("interleaved", "Whether mates alternate in one file.", NO, choices=(NO, YES)),
    ),
    export=_export,
    export_options=(Option("shard", "Which part of the records, such as 3/16.", "1/1"),),
    suffixes=(*NAMED, ".gz", ".bgz", ".bz2", ".xz", ".zst"),
    fit=_fit,
    paths=range(1, 3),
    streams=True,
)
