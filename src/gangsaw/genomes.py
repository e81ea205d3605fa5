"""Genomes in a store: `gangsaw.genomes.open("genome.zarr")["chr1"][1000:2000]`.

`append(["new.fa.gz"], "strains.zarr")` adds to a collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.genomics.genomes.stored.genome import Genome, open
from gangsaw.tasks.genomics.genomes.stored.record import GenomeRecord, Kmers
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
    r"""Add the genomes of FASTA files to a collection without rewriting its chunks.

    The collection is unchanged until all genomes are stored.

    Parameters
    ----------
    paths : list of str
        FASTA files, compressed or not, one per genome.
    store : path
        Collection to extend, in a folder.
    resume : bool, default False
        True finishes what an earlier run with the same files began.
    on_progress : callable, optional
        Function that is called after each batch of chunks with the state of the job.

    Returns
    -------
    Summary
        Numbers and sizes of what was written.

    Raises
    ------
    BadParams
        The collection cannot be extended, or has a genome with the same name.
    JobFailed
        The job stopped; `resume` continues it.

    See Also
    --------
    open : Return the genome of a store.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.genomes
    >>> for name, bases in {"a": "ACGT", "b": "ACGA", "c": "ACGG"}.items():
    ...     size = Path(f"{name}.fa").write_text(f">{name}\n{bases * 50}\n")
    >>> summary = gangsaw.compress(["a.fa", "b.fa"], "set.zarr", format="collection")
    >>> gangsaw.genomes.append(["c.fa"], "set.zarr").samples
    200
    """
    from gangsaw.tasks.genomics.genomes.collections.append import append_genomes

    return append_genomes(paths, store, resume=resume, on_progress=on_progress)
