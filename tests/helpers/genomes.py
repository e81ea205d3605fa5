"""Genomes in memory: as a store would hold them, with no store."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.genomics.genomes.stored.fasta_text import fasta_blocks
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.genomics.genomes.stored.stream import GenomeStream


def arrays_of(stream: GenomeStream) -> dict[str, np.ndarray]:
    """The arrays of a stream; those of which there is nothing are empty."""
    found = {array.name: [np.empty(0, array.dtype)] for array in stream.arrays}
    for piece in stream.pieces():
        for name, values in piece.items():
            found[name].append(values)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def held(arrays: dict[str, np.ndarray], stream: GenomeStream) -> StoredGenome:
    """The genome of such arrays."""
    found = [MemoryArray(values, ("x",), name) for name, values in arrays.items()]
    return StoredGenome(found, stream.outcome)


def genome_in_memory(path: Path, text: bytes, kind: str = "genome") -> StoredGenome:
    """What a store of a file would hold, which gets this content."""
    path.write_bytes(text)
    stream = GenomeStream(str(path), kind, is_named=True)
    return held(arrays_of(stream), stream)


def text_of_genome(stored: StoredGenome) -> bytes:
    """The FASTA of a genome."""
    return b"".join(block.tobytes() for block in fasta_blocks(stored))
