"""Export of collections to the files of their genomes."""

from __future__ import annotations

from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.names import FASTA_NAMES, is_called
from gangsaw.tasks.compressed_text.targets import check_targets
from gangsaw.tasks.compressed_text.text import STDIN as STDOUT
from gangsaw.tasks.formats.contract.format import Fit, Paths, Work
from gangsaw.tasks.genomics.genomes.info import COLLECTION, GenomeInfo
from gangsaw.tasks.genomics.genomes.stored.export import open_stored_genome, write_fasta
from gangsaw.tasks.genomics.genomes.stored.sample import StoredSample, find_sample
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.sources.source import Source

NOT_WRITTEN = ".zst"  # suffix of a compression that is read, but not written


def fit_collection(source: Source) -> Fit:
    """Return whether, and with what losses, a store can be exported as a collection's files.

    It must contain several genomes.
    """
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None or not info.samples:
        return Fit(f"{source.name} holds no collection of genomes")
    return Fit(is_own=info.format == COLLECTION)


def check_collection(source: Source, paths: Paths, sample: str) -> None:
    """Raise BadParams if the sample does not exist, or the target of all samples is no folder."""
    whole = open_stored_genome(source)
    if sample:
        find_sample(whole, sample, is_checked=False)
    elif paths[0] == STDOUT or is_called(paths[0], FASTA_NAMES):
        n = len(whole.info.samples)
        raise BadParams(f"{source.name} holds {n} genomes: name a folder, or pass --sample")


def export_collection(source: Source, paths: Paths, sample: str, work: Work) -> None:
    """Write all genomes to a folder, one file each, or one sample to a file.

    Raises
    ------
    BadParams : the store has no collection or no such sample, or a target exists
    CorruptChunk : the arrays of the store are inconsistent
    """
    whole, is_checked = open_stored_genome(source), not work.damage.skips
    if sample:
        write_fasta(find_sample(whole, sample, is_checked=is_checked), paths, work)
        return
    folder, targets = Path(paths[0]), targets_of(whole, paths[0])
    if folder.exists() and not folder.is_dir():
        raise BadParams(f"{folder} is a file; name a folder, or pass --sample")
    if folder.is_dir():
        check_targets(targets, overwrite=work.overwrite)
    folder.mkdir(exist_ok=True)
    for number, target in enumerate(targets):
        part = StoredSample(whole, number, is_checked=is_checked)
        write_fasta(part, (target,), work, whole.info.samples[number].file)


def targets_of(whole: StoredGenome, folder: str) -> Paths:
    """Return the target files of a collection's genomes."""
    names = [sample.file.removesuffix(NOT_WRITTEN) for sample in whole.info.samples]
    return tuple(str(Path(folder) / name) for name in names)
