"""Genomes in a store: `gangsaw.genomes.open("genome.zarr")["chr1"][1000:2000]`.

`append(["new.fa.gz"], "strains.zarr")` adds to a collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.genomics.genomes.stored.genome import Genome, GenomeRecord, Kmers, open
from gangsaw.tasks.genomics.sequences.ragged import Packed

if TYPE_CHECKING:
    from gangsaw.tasks.engine.report.progress import OnProgress
    from gangsaw.tasks.jobs.compress import Summary

__all__ = ["Genome", "GenomeRecord", "Kmers", "Packed", "append", "open"]


def append(
    paths: Sequence[str],
    store: str | Path,
    *,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Add the genomes of FASTA files to a collection without rewriting its chunks.

    The collection is unchanged until all genomes are stored.

    Parameters
    ----------
    resume : finish what an earlier run with the same files began

    Raises
    ------
    BadParams : the collection cannot be extended, or has a genome with the same name
    JobFailed : the job stopped
    """
    from gangsaw.tasks.genomics.genomes.collections.append import append_genomes

    return append_genomes(paths, store, resume=resume, on_progress=on_progress)
