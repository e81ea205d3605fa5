"""Tasks of the steps of an order: each makes the object of a part, bucket, slab or range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from gangsaw.tasks.genomics.reads.files.kernels import SEQUENCE
from gangsaw.tasks.genomics.reads.files.records import FastqRecords
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.order.arrange import order_by_place
from gangsaw.tasks.genomics.reads.order.arranged import Arranged
from gangsaw.tasks.genomics.reads.order.bins.chain import buckets, edges_of, heaviest
from gangsaw.tasks.genomics.reads.order.bins.signatures import sign_lines
from gangsaw.tasks.genomics.reads.order.groups import (
    Numbers,
    ReadGroups,
    Segments,
    compress_segments,
    cuts,
    main_mate,
    unpack_groups,
)
from gangsaw.tasks.genomics.reads.order.plan import keys_of, ranks_of_keys, read_plan, weights_of
from gangsaw.tasks.genomics.reads.order.smallest import coded_bytes, smallest_order
from gangsaw.tasks.jobs.steps.step_objects import Made, StepOutputs

NONE = np.empty(0, np.uint8)
RUN, FIRST, END = range(3)  # columns of slabs: run of ranges, first part and end


@dataclass(frozen=True)
class Sign:
    """Task "sign": the bins of a part of the reads, and the edges between bins.

    A group is a pair or a single read. Its bins are hashes of the minimizers of both halves of a
    read; it is an edge between them. Its weight is about its bases. Segments of the output: keys
    and counts of each bucket's edges; bins; weights.
    """

    intake: StepOutputs
    n_buckets: int

    def __call__(self, part: int) -> Made:
        """Return the output file of a part, and its uncompressed size."""
        mates = unpack_groups([Segments(self.intake.path(part)).read(0)]).mates
        bins = bins_of(mates[main_mate(mates)])
        keys, counts = edges_of(bins)
        runs = cuts(keys, buckets(self.n_buckets))
        edges = [np.concatenate((keys[run], counts[run])) for run in runs]
        return compress_segments([*edges, bins, weights_of(mates)])


@dataclass(frozen=True)
class Signed:
    """Output files of `Sign` for all parts: bins, weights and edges."""

    parts: StepOutputs
    n_parts: int
    n_buckets: int

    def groups(self, part: int) -> tuple[Numbers, Numbers]:
        """Return bins (n, 2) and weights (n,) of the groups (pairs or reads) of a part."""
        segments = Segments(self.parts.path(part))
        bins = segments.words(self.n_buckets).reshape(-1, 2)
        return bins, segments.words(self.n_buckets + 1)

    def all_groups(self) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield bins and weights of each part in order."""
        return map(self.groups, range(self.n_parts))

    def edges(self, bucket: int) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield keys and counts of the edges that begin in a bucket of bins, part by part."""
        for part in range(self.n_parts):
            words = Segments(self.parts.path(part)).words(bucket)
            yield words[: words.size // 2], words[words.size // 2 :]


@dataclass(frozen=True)
class Count:
    """Task "count": the heaviest edges between bins of a bucket, over all parts."""

    signed: Signed

    def __call__(self, bucket: int) -> Made:
        """Return the output file of a bucket, and its uncompressed size."""
        return compress_segments([heaviest(self.signed.edges(bucket))])


@dataclass(frozen=True)
class Price:
    """Task "price": number and encoded bytes of a part's groups in the order of the input.

    Attributes
    ----------
    intake : output files of the input stage
    numbers : numbers of the parts that are encoded
    settings : settings that select the stored lines
    """

    intake: StepOutputs
    numbers: tuple[int, ...]
    settings: Settings

    def __call__(self, number: int) -> Made:
        """Return the output file of a part, and its uncompressed size."""
        groups = unpack_groups([Segments(self.intake.path(self.numbers[number])).read(0)])
        return compress_segments(
            [np.array([coded_bytes(groups.mates, self.settings), len(groups)])]
        )


@dataclass(frozen=True)
class Choose:
    """Task "choice": 1 if the order of the input takes no more bytes than the new order, else 0.

    Attributes
    ----------
    priced : output files of `Price`
    n_priced : number of parts in `priced`
    arranged : ordered reads, each range in its smallest order
    groups : number of groups of all parts
    """

    priced: StepOutputs
    n_priced: int
    arranged: Arranged
    groups: int

    def __call__(self, _: int) -> Made:
        """Return the single output file, and its uncompressed size."""
        rows = [Segments(self.priced.path(i)).words(0) for i in range(self.n_priced)]
        n_bytes, groups = np.sum(rows, axis=0).tolist()
        ours = sum(n for _, n in self.arranged.tried())
        return compress_segments([np.array([int(n_bytes * self.groups <= ours * groups)])])


@dataclass(frozen=True)
class Scatter:
    """Task "scatter": split the groups (pairs or reads) of a part by range of the new order.

    If there are too many ranges, it splits them by run of consecutive ranges.

    Attributes
    ----------
    intake : output files of the input stage
    signed : bins and weights of the groups
    plan : output of the step "plan", one file
    per_run : ranges per run
    """

    intake: StepOutputs
    signed: Signed
    plan: StepOutputs
    per_run: int

    def __call__(self, part: int) -> Made:
        """Return the output file of a part, one segment per run, and its uncompressed size."""
        plan = read_plan(self.plan)
        bins, weights = self.signed.groups(part)
        keys = keys_of(plan.ranks, bins)
        ranges = plan.ranges_of(part, ranks_of_keys(keys), weights)
        read = unpack_groups([Segments(self.intake.path(part)).read(0)])
        n_runs = -(-plan.n_ranges // self.per_run)
        return _split(
            ReadGroups(read.mates, read.odd, keys, ranges), ranges // self.per_run, n_runs
        )


@dataclass(frozen=True)
class Slabs:
    """Units of the second level of a shuffle: a slab is a run of ranges, in some of the parts.

    Attributes
    ----------
    parts : one file with rows of three int64: RUN of ranges, FIRST part and END
    per_run : ranges per run
    """

    parts: StepOutputs
    per_run: int

    def rows(self) -> Numbers:
        """Return the slabs, (s, 3) int64: RUN of ranges, FIRST part and END."""
        return _slab_rows(self.parts)


@lru_cache(2)
def _slab_rows(parts: StepOutputs) -> Numbers:
    return Segments(parts.path(0)).words(0).reshape(-1, 3)


@dataclass(frozen=True)
class Regroup:
    """Task "regroup", second level of a shuffle: split groups by range.

    Its unit is a slab, the groups of a run of ranges in some of the parts.
    """

    scattered: StepOutputs
    slabs: Slabs

    def __call__(self, number: int) -> Made:
        """Return the output file of a slab, one segment per range, and its uncompressed size."""
        run, first, last = self.slabs.rows()[number].tolist()
        per_run = self.slabs.per_run
        batch = _joined(self.scattered, [(part, run) for part in range(first, last)])
        if batch is None:
            return compress_segments([NONE] * per_run)
        return _split(batch, batch.ranges - run * per_run, per_run)


@dataclass(frozen=True)
class Arrange:
    """Task "arrange": sort the groups (pairs or reads) of a range of the new order.

    For order "smallest" the result has their bytes and the chosen order, too. A range without
    groups has one empty segment.

    Attributes
    ----------
    scattered : output of `Scatter`, or of `Regroup` if there are slabs
    n_parts : number of parts of `Scatter`
    slabs : slabs of `Regroup`
    settings : order, and the selection of stored lines
    """

    scattered: StepOutputs
    n_parts: int
    slabs: Slabs | None
    settings: Settings

    def __call__(self, number: int) -> Made:
        """Return the output file of a range, and its uncompressed size."""
        batch = _joined(self.scattered, self._sources(number))
        if batch is None:
            return compress_segments([NONE])
        if self.settings.order == "smallest":
            found = smallest_order(batch.mates, self.settings)
            tried = np.frombuffer(f"{found.n_bytes} {found.name}".encode(), np.uint8)
            return compress_segments([batch.take(found.order).pack(), tried])
        if self.settings.order == "sorted":
            order = order_by_place(batch.mates, self.settings.names == "keep")
        else:
            order = np.argsort(batch.keys, kind="stable")
        return compress_segments([batch.take(order).pack()])

    def _sources(self, number: int) -> list[tuple[int, int]]:
        """Return (file number, segment) of all groups of a range, in the order of parts."""
        if self.slabs is None:
            return [(part, number) for part in range(self.n_parts)]
        run, place = divmod(number, self.slabs.per_run)
        own = np.flatnonzero(self.slabs.rows()[:, RUN] == run)
        return [(slab, place) for slab in own.tolist()]


def slabs_of(scattered: StepOutputs, n_parts: int, n_runs: int, slab_bytes: int) -> Numbers:
    """Return slabs of about `slab_bytes`, by the sizes of the segments in files of `Scatter`."""
    sizes = np.stack([Segments(scattered.path(part)).sizes for part in range(n_parts)])
    rows: list[tuple[int, int, int]] = []
    for run in range(n_runs):
        ends = np.cumsum(sizes[:, run])
        borders = np.searchsorted(ends, np.arange(slab_bytes, int(ends[-1]), slab_bytes)) + 1
        edges = np.unique([0, *np.minimum(borders, n_parts).tolist(), n_parts]).tolist()
        rows += [(run, a, b) for a, b in pairwise(edges)]
    return np.array(rows, np.int64)


def bins_of(records: FastqRecords) -> Numbers:
    """Return the bins of the two halves of each sequence: (n, 2) int64."""
    return sign_lines(records.text, records.begins[:, SEQUENCE], records.ends[:, SEQUENCE])


def _split(batch: ReadGroups, targets: Numbers, n_targets: int) -> Made:
    """Return an output file with one segment of groups per target; groups keep their order."""
    order = np.argsort(targets, kind="stable")
    runs = cuts(targets[order], np.arange(n_targets + 1))
    return compress_segments(
        batch.take(order[run]).pack() if run.stop > run.start else NONE for run in runs
    )


def _joined(parts: StepOutputs, sources: list[tuple[int, int]]) -> ReadGroups | None:
    """Return the groups in these (file number, segment) of a step's output; None without groups."""
    found = [Segments(parts.path(number)).read(segment) for number, segment in sources]
    segments = [segment for segment in found if segment.size]
    return unpack_groups(segments) if segments else None
