"""Formats of read files for the table of formats: one file, several files, or a stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import Option
from gangsaw.tasks.compressed_text.names import FASTA_NAMES, FASTQ_NAMES, PACKED, is_called
from gangsaw.tasks.formats.contract.format import (
    ExportOptions,
    Fit,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
)
from gangsaw.tasks.genomics.reads.files.settings import (
    NAMES,
    NONE,
    ORDERS,
    PAIRINGS,
    PHREDS,
    QUALITIES,
)

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.genomics.reads.sets.file_sets import FileSet
    from gangsaw.tasks.genomics.reads.stream.stream import ReadStream
    from gangsaw.tasks.sources.source import Source

BAM_NAMES = (".bam", ".cram", ".sam")
SAM_LINES = (b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t", b"@CO\t")
MOST_FILES = 4096  # files of one store
GZIP = b"\x1f\x8b"
YES, NO = "yes", "no"


def _sure_of_fastq(look: Look) -> Sure:
    """Return the confidence that a path is FASTQ.

    Compressed files are recognised by suffix only.
    """
    if look.is_folder or look.is_address:
        return Sure.NO
    if look.start.startswith(b"@") and is_called(look.path, FASTQ_NAMES + FASTA_NAMES):
        return Sure.CONTENT
    return Sure.PERHAPS if look.is_stream or is_called(look.path, FASTQ_NAMES) else Sure.NO


def _sure_of_fasta(look: Look) -> Sure:
    # more than two FASTA files are genomes, unless the format is named
    if look.is_folder or look.is_address or look.is_stream or look.paths > 2:
        return Sure.NO
    from gangsaw.tasks.genomics.sequences.fasta import is_fasta_file

    if is_fasta_file(look.path, look.start):
        return Sure.CONTENT
    return Sure.PERHAPS if is_called(look.path, FASTA_NAMES) else Sure.NO


def _sure_of_bam(look: Look) -> Sure:
    """Return the confidence that a path is BAM, CRAM or SAM.

    The blocks of BAM have the magic number of gzip, so the suffix is needed, too.
    """
    if look.is_folder or look.is_address or look.is_stream:
        return Sure.NO
    if look.start.startswith(b"CRAM"):
        return Sure.CONTENT
    signs = {".bam": (GZIP,), ".sam": SAM_LINES}
    if look.start.startswith(signs.get(look.suffix, ())):
        return Sure.CONTENT
    return Sure.PERHAPS if look.suffix in BAM_NAMES else Sure.NO


def _open(paths: Paths, options: SourceOptions, kind: str) -> ReadStream:
    from gangsaw.tasks.genomics.reads.files.settings import Settings
    from gangsaw.tasks.genomics.reads.stream.stream import ReadStream

    own = {name: str(value) for name, value in options.own.items()}
    is_interleaved = own.pop("interleaved", NO) == YES
    scratch, phred, said = (own.pop(name, "") for name in ("scratch", "phred", "sets"))
    zero = int(phred) if phred else None
    settings = Settings(**own, interleaved=is_interleaved, phred=zero)
    is_named = options.format is not None
    chosen = _chosen(said, paths, is_interleaved)
    return ReadStream(
        paths, settings, scratch=scratch, format=kind, is_named=is_named, chosen=chosen
    )


def _chosen(text: str, paths: Paths, is_interleaved: bool) -> tuple[FileSet, ...]:
    """Return the sets of input files of option `--sets`; () if they are derived from names."""
    from gangsaw.tasks.genomics.reads.sets.file_sets import parse_sets

    if not text:
        return ()
    if is_interleaved:
        raise BadParams("--sets i says that mates alternate in a file: leave --interleaved out")
    return parse_sets(text, len(paths))


def _open_fastq(paths: Paths, options: SourceOptions) -> ReadStream:
    return _open(paths, options, "fastq")


def _open_fasta(paths: Paths, options: SourceOptions) -> ReadStream:
    own = {**options.own, "qualities": "none"}
    return _open(paths, replace(options, own=own), "fasta")


def _open_bam(paths: Paths, options: SourceOptions) -> ReadStream:
    from gangsaw.tasks.genomics.reads.files.bam import is_paired
    from gangsaw.tasks.genomics.reads.sets.file_sets import FileSet

    own = dict(options.own)
    has_singles = own.pop("singles", NO) == YES
    mates = YES if not has_singles and is_paired(paths[0]) else NO
    # BAM has numeric qualities, and flags for mates
    if own.get("tags") == NONE:
        del own["tags"]
    own |= {"phred": PHREDS[0], "pairing": "trusted", "interleaved": mates}
    stream = _open(paths, replace(options, own=own), "bam")
    both = (FileSet((0,), interleaved=True), FileSet((0,)))
    return replace(stream, chosen=both) if has_singles else stream


def _reader_opener(kind: str) -> Callable[[Paths, SourceOptions], IndependentReader | None]:
    def open_reader(paths: Paths, _: SourceOptions) -> IndependentReader | None:
        from gangsaw.tasks.genomics.reads.independent_reader import open_reads_reader

        return open_reads_reader(paths, kind)

    return open_reader


def _fit_fastq(source: Source) -> Fit:
    from gangsaw.tasks.genomics.reads.export.export import fit_reads

    return fit_reads(source, "fastq")


def _fit_fasta(source: Source) -> Fit:
    from gangsaw.tasks.genomics.reads.export.export import fit_reads

    return fit_reads(source, "fasta")


def _fit_bam(source: Source) -> Fit:
    from gangsaw.tasks.genomics.reads.export.bam import fit_bam

    return fit_bam(source)


def _check(source: Source, paths: Paths, options: ExportOptions, kind: Format) -> None:
    from gangsaw.tasks.genomics.reads.export.export import check_meant, open_reads, shard_of

    if options.format is None:
        check_meant(source, paths, kind)
    kind.check_installed(paths[0])
    shard_of(_shard(options) or "1/1", open_reads(source, paths))


def _check_fastq(source: Source, paths: Paths, options: ExportOptions) -> None:
    _check(source, paths, options, FASTQ)


def _check_fasta(source: Source, paths: Paths, options: ExportOptions) -> None:
    _check(source, paths, options, FASTA)


def _check_bam(source: Source, paths: Paths, options: ExportOptions) -> None:
    _check(source, paths, options, BAM)


def _shard(options: ExportOptions) -> str:
    return str(options.own.get("shard", ""))


def _export(source: Source, paths: Paths, options: ExportOptions, work: Work, kind: Format) -> None:
    from gangsaw.tasks.genomics.reads.export.export import export_reads

    export_reads(source, paths, _shard(options), work, kind.name)


def _export_fastq(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    _export(source, paths, options, work, FASTQ)


def _export_fasta(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    _export(source, paths, options, work, FASTA)


def _export_bam(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.genomics.reads.export.bam import export_bam

    export_bam(source, paths[0], _shard(options), work)


_ORDER = Option(
    "order",
    (
        "Order of the records. smallest: fewest bytes, by trial. bins, sorted: "
        "reads of the same genome region together; names need more bytes."
    ),
    ORDERS[0],
    choices=ORDERS,
)
_SCRATCH = Option(
    "scratch",
    "Folder for temporary files, unless the order is `kept`.",
    "next to the target",
    placeholder="PATH",
)
_QUALITIES = Option(
    "qualities", "Precision of qualities; binned: 8 values.", QUALITIES[0], choices=QUALITIES
)
_PHRED = Option("phred", "ASCII offset of quality 0.", "33", read=int, choices=PHREDS)
_NAMES = Option("names", "Read names to store.", NAMES[0], choices=NAMES)
_INTERLEAVED = Option("interleaved", "Mates alternate in one file.", NO, choices=(NO, YES))
_PAIRING = Option(
    "pairing", "Check that the names of mates agree, or not.", PAIRINGS[0], choices=PAIRINGS
)
_SETS = Option(
    "sets",
    "Number of files of each read set, such as 2,1,1.",
    "by their names",
    placeholder="N,N,...",
)
_SINGLES = Option("singles", "Store reads without a mate.", NO, choices=(NO, YES))
_TAGS = Option(
    "tags", "BAM tags to append to names, such as RX,CB, or all.", "none", placeholder="NAME,..."
)
_SHARD = Option("shard", "Part of the records to write, such as 3/16.", "1/1", placeholder="K/N")

FASTQ = Format(
    name="fastq",
    title="FASTQ",
    about="reads; files of mates, lanes and singles together, or a stream",
    sure=_sure_of_fastq,
    open=_open_fastq,
    independent_reader=_reader_opener("fastq"),
    options=(_ORDER, _SCRATCH, _QUALITIES, _PHRED, _NAMES, _INTERLEAVED, _SETS, _PAIRING),
    export=_export_fastq,
    export_options=(_SHARD,),
    suffixes=(*FASTQ_NAMES, *PACKED),
    fit=_fit_fastq,
    damaged=("skip",),
    check=_check_fastq,
    paths=range(1, MOST_FILES + 1),
    streams=True,
    writes_streams=True,
)

FASTA = Format(
    name="fasta",
    title="FASTA",
    about="reads without qualities, on lines of any width; files of mates, or a stream",
    sure=_sure_of_fasta,
    open=_open_fasta,
    independent_reader=_reader_opener("fasta"),
    options=(_ORDER, _SCRATCH, _NAMES, _INTERLEAVED, _SETS, _PAIRING),
    export=_export_fasta,
    export_options=(_SHARD,),
    suffixes=(*FASTA_NAMES, *PACKED),
    fit=_fit_fasta,
    damaged=("skip",),
    check=_check_fasta,
    paths=range(1, MOST_FILES + 1),
    streams=True,
    writes_streams=True,
)

BAM = Format(
    name="bam",
    title="BAM",
    about="the reads of BAM, CRAM and SAM as they were before they were aligned; mates together",
    sure=_sure_of_bam,
    open=_open_bam,
    independent_reader=_reader_opener("bam"),
    options=(_ORDER, _SCRATCH, _QUALITIES, _NAMES, _SINGLES, _TAGS),
    export=_export_bam,
    export_options=(_SHARD,),
    suffixes=BAM_NAMES,
    fit=_fit_bam,
    damaged=("skip",),
    check=_check_bam,
    copies_pipes=True,
    needs=("pysam",),
    extra="gangsaw[bam]",
)
