"""Formats of genome files for the table of formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.codecs.core.plugins.options import Option
from gangsaw.tasks.compressed_text.names import FASTA_NAMES, FASTQ_NAMES, PACKED, is_called
from gangsaw.tasks.formats.contract.format import (
    ONE,
    ExportOptions,
    Fit,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
)

GENBANK_NAMES = (".gb", ".gbk", ".gbff", ".genbank", ".gp", ".gpff")
MOST_GENOMES = 1 << 20  # files of one command
TWO_BIT_SIGNS = (b"\x43\x27\x41\x1a", b"\x1a\x41\x27\x43")  # magic numbers, one for each byte order

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.genomics.genomes.collections.collected import CollectionStream
    from gangsaw.tasks.genomics.genomes.stored.stream import GenomeStream
    from gangsaw.tasks.sources.source import Source


def _sure_of_fasta(look: Look) -> Sure:
    """Return the confidence that a path is FASTA of a genome, not of reads."""
    if look.is_folder or look.is_address or look.is_stream or is_called(look.path, FASTQ_NAMES):
        return Sure.NO
    from gangsaw.tasks.genomics.sequences.fasta import is_fasta_file

    if not is_fasta_file(look.path, look.start):
        return Sure.NO
    from gangsaw.tasks.genomics.sequences.likeness import is_genome

    is_wanted = GENOME.name in look.requested or is_genome(look.path)
    return Sure.EXACTLY if is_wanted else Sure.NO


def _open(paths: Paths, options: SourceOptions, kind: str) -> GenomeStream:
    from gangsaw.tasks.genomics.genomes.stored.stream import GenomeStream

    return GenomeStream(paths[0], kind, is_named=options.format is not None)


def _sure_of_two_bit(look: Look) -> Sure:
    if look.start[:4] in TWO_BIT_SIGNS:
        return Sure.CONTENT
    return Sure.PERHAPS if look.suffix == ".2bit" and not look.is_folder else Sure.NO


def _sure_of_genbank(look: Look) -> Sure:
    if look.is_folder or look.is_address or look.is_stream:
        return Sure.NO
    from gangsaw.tasks.genomics.genomes.files.genbank import is_genbank

    if is_genbank(look.path, look.start):
        return Sure.CONTENT
    return Sure.PERHAPS if is_called(look.path, GENBANK_NAMES) else Sure.NO


def _open_two_bit(paths: Paths, options: SourceOptions) -> GenomeStream:
    return _open(paths, options, "2bit")


def _open_genbank(paths: Paths, options: SourceOptions) -> GenomeStream:
    return _open(paths, options, "genbank")


def _open_fasta(paths: Paths, options: SourceOptions) -> GenomeStream:
    return _open(paths, options, "genome")


def _open_fasta_reader(paths: Paths, _: SourceOptions) -> IndependentReader | None:
    from gangsaw.tasks.genomics.genomes.files.independent_reader import open_fasta_reader

    return open_fasta_reader(paths)


def _open_two_bit_reader(paths: Paths, _: SourceOptions) -> IndependentReader | None:
    from gangsaw.tasks.genomics.genomes.files.independent_reader import open_two_bit_reader

    return open_two_bit_reader(paths)


def _fit_fasta(source: Source) -> Fit:
    from gangsaw.tasks.genomics.genomes.stored.export import fit_fasta

    return fit_fasta(source)


def _export_fasta(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.genomics.genomes.stored.export import export_fasta

    export_fasta(source, paths, work)


def _fit_two_bit(source: Source) -> Fit:
    from gangsaw.tasks.genomics.genomes.stored.export import fit_two_bit

    return fit_two_bit(source)


def _export_two_bit(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.genomics.genomes.stored.export import export_two_bit

    export_two_bit(source, paths[0], work)


def _sure_of_collection(look: Look) -> Sure:
    """Return the confidence that a path is one of a collection's genomes, not a file of reads."""
    if look.is_folder or look.is_address or look.is_stream or is_called(look.path, FASTQ_NAMES):
        return Sure.NO
    from gangsaw.tasks.genomics.sequences.fasta import is_fasta_file

    if not is_fasta_file(look.path, look.start):
        return Sure.NO
    from gangsaw.tasks.genomics.sequences.likeness import is_one_of_genomes

    is_wanted = "collection" in look.requested or (look.paths > 1 and is_one_of_genomes(look.path))
    return Sure.EXACTLY if is_wanted else Sure.NO


def _open_collection(paths: Paths, options: SourceOptions) -> CollectionStream:
    from gangsaw.tasks.genomics.genomes.collections.collected import CollectionStream

    return CollectionStream(paths, is_named=options.format is not None)


def _fit_collection(source: Source) -> Fit:
    from gangsaw.tasks.genomics.genomes.collections.sample_export import fit_collection

    return fit_collection(source)


def _sample(options: ExportOptions) -> str:
    return str(options.own.get("sample", ""))


def _check_collection(source: Source, paths: Paths, options: ExportOptions) -> None:
    from gangsaw.tasks.genomics.genomes.collections.sample_export import check_collection

    check_collection(source, paths, _sample(options))


def _export_collection(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.genomics.genomes.collections.sample_export import export_collection

    export_collection(source, paths, _sample(options), work)


GENOME = Format(
    name="genome",
    title="FASTA genome",
    about="records of any length by name and position, unless they look like reads; or a stream",
    sure=_sure_of_fasta,
    open=_open_fasta,
    independent_reader=_open_fasta_reader,
    export=_export_fasta,
    suffixes=(*FASTA_NAMES, *PACKED),
    fit=_fit_fasta,
    damaged=("skip",),
    streams=True,
    writes_streams=True,
)

TWO_BIT = Format(
    name="2bit",
    title="2bit",
    about="genomes of UCSC; N and lower case are stored, other residues written as N",
    sure=_sure_of_two_bit,
    open=_open_two_bit,
    independent_reader=_open_two_bit_reader,
    export=_export_two_bit,
    suffixes=(".2bit",),
    fit=_fit_two_bit,
    damaged=("skip",),
    copies_pipes=True,
)

COLLECTION = Format(
    name="collection",
    title="FASTA genomes",
    about="several genomes together; similar genomes need few bytes",
    sure=_sure_of_collection,
    open=_open_collection,
    options=(
        Option(
            "collection", "Store FASTA files as a collection of related genomes.", choices=("yes",)
        ),
    ),
    export=_export_collection,
    export_options=(Option("sample", "Name of the genome to write."),),
    suffixes=(*FASTA_NAMES, *PACKED),
    fit=_fit_collection,
    damaged=("skip",),
    check=_check_collection,
    paths=range(1, MOST_GENOMES + 1),
    targets=ONE,
    copies_pipes=True,
    writes_streams=True,
)

GENBANK = Format(
    name="genbank",
    title="GenBank",
    about="sequences, names and definitions of its records; no features",
    sure=_sure_of_genbank,
    open=_open_genbank,
    streams=True,
)
