"""The step "index" of an alignment, and the job that does it alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.align.job.genome import GenomeParts, GenomeText, open_genome
from gangsaw.tasks.align.job.kept import FOUND, KeptIndex, kept_index
from gangsaw.tasks.align.job.makers import MakeIndex
from gangsaw.tasks.align.search.params import SearchParams
from gangsaw.tasks.align.search.seeds.minimizers import Seeds
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.rehearsal import JobPlan
from gangsaw.tasks.engine.tally import job_of
from gangsaw.tasks.jobs.parts import Parts, PartsTask, complete

if TYPE_CHECKING:
    from distributed import Client

COPIES = 40  # bytes that a task needs of a letter of a part, with its index


@dataclass(frozen=True)
class IndexStep:
    """Makes the index of a genome.

    Attributes
    ----------
    genome : of which it is
    cut : its parts
    seeds : of the index
    client : of the workers, None for this process
    """

    genome: GenomeText
    cut: GenomeParts
    seeds: Seeds
    client: Client | None

    def build(self, parts: Parts, meter: Meter) -> None:
        """Make the parts that are not there."""
        room = COPIES * min(self.genome.residues, self.cut.letters + 2 * self.cut.overlap)
        make = MakeIndex(self.genome, self.cut, self.seeds)
        task = PartsTask("index", parts, make, room)
        complete(task, len(self.cut), self.client, meter)

    def keep(self, kept: KeptIndex, meter: Meter) -> str:
        """Have a kept index made unless it is there; return what is told of it."""
        told = kept.make(lambda parts: self.build(parts, meter))
        if told == FOUND:
            self.build(kept.parts, meter)  # which counts what is there
        return f"{told}, {kept.root}"


@dataclass(frozen=True)
class GenomeIndexed:
    """What a job did.

    Attributes
    ----------
    genome : the store
    index : whether it was made or found, and where it is kept
    residues : of the genome
    stored_bytes : of the index
    seconds : that this run took
    """

    genome: str
    index: str
    residues: int
    stored_bytes: int
    seconds: float


@job_of("index-genome", "genome")
def index_genome_job(
    genome: str,
    params: SearchParams | None = None,
    *,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> GenomeIndexed:
    """Keep the seeds of a genome beside its store, where jobs of aligning find them.

    Raises
    ------
    BadParams : the store holds no genome, or nothing can be kept beside it
    JobFailed : the job stopped; the next one goes on from there
    """
    started, opened = time.monotonic(), open_genome(genome)
    cut, seeds = GenomeParts(opened.residues), (params or SearchParams()).rules.seeds
    kept = kept_index(opened, cut, seeds)
    if kept is None:
        raise BadParams(f"{genome}: an index is kept beside a folder that can be written to")
    rehearsal.stop(lambda: JobPlan(genome, (str(kept.root),), format="index"))
    told = IndexStep(opened, cut, seeds, client).keep(kept, Meter(len(cut), on_progress))
    manifest = kept.parts.manifest()
    stored = 0 if manifest is None else int(manifest.rows["stored"].sum())
    return GenomeIndexed(genome, told, opened.residues, stored, time.monotonic() - started)
