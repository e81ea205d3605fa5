"""Export of genome stores to FASTA and 2bit files."""

from __future__ import annotations

from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import BASES, both_cases
from gangsaw.tasks.compressed_text.targets import check_targets, open_targets
from gangsaw.tasks.compressed_text.text import STDIN as STDOUT
from gangsaw.tasks.formats.contract.format import Fit, Paths, Work
from gangsaw.tasks.formats.exporting.atomic import check_target, write_whole_files
from gangsaw.tasks.genomics.genomes.info import GenomeInfo
from gangsaw.tasks.genomics.genomes.stored.fasta_text import fasta_blocks
from gangsaw.tasks.genomics.genomes.stored.sample import select_records
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.genomics.genomes.stored.write_twobit import write_two_bit
from gangsaw.tasks.genomics.sequences.blanks import has_words
from gangsaw.tasks.sources.source import Source
from gangsaw.tasks.store.damage import Damage
from gangsaw.tasks.store.readable_ranges import find_readable_ranges


def fit_fasta(source: Source) -> Fit:
    """Return whether a store can be exported as FASTA: it must have one genome."""
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None:
        return Fit(f"{source.name} holds no genome")
    return Fit(_several(source, info), is_own=info.format == "genome")


def fit_two_bit(source: Source) -> Fit:
    """Return whether a store can be exported as 2bit, and the items that 2bit cannot represent."""
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None:
        return Fit(f"{source.name} holds no genome")
    if info.samples:
        return Fit(_several(source, info))
    lost = [] if info.format == "2bit" else ["widths of lines"]
    if has_words(source):
        lost.append("descriptions")
    if info.residues > info.count(both_cases(BASES + b"N").decode()):
        lost.append("residues other than A, C, G, T and N (U is T, the others N)")
    return Fit(lost=tuple(lost), is_own=info.format == "2bit")


def _several(source: Source, info: GenomeInfo) -> str:
    """Return the message that refuses a collection as a single genome; "" for a single genome."""
    hint = "--format collection writes them to a folder, or one with --sample"
    return f"{source.name} holds {len(info.samples)} genomes: {hint}" if info.samples else ""


def export_two_bit(source: Source, path: str, work: Work) -> None:
    """Write all records of a genome store as 2bit.

    Raises the errors of `export_fasta`, and BadParams for a pipe as target.
    """
    stored = open_stored_genome(source)
    if path == STDOUT:
        raise BadParams("2bit has an index before its records: name a file as the target")
    check_target(Path(path), overwrite=work.overwrite)
    kept = select_sound_parts(stored, work.damage)
    with (
        write_whole_files([Path(path)], overwrite=work.overwrite) as (part,),
        part.open("wb") as file,
    ):
        write_two_bit(kept, file)


def export_fasta(source: Source, paths: Paths, work: Work) -> None:
    """Write all records of a genome store as FASTA.

    Raises
    ------
    BadParams : the store has no genome, or the target exists
    CorruptChunk : the arrays of the store are inconsistent
    """
    write_fasta(open_stored_genome(source), paths, work)


def write_fasta(stored: StoredGenome, paths: Paths, work: Work, of: str = "") -> None:
    """Write stored records as FASTA; skip damaged ones if `work` allows that.

    `of` names the file in messages about skipped records.
    """
    check_targets(paths, overwrite=work.overwrite)
    kept = select_sound_parts(stored, work.damage, of)
    with open_targets(paths, work) as (file,):
        for part in kept:
            for block in fasta_blocks(part):
                file.write(block.data)


def select_sound_parts(stored: StoredGenome, damage: Damage, of: str = "") -> list[StoredGenome]:
    """Return the ranges of undamaged records to write, and add skipped ones to `damage`.

    `of` names the file in messages.
    """
    if not damage.skips:
        return [stored]

    def read(begin: int, end: int) -> None:
        for _ in fasta_blocks(select_records(stored, begin, end)):
            pass

    kept = find_readable_ranges(0, stored.n_records, 1, read, is_lost=stored.are_lost)
    damage.leave_out(f"{of}: record" if of else "record", kept, 0, stored.n_records)
    return [select_records(stored, *one) for one in kept]


def open_stored_genome(source: Source) -> StoredGenome:
    """Return the genome of a store; raise BadParams if it has none."""
    try:
        return StoredGenome(source.arrays, source.attrs)
    except BadParams as error:
        raise BadParams(f"{source.name}: {error}") from error
