"""Collections back into the files of their genomes."""

from __future__ import annotations

from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.format import Fit, Paths, Work
from gangsaw.tasks.genomes.export import opened
from gangsaw.tasks.genomes.info import COLLECTION, GenomeInfo
from gangsaw.tasks.genomes.sample import StoredSample, sample_of
from gangsaw.tasks.genomes.stored import StoredGenome
from gangsaw.tasks.genomes.text import fasta_blocks
from gangsaw.tasks.sequences.files.names import FASTA_NAMES, is_called
from gangsaw.tasks.sequences.files.targets import check_targets, open_targets
from gangsaw.tasks.sequences.files.text import STDIN as STDOUT
from gangsaw.tasks.source import Source

NOT_WRITTEN = ".zst"  # a suffix of files that are read alone


def fit_collection(source: Source) -> Fit:
    """Say whether a store holds several genomes."""
    info = GenomeInfo.from_attrs(source.attrs)
    if info is None or not info.samples:
        return Fit(f"{source.name} holds no collection of genomes")
    return Fit(is_own=info.format == COLLECTION)


def check_collection(source: Source, paths: Paths, sample: str) -> None:
    """Raise BadParams where there is no such sample, or no folder is named for all of them."""
    whole = opened(source)
    if sample:
        sample_of(whole, sample)
    elif paths[0] == STDOUT or is_called(paths[0], FASTA_NAMES):
        n = len(whole.info.samples)
        raise BadParams(f"{source.name} holds {n} genomes: name a folder, or say which --sample")


def export_collection(source: Source, paths: Paths, sample: str, work: Work) -> None:
    """Write all genomes to a folder, each to a file of its name, or one of them to a file.

    Raises
    ------
    BadParams : the store holds no collection or no such sample, or a target exists
    CorruptChunk : the arrays of the store do not go together
    """
    whole = opened(source)
    if sample:
        _write(sample_of(whole, sample), paths, work)
        return
    folder, targets = Path(paths[0]), targets_of(whole, paths[0])
    if folder.exists() and not folder.is_dir():
        raise BadParams(f"{folder} is a file; name a folder, or say which --sample")
    if folder.is_dir():
        check_targets(targets, overwrite=work.overwrite)
    folder.mkdir(exist_ok=True)
    for number, target in enumerate(targets):
        _write(StoredSample(whole, number), (target,), work)


def targets_of(whole: StoredGenome, folder: str) -> Paths:
    """Return where the genomes of a collection go."""
    names = [sample.file.removesuffix(NOT_WRITTEN) for sample in whole.info.samples]
    return tuple(str(Path(folder) / name) for name in names)


def _write(stored: StoredGenome, paths: Paths, work: Work) -> None:
    with open_targets(paths, work) as (file,):
        for block in fasta_blocks(stored):
            file.write(block.data)
