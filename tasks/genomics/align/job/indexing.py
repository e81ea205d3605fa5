"""Step "index" of an alignment, and the job that runs it alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_as_job
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.genomics.align.job.genome import GenomeParts, GenomeText, open_genome
from gangsaw.tasks.genomics.align.job.shared_index import FOUND, SharedIndex, locate_shared_index
from gangsaw.tasks.genomics.align.job.steps import MakeIndex
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.search.seeds.minimizers import Seeds
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs, StepOutputsTask, compute_missing

if TYPE_CHECKING:
    from distributed import Client

COPIES = 40  # bytes of memory of a task per base of a part, with its index


@dataclass(frozen=True)
class IndexStep:
    """Job step that builds the minimizer index of a genome, part by part.

    Attributes
    ----------
    genome : genome to index
    cut : partition of the genome
    seeds : selection of k-mers for the index
    client : Dask client, None for threads of this process
    """

    genome: GenomeText
    cut: GenomeParts
    seeds: Seeds
    client: Client | None

    def build(self, parts: StepOutputs, meter: Meter) -> None:
        """Build the index of each part that has no file yet."""
        room = COPIES * min(self.genome.residues, self.cut.letters + 2 * self.cut.overlap)
        make = MakeIndex(self.genome, self.cut, self.seeds)
        task = StepOutputsTask("index", parts, make, room)
        compute_missing(task, len(self.cut), self.client, meter)

    def keep(self, shared: SharedIndex, meter: Meter) -> str:
        """Build a shared index unless it exists.

        Return whether it was built or found, and its folder.
        """
        told = shared.make(lambda parts: self.build(parts, meter))
        if told == FOUND:
            self.build(shared.parts, meter)  # counts the existing parts
        return f"{told}, {shared.root}"


@dataclass(frozen=True)
class GenomeIndexed:
    """Result of a job that indexes a genome.

    Attributes
    ----------
    genome : path of its store
    index : message on the index: built or found, and its folder
    residues : bases of the genome
    stored_bytes : size of the index
    seconds : duration of this run
    """

    genome: str
    index: str
    residues: int
    stored_bytes: int
    seconds: float


@count_as_job("index-genome", "genome")
def index_genome_job(
    genome: str,
    params: SearchParams | None = None,
    *,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> GenomeIndexed:
    """Store the seeds of a genome next to its store, where alignment jobs find them.

    Raises
    ------
    BadParams : the store has no genome, or the index cannot be stored next to it
    JobFailed : the job stopped; the next one resumes it
    """
    started, opened = time.monotonic(), open_genome(genome)
    cut, seeds = GenomeParts(opened.residues), (params or SearchParams()).rules.seeds
    kept = locate_shared_index(opened, cut, seeds)
    if kept is None:
        raise BadParams(f"{genome}: an index needs a writable folder next to the store")
    dry_run.stop(lambda: JobPlan(genome, (str(kept.root),), format="index"))
    told = IndexStep(opened, cut, seeds, client).keep(kept, Meter(len(cut), on_progress))
    manifest = kept.parts.manifest()
    stored = 0 if manifest is None else int(manifest.rows["stored"].sum())
    return GenomeIndexed(genome, told, opened.residues, stored, time.monotonic() - started)
