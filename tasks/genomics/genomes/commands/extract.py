"""Options and output of `gangsaw extract` for stores of genomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console.extractors import Extractor

if TYPE_CHECKING:
    from gangsaw.tasks.genomics.genomes.stored.genome import Genome
    from gangsaw.tasks.genomics.genomes.stored.regions import Region

STDOUT = "-"


@dataclass(frozen=True)
class GenomeWanted:
    """Command-line options for regions of a genome and their output, as of `samtools faidx`."""

    PANEL: ClassVar[str] = "Genomes"

    region_file: Annotated[
        Path | None,
        typer.Option("--region-file", "-r", help="File of regions, one per line, or BED."),
    ] = None
    reverse_complement: Annotated[
        bool,
        typer.Option(
            "--reverse-complement",
            "-i",
            help="Write reverse complements; /rc is appended to their names.",
        ),
    ] = False
    length: Annotated[int, typer.Option("--length", "-n", help="Residues per line.", min=1)] = 60
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="PATH", help="File to write; .gz compresses it."),
    ] = STDOUT
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = (
        False
    )


def extract_regions(store: str, regions: tuple[str, ...], wanted: GenomeWanted) -> None:
    """Write regions as FASTA; all of them are checked before the first is written."""
    from gangsaw.tasks.compressed_text.targets import open_targets
    from gangsaw.tasks.formats.contract.format import Work
    from gangsaw.tasks.genomics.genomes.stored.genome import open
    from gangsaw.tasks.genomics.genomes.stored.regions import region_text

    found = list(_found(open(store), regions, wanted))
    with open_targets((wanted.output,), Work(wanted.overwrite)) as (file,):
        for region in found:
            for block in region_text(region, wanted.length, other_strand=wanted.reverse_complement):
                file.write(block)


def _found(genome: Genome, regions: tuple[str, ...], wanted: GenomeWanted) -> Iterator[Region]:
    """Yield the regions of a genome that the user named, then those in the user's file."""
    from gangsaw.tasks.genomics.genomes.stored.regions import find_region, regions_of

    if not regions and wanted.region_file is None:
        raise BadParams("name the regions: such as chr1, or chr1:1,000-2,000, or --region-file")
    for text in regions:
        yield find_region(genome, text)
    if wanted.region_file is None:
        return
    try:
        listed = regions_of(wanted.region_file.read_text().splitlines())
    except UnicodeDecodeError as error:
        raise BadParams(f"{wanted.region_file} is no text of regions: {error}") from error
    for text in listed:
        yield find_region(genome, text)


EXTRACTOR = Extractor("a genome", GenomeWanted, extract_regions)
