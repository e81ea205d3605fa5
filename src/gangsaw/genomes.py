"""Genomes of a store: `gangsaw.genomes.open("genome.zarr")["chr1"][1000:2000]`."""

from __future__ import annotations

from gangsaw.tasks.genomes.genome import Genome, GenomeRecord, Kmers, open
from gangsaw.tasks.sequences.ragged import Packed

__all__ = ["Genome", "GenomeRecord", "Kmers", "Packed", "open"]
