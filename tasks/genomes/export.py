"""Stores of genomes back into files."""

from __future__ import annotations

from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.letters import BASES, both_cases
from gangsaw.tasks.formats.atomic import whole_files
from gangsaw.tasks.formats.format import Fit, Paths, Work
from gangsaw.tasks.genomes.info import GenomeInfo
from gangsaw.tasks.genomes.stored import StoredGenome
from gangsaw.tasks.genomes.text import fasta_blocks
from gangsaw.tasks.genomes.write_twobit import write_two_bit
from gangsaw.tasks.sequences.blanks import has_words
from gangsaw.tasks.sequences.files.targets import open_targets
from gangsaw.tasks.sequences.files.text import STDIN as STDOUT
from gangsaw.tasks.source import Source


def fit_fasta(source: Source) -> Fit:
    """Say whether a store holds a genome."""
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None:
        return Fit(f"{source.name} holds no genome")
    return Fit(_several(source, info), is_own=info.format == "genome")


def fit_two_bit(source: Source) -> Fit:
    """Say whether a store holds a genome, and what of it 2bit cannot hold."""
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None:
        return Fit(f"{source.name} holds no genome")
    if info.samples:
        return Fit(_several(source, info))
    lost = [] if info.format == "2bit" else ["widths of lines"]
    if has_words(source):
        lost.append("descriptions")
    if info.residues > info.count(both_cases(BASES + b"N").decode()):
        lost.append("letters other than A, C, G, T and N (U is T, the others N)")
    return Fit(lost=tuple(lost), is_own=info.format == "2bit")


def _several(source: Source, info: GenomeInfo) -> str:
    """Return why a collection is no single genome, "" where a store holds one."""
    hint = "--format collection writes them to a folder, or one with --sample"
    return f"{source.name} holds {len(info.samples)} genomes: {hint}" if info.samples else ""


def export_two_bit(source: Source, path: str, work: Work) -> None:
    """Write all records as 2bit, as `export_fasta` does; BadParams also for a pipe as target."""
    stored = opened(source)
    if path == STDOUT:
        raise BadParams("2bit has an index before its records: name a file as the target")
    with whole_files([Path(path)], overwrite=work.overwrite) as (part,), part.open("wb") as file:
        write_two_bit(stored, file)


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
