"""Job that orders reads in steps, each with a journal, in a folder that is removed at the end.

    intake   read the input once, into parts
    sign     bins of the groups of a part, and edges between bins
    count    the heaviest edges of each bin, bucket by bucket
    plan     the walk over the bins, and the range of each group
    scatter  the groups of a part, a segment for each range, or each run of ranges
    regroup  the second level: groups of a run, a segment for each range
    arrange  the groups of a range in their order

For `smallest`, two more steps decide if the order of the input takes fewer bytes:

    price    bytes of some parts in the order of the input
    choice   comparison with the bytes of the ranges

A step output is one object of segments, which later steps read: there are few objects for any
number of ranges. The inputs of a step are deleted when it is complete; its manifest remains, so
that a resumed run skips it. All steps except the first run on workers.
"""

from __future__ import annotations

import hashlib
import json
import math
from contextlib import nullcontext
from dataclasses import asdict, dataclass

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.progress import Meter
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.order.arranged import Arranged
from gangsaw.tasks.genomics.reads.order.bins.chain import NEIGHBOURS, ranks_of
from gangsaw.tasks.genomics.reads.order.groups import Segments, compress_segments
from gangsaw.tasks.genomics.reads.order.intake import (
    Facts,
    load_facts,
    measured,
    needed,
    stamp_of,
    take_in,
)
from gangsaw.tasks.genomics.reads.order.plan import OrderLimits, plan_for, read_plan
from gangsaw.tasks.genomics.reads.order.scratch_space import check_scratch_space
from gangsaw.tasks.genomics.reads.order.steps import (
    Arrange,
    Choose,
    Count,
    Price,
    Regroup,
    Scatter,
    Sign,
    Signed,
    Slabs,
    slabs_of,
)
from gangsaw.tasks.jobs.runs.resume import hint_at_resume
from gangsaw.tasks.jobs.steps.step_objects import (
    Made,
    StepOutputs,
    StepOutputsTask,
    compute_missing,
)
from gangsaw.tasks.sources.source import StageResources
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.job_folder import STEPS_JOB, JobFolder
from gangsaw.tasks.store.state.records import Records

VERSION = 2  # version of the files in the folder
LIMITS = OrderLimits()
# memory of a task as a multiple: of the text of a part; of the bases of a range; of these with
# the layout, and the encodings one by one. Measured with a million reads of 36 bases: 4, 16, 19-20
PART_COPIES, RANGE_COPIES, LAYOUT_COPIES = 8, 24, 40
PRICED = 4  # parts of the input from which the bytes of all are estimated
PLAN_BYTES = 1 << 30  # memory of the walk over 2^20 bins; 660 MB were measured


def order_reads(source: ReadInput, resources: StageResources) -> Arranged:
    """Sort the reads of files in the order of their settings, in resumable steps.

    Raises
    ------
    BadParams : the source is invalid, or changed since an earlier run; the disk has too little
        space
    JobFailed : a step stopped; completed parts are safe
    """
    work = _OrderJob(source, resources, LIMITS)
    with hint_at_resume() if source.is_repeatable else nullcontext():
        return work.run()


@dataclass(frozen=True)
class _OrderJob:
    """Job that orders the reads of one input, step by step."""

    source: ReadInput
    room: StageResources
    limits: OrderLimits

    def run(self) -> Arranged:
        """Run all steps that are not complete; return the reads in their order."""
        self._begin()
        intake = self._parts("intake", self._own())
        facts = self._run_input_stage(intake)
        if not facts.groups:
            return Arranged(intake, 0, facts)
        job = _fingerprint({"intake": intake.job, "crc": _digest(intake)})
        signed = self._signed(intake, facts, job)
        plan = self._plan(signed, job)
        n_ranges = read_plan(plan).n_ranges
        scattered, slabs = self._scattered(intake, signed, plan, n_ranges)
        done = self._parts("arrange", job)
        make = Arrange(scattered, facts.n_parts, slabs, self.source.settings)
        self._complete(StepOutputsTask("arrange", done, make, self._range_bytes), n_ranges)
        _drop(scattered)
        return self._chosen(Arranged(intake, facts.n_parts, facts, is_input=True), done, n_ranges)

    @property
    def _is_tried(self) -> bool:
        """True if the order of the input competes with the new one for the fewest bytes."""
        return self.source.settings.order == "smallest"

    def _chosen(self, own: Arranged, done: StepOutputs, n_ranges: int) -> Arranged:
        """Return the ordered reads, or the input if that takes no more bytes."""
        ranges = Arranged(done, n_ranges, own.facts)
        if not self._is_tried:
            return ranges
        is_input = n_ranges > 1 and self._input_is_smaller(own, ranges)
        _drop(ranges.parts if is_input else own.parts)
        return own if is_input else ranges

    def _input_is_smaller(self, own: Arranged, ranges: Arranged) -> bool:
        """Return True if the input's order takes no more bytes, by encoding some of its parts."""
        job = ranges.parts.job
        priced, choice = self._parts("price", job), self._parts("choice", job)
        n = min(PRICED, own.n_ranges)
        numbers = tuple(i * own.n_ranges // n for i in range(n))
        make = Price(own.parts, numbers, self.source.settings)
        self._complete(StepOutputsTask("price", priced, make, self._range_bytes), n)
        choose = Choose(priced, n, ranges, own.facts.groups)
        compute_missing(
            StepOutputsTask("choice", choice, choose, 0), 1, None, self._meter("choice", 1)
        )
        return bool(Segments(choice.path(0)).words(0)[0])

    def _begin(self) -> None:
        """Write the job's description to the folder; raise BadParams for another job's folder."""
        folder = JobFolder(open_prefix(self.room.folder, writable=True), STEPS_JOB)
        if not folder.claim(self._own().encode()):
            raise BadParams(
                f"{self.room.folder} holds a different job: resume with the same source and "
                "options, or start again with --overwrite"
            )

    def _own(self) -> str:
        """Return the JSON description that identifies the job, except for the source's content."""
        settings = self.source.settings
        own = {
            "version": VERSION,
            "source": self.source.name,
            "order": settings.order,
            "format": self.source.format,
            "interleaved": settings.interleaved,
            "qualities": settings.qualities,
            "names": settings.names,
            "limits": asdict(self.limits),
            "neighbours": NEIGHBOURS,
        }
        of_bam = {"part": self.source.part, "tags": settings.tags}
        own |= {name: value for name, value in of_bam.items() if value}
        return json.dumps(own, sort_keys=True)

    def _run_input_stage(self, intake: StepOutputs) -> Facts:
        if (facts := load_facts(intake, len(self.source.paths))) is not None:
            for path, own in zip(self.source.paths, facts.files, strict=True):
                if own.stamp != stamp_of(path):
                    raise BadParams(f"{path} has changed since: start again with --overwrite")
            return facts
        check_scratch_space(self.source, self.room.folder)
        files = self.source.files()
        groups = measured(needed(self.source, files), self.source, self.room.on_progress)
        return take_in(groups, files, intake, self.limits.part_bytes)

    def _signed(self, intake: StepOutputs, facts: Facts, job: str) -> Signed:
        n_buckets = self.limits.n_buckets(facts.n_parts, facts.groups)
        parts = self._parts("sign", job)
        task = StepOutputsTask("sign", parts, Sign(intake, n_buckets), self._part_bytes)
        self._complete(task, facts.n_parts)
        return Signed(parts, facts.n_parts, n_buckets)

    def _plan(self, signed: Signed, job: str) -> StepOutputs:
        """Return the file of the plan, which assigns reads to ranges; this process computes it."""
        counted, plan = self._parts("count", job), self._parts("plan", job)
        self._complete(
            StepOutputsTask("count", counted, Count(signed), self._part_bytes), signed.n_buckets
        )
        make = _MakePlan(counted, signed, self.limits)
        compute_missing(
            StepOutputsTask("plan", plan, make, PLAN_BYTES), 1, None, self._meter("plan", 1)
        )
        _drop(counted)
        return plan

    def _scattered(
        self, intake: StepOutputs, signed: Signed, plan: StepOutputs, n_ranges: int
    ) -> tuple[StepOutputs, Slabs | None]:
        """Return the files of groups by range, and the `Slabs` if the shuffle has two levels."""
        n_parts, job = signed.n_parts, signed.parts.job
        is_one = n_parts * n_ranges <= self.limits.most_segments
        per_run = 1 if is_one else math.isqrt(n_ranges - 1) + 1
        first = self._parts("scatter", job)
        make = Scatter(intake, signed, plan, per_run)
        self._complete(StepOutputsTask("scatter", first, make, self._part_bytes), n_parts)
        if not self._is_tried:
            _drop(intake)
        _drop(signed.parts)
        if is_one:
            return first, None
        return self._regrouped(first, n_parts, n_ranges, per_run)

    def _regrouped(
        self, first: StepOutputs, n_parts: int, n_ranges: int, per_run: int
    ) -> tuple[StepOutputs, Slabs]:
        cut, second = self._parts("slabs", first.job), self._parts("regroup", first.job)
        n_runs = -(-n_ranges // per_run)
        make = _MakeSlabs(first, n_parts, n_runs, self.limits.part_bytes)
        compute_missing(StepOutputsTask("slabs", cut, make, 0), 1, None, self._meter("slabs", 1))
        slabs = Slabs(cut, per_run)
        task = StepOutputsTask("regroup", second, Regroup(first, slabs), self._part_bytes)
        self._complete(task, len(slabs.rows()))
        _drop(first)
        return second, slabs

    def _parts(self, step: str, job: str) -> StepOutputs:
        return StepOutputs(self.room.folder / step, _fingerprint({"step": step, "job": job}))

    def _meter(self, step: str, n: int) -> Meter:
        return Meter(n, self.room.on_progress, step=step)

    def _complete(self, task: StepOutputsTask, n: int) -> Records:
        return compute_missing(task, n, self.room.client, self._meter(task.name, n))

    @property
    def _part_bytes(self) -> int:
        """Upper bound of the memory of a task for one part of the input, in bytes."""
        return PART_COPIES * self.limits.part_bytes

    @property
    def _range_bytes(self) -> int:
        """Upper bound of the memory of a task for one range of the new order, in bytes."""
        copies = RANGE_COPIES if self.source.settings.order == "bins" else LAYOUT_COPIES
        return copies * self.limits.range_letters


@dataclass(frozen=True)
class _MakePlan:
    counted: StepOutputs
    signed: Signed
    limits: OrderLimits

    def __call__(self, _: int) -> Made:
        buckets = range(self.signed.n_buckets)
        keys = [Segments(self.counted.path(bucket)).words(0) for bucket in buckets]
        ranks = ranks_of(np.concatenate(keys))
        return plan_for(ranks, self.signed.all_groups, self.limits).seal()


@dataclass(frozen=True)
class _MakeSlabs:
    scattered: StepOutputs
    n_parts: int
    n_runs: int
    slab_bytes: int

    def __call__(self, _: int) -> Made:
        return compress_segments(
            [slabs_of(self.scattered, self.n_parts, self.n_runs, self.slab_bytes)]
        )


def _fingerprint(own: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()


def _digest(parts: StepOutputs) -> str:
    """Return a hash of the checksums of a complete step's output files."""
    manifest = parts.manifest()
    assert manifest is not None, "it is complete"
    return hashlib.sha256(manifest.rows.tobytes()).hexdigest()


def _drop(parts: StepOutputs) -> None:
    """Delete the output files of a step that no other step reads; its manifest remains."""
    for path in parts.folder.glob("[0-9]*"):
        path.unlink(missing_ok=True)
