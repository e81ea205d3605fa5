"""Files of genomes as formats of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from gangsaw.tasks.sequences.names import FASTA_NAMES, PACKED, is_called

if TYPE_CHECKING:
    from gangsaw.tasks.genomes.stream import GenomeStream
    from gangsaw.tasks.source import Source


def _sure_of_fasta(look: Look) -> Sure:
    """Say how sure a path is FASTA of a genome: its beginning tells it from reads."""
    if look.is_folder or look.is_address or look.is_stream or not is_called(look.path, FASTA_NAMES):
        return Sure.NO
    if not look.start.startswith(b">") and not is_called(look.path, FASTA_NAMES, PACKED):
        return Sure.NO
    from gangsaw.tasks.sequences.fasta import is_genome

    return Sure.EXACTLY if is_genome(look.path) else Sure.NO


def _open(paths: Paths, options: SourceOptions, kind: str) -> GenomeStream:
    from gangsaw.tasks.genomes.stream import GenomeStream

    return GenomeStream(paths[0], kind, is_named=options.format is not None)


def _open_fasta(paths: Paths, options: SourceOptions) -> GenomeStream:
    return _open(paths, options, "genome")


def _fit_fasta(source: Source) -> Fit:
    from gangsaw.tasks.genomes.export import fit_fasta

    return fit_fasta(source)


def _export_fasta(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.genomes.export import export_fasta

    export_fasta(source, paths, work)


GENOME = Format(
    name="genome",
    title="FASTA genome",
    about="records of any length by name and place; fewer than 1,000, or long ones; or a stream",
    sure=_sure_of_fasta,
    open=_open_fasta,
    export=_export_fasta,
    suffixes=(*FASTA_NAMES, *PACKED),
    fit=_fit_fasta,
    streams=True,
)
