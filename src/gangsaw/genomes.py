"""Genomes of a store: `gangsaw.genomes.open("genome.zarr")["chr1"][1000:2000]`.

`append(["new.fa.gz"], "strains.zarr")` adds to a collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.genomes.genome import Genome, GenomeRecord, Kmers, open
from gangsaw.tasks.sequences.ragged import Packed

if TYPE_CHECKING:
    from gangsaw.tasks.engine.progress import OnProgress
    from gangsaw.tasks.jobs.compress import Summary

__all__ = ["Genome", "GenomeRecord", "Kmers", "Packed", "append", "open"]


def append(
    paths: Sequence[str],
    store: str | Path,
    *,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Add the genomes of FASTA files to a collection, of which no chunk is written anew.

    Until all of them are there the collection is what it was. `resume` finishes what an earlier run
    with the same files began. Raises BadParams where there is no collection that can be added to,
    or it has a genome of such a name; JobFailed where the job stopped.
    """
    from gangsaw.tasks.genomes.append import append_genomes

    return append_genomes(paths, store, resume=resume, on_progress=on_progress)
