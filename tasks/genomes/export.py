"""Stores of genomes back into files."""

from __future__ import annotations

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.format import Fit, Paths, Work
from gangsaw.tasks.genomes.info import GenomeInfo
from gangsaw.tasks.genomes.stored import StoredGenome
from gangsaw.tasks.genomes.text import fasta_blocks
from gangsaw.tasks.sequences.targets import open_targets
from gangsaw.tasks.source import Source


def fit_fasta(source: Source) -> Fit:
    """Say whether a store holds a genome."""
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None:
        return Fit(f"{source.name} holds no genome")
    return Fit(is_own=info.format == "genome")


def export_fasta(source: Source, paths: Paths, work: Work) -> None:
    """Write all records as FASTA.

    Raises
    ------
    BadParams : the store holds no genome, or the target exists
    CorruptChunk : the arrays of the store do not go together
    """
    stored = opened(source)
    with open_targets(paths, work) as (file,):
        for block in fasta_blocks(stored):
            file.write(block.data)


def opened(source: Source) -> StoredGenome:
    """Return the genome of a store; BadParams where it holds none."""
    try:
        return StoredGenome(source.arrays, source.attrs)
    except BadParams as error:
        raise BadParams(f"{source.name}: {error}") from error
