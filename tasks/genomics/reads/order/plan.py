"""Plan of an order: the bins in their order, cut into ranges of equal size.

Ranges follow the ranks of the groups' left bins, and within a bin the input. So they depend neither
on parts nor on workers; the groups of a range are ordered in memory. The weight before a group is
known without all groups in memory: for each bin the weight before it, and for a bin over a border
of ranges its weight in each part. So no bin is too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gangsaw.tasks.genomics.reads.files.records import Mates
from gangsaw.tasks.genomics.reads.order.bins.signatures import BIN_BITS, LEFT, NO_BIN, RIGHT
from gangsaw.tasks.genomics.reads.order.groups import (
    PER_RECORD,
    Numbers,
    Segments,
    compress_segments,
    measure_groups,
)
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs

KEY_BITS = BIN_BITS + 1  # bits of a rank: there is one more rank than bins
BYTES_PER_LETTER = 8  # bytes per base that a range may have: long names, empty reads


@dataclass(frozen=True)
class OrderLimits:
    """Limits of memory and files of an ordering job; its result depends on `range_letters` alone.

    Attributes
    ----------
    part_bytes : bytes of text of a part of the input, and of a task of a shuffle
    range_letters : bases of a range, which is ordered in memory and should fit into a chunk
    most_segments : largest number of segments of one level of a shuffle
    bucket_groups : groups (pairs or reads) whose edges between bins are merged at a time
    """

    part_bytes: int = 1 << 26
    range_letters: int = (1 << 25) * 63 // 64  # with the record over its border, it fits
    most_segments: int = 100_000
    bucket_groups: int = 1 << 20

    def n_buckets(self, n_parts: int, groups: int) -> int:
        """Return the number of buckets of bins; edges between bins are merged by bucket."""
        return max(1, min(-(-groups // self.bucket_groups), self.most_segments // max(1, n_parts)))

    def n_ranges(self, weight: int) -> int:
        """Return the number of ranges of the new order for reads of this total weight."""
        return max(1, -(-weight // self.range_letters))


@dataclass(frozen=True)
class GroupPlan:
    """Assignment of groups (pairs or reads) to ranges of the new order.

    Ranges have equal weights, which are bases.

    Attributes
    ----------
    ranks : (NO_BIN + 1,) int64, rank of each bin in the new order
    before : (NO_BIN + 1,) int64, weight of all groups of lower ranks
    cut : (c,) int64, ascending ranks whose groups lie in several ranges
    shares : (p, c) int64, weight of the groups of each of these ranks in earlier parts
    n_ranges, weight : number of ranges, and weight of all groups
    """

    ranks: Numbers
    before: Numbers
    cut: Numbers
    shares: Numbers
    n_ranges: int
    weight: int

    def ranges_of(self, part: int, ranks: Numbers, weights: Numbers) -> Numbers:
        """Return the range of each group of a part, by its rank and weight."""
        at = self.before[ranks]
        for place in np.flatnonzero(np.isin(self.cut, ranks)).tolist():
            own = np.flatnonzero(ranks == self.cut[place])
            at[own] += self.shares[part, place] + np.cumsum(weights[own]) - weights[own]
        ranges: Numbers = at * self.n_ranges // max(1, self.weight)
        return ranges

    def seal(self) -> tuple[bytes, int]:
        """Return the plan as the content of a step's output file, and its size."""
        numbers = np.array([self.n_ranges, self.weight, len(self.shares)])
        return compress_segments([self.ranks, self.before, self.cut, self.shares, numbers])


Signed = Callable[[], Iterator[tuple[Numbers, Numbers]]]


def plan_for(ranks: Numbers, signed: Signed, limits: OrderLimits) -> GroupPlan:
    """Assign groups to ranges of equal weight, in the order of their bins' ranks.

    Parameters
    ----------
    ranks : rank of each bin
    signed : each call yields bins (n, 2) and weights (n,) of the groups of each part in order
    limits : limits of ranges
    """
    sizes = np.zeros(NO_BIN + 1, np.int64)
    for bins, weights in signed():
        np.add.at(sizes, ranks[bins[:, LEFT]], weights)
    ends, weight = np.cumsum(sizes), int(sizes.sum())
    n_ranges, before = limits.n_ranges(weight), ends - sizes
    first, last = (at * n_ranges // max(1, weight) for at in (before, ends - 1))
    cut = np.flatnonzero((sizes > 0) & (first < last))
    shares = [np.zeros(cut.size, np.int64)]
    for bins, weights in signed():
        shares.append(shares[-1] + _share(ranks[bins[:, LEFT]], weights, cut))
    return GroupPlan(ranks, before, cut, np.stack(shares[:-1]), n_ranges, weight)


def _share(ranks: Numbers, weights: Numbers, cut: Numbers) -> Numbers:
    """Return the total weight of the groups of each rank in `cut`."""
    share = np.zeros(cut.size, np.int64)
    own = np.isin(ranks, cut)
    np.add.at(share, np.searchsorted(cut, ranks[own]), weights[own])
    return share


@lru_cache(2)
def read_plan(plan: StepOutputs) -> GroupPlan:
    """Load the plan from its file."""
    segments = Segments(plan.path(0))
    ranks, before, cut, shares, numbers = (segments.words(i) for i in range(5))
    n_ranges, weight, n_parts = numbers.tolist()
    return GroupPlan(ranks, before, cut, shares.reshape(n_parts, cut.size), n_ranges, weight)


def weights_of(mates: Mates) -> Numbers:
    """Return the weight of each group, (n,) int64: bases, or more if it has much other text."""
    letters, text = measure_groups(mates)
    held = text + PER_RECORD * len(mates)
    weights: Numbers = np.maximum(letters, held // BYTES_PER_LETTER)
    return weights


def keys_of(ranks: Numbers, bins: Numbers) -> Numbers:
    """Return the sort keys of groups, (n,) int64: the ranks of their left and right bins.

    With the lower one of both, 16 chunks of shigella took 3.6 % more. With ties by position in the
    input, hiv1 took 3 % more in kept order.
    """
    both = ranks[bins]
    keys: Numbers = both[:, LEFT] << KEY_BITS | both[:, RIGHT]
    return keys


def ranks_of_keys(keys: Numbers) -> Numbers:
    """Return the rank of the left bin in each sort key, by which groups are assigned to ranges."""
    ranks: Numbers = keys >> KEY_BITS
    return ranks
