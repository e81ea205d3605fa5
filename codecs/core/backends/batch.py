"""Batches of blocks that are coded in one call, and their division among threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Payload, RunAddresses, Runs
from gangsaw.codecs.core.container.views import BlockAddresses, Form, block_addresses
from gangsaw.codecs.core.memory.threads import thread_limit

LEAST_RUNS = 4  # of blocks per thread
COPIED = 1 << 20  # bytes of blocks whose payloads are still in a cache when they are copied

ParamsT = TypeVar("ParamsT")
Numbers: TypeAlias = Sequence[int]  # block numbers, ascending


class Encoded(NamedTuple):
    """Result of encoding one block: its payload, and the bit lengths of its lanes, if it has any.

    Attributes
    ----------
    parts : (n,) uint8 arrays whose concatenation is the payload
    lane_bits : (n_lanes,) int64, bits of each lane; None for a codec without lanes
    """

    parts: tuple[Payload, ...]
    lane_bits: npt.NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """Bytes of the payload."""
        return sum(part.size for part in self.parts)

    @property
    def payload(self) -> Payload:
        """Payload, (n,) uint8: a copy if it has several parts."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)


class EncodedBlock(NamedTuple):
    """Input of a decoder: the verified payload of one block, and the bit lengths of its lanes.

    Attributes
    ----------
    data : (n,) uint8 payload, verified
    lane_bits : (n_lanes,) int64, bits of each lane; None for a codec without lanes
    there : (n_lanes,) bool, True for lanes that were fetched; None for all
    """

    data: Payload
    lane_bits: npt.NDArray[np.int64] | None = None
    there: npt.NDArray[np.bool_] | None = None

    @property
    def lanes(self) -> npt.NDArray[np.int64]:
        """Bits of each lane, (n_lanes,) int64, for a codec with lanes."""
        assert self.lane_bits is not None, "frames of this codec have no lanes"
        return self.lane_bits


def encoded_block(runs: Runs, number: int) -> EncodedBlock:
    """Return a block of `runs` for a decoder; raise CorruptChunk if its checksum is wrong."""
    lanes = None if runs.lane_bits is None else runs.lane_bits[number]
    there = None if runs.lanes_there is None else runs.lanes_there[number]
    return EncodedBlock(runs.take(number), lanes, there)


class Sources(Generic[ParamsT]):
    """Blocks that a host backend encodes, with parameters and destination.

    Attributes
    ----------
    blocks : arrays of any byte order and strides
    params : parameters of the encoder
    output : destination of the payloads
    """

    def __init__(self, blocks: Sequence[NumpyArray], params: ParamsT, output: Output) -> None:
        self.blocks, self.params, self.output = blocks, params, output
        self._addresses: BlockAddresses | None = None

    @property
    def addresses(self) -> BlockAddresses:
        """Memory addresses of the blocks, with their shapes, strides and dtypes."""
        if self._addresses is None:
            self._addresses = block_addresses(self.blocks)
        return self._addresses


class Targets(Generic[ParamsT]):
    """Blocks that a host backend decodes: their payloads, and the arrays to fill.

    Attributes
    ----------
    runs : payloads of the blocks, not verified
    blocks : arrays to fill, of any byte order and strides
    params : parameters that the blocks were encoded with
    """

    def __init__(self, runs: Runs, blocks: Sequence[NumpyArray], params: ParamsT) -> None:
        self.runs, self.blocks, self.params = runs, blocks, params
        self._addresses: BlockAddresses | None = None
        self._payloads: RunAddresses | None = None

    @property
    def addresses(self) -> BlockAddresses:
        """Memory addresses of the blocks to fill, with their shapes, strides and dtypes."""
        if self._addresses is None:
            self._addresses = block_addresses(self.blocks)
        return self._addresses

    @property
    def payloads(self) -> RunAddresses:
        """Memory addresses of the payloads."""
        if self._payloads is None:
            self._payloads = self.runs.addresses()
        return self._payloads


def runs_of(forms: Sequence[Form], together: int) -> list[tuple[int, int]]:
    """Divide consecutive blocks into runs of one form, one run per coding call; (first, end) each.

    A form is shape, strides and dtype of a block; `together` is the most blocks of a run. One
    thread copies the results of the others when it is their turn. Results of short runs are still
    in a cache then; those of long runs would go through memory.
    """
    runs, first, n, alone = [], 0, len(forms), thread_limit() == 1
    while first < n:
        end, form = first + 1, forms[first]
        most = together if alone or together == 1 else max(1, COPIED // _bytes(form))
        stop = first + min(most, _at_most(n - first, together))
        while end < stop and forms[end] == form:
            end += 1
        runs.append((first, end))
        first = end
    return runs


def groups_of(forms: Sequence[Form], together: int) -> list[Numbers]:
    """Divide block numbers into groups of one form (shape, strides, dtype), one group per call.

    The numbers of a group ascend; `together` is the most blocks of a group.
    """
    by_form: dict[int, list[int]] = {}
    for number, form in enumerate(forms):  # equal forms of a chunk are the same object
        by_form.setdefault(id(form), []).append(number)
    groups: list[Numbers] = []
    left = len(forms)
    for numbers in by_form.values():
        while numbers:
            most = _at_most(left, together)
            groups.append(numbers[:most])
            numbers, left = numbers[most:], left - len(groups[-1])
    return groups


def _bytes(form: Form) -> int:
    shape, _, dtype = form
    return math.prod(shape) * dtype.itemsize


def _at_most(left: int, together: int) -> int:
    """Return the most blocks for one call while `left` blocks remain: fewer near the end.

    When a call starts, each thread can still get some blocks, so that threads end together.
    """
    threads = thread_limit()
    return max(1, min(together, left // (LEAST_RUNS * threads if threads > 1 else 1)))
