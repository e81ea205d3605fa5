"""Blocks that are coded together, and how they are shared out among threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Payload, RunAddresses, Runs
from gangsaw.codecs.core.container.views import BlockAddresses, Form
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.codecs.visibility.params import Params

LEAST_RUNS = 4  # for each thread
COPIED = 1 << 20  # bytes of blocks whose payloads are still in a cache when they are copied

Numbers: TypeAlias = npt.NDArray[np.int64]  # which blocks, ascending


class Sources(NamedTuple):
    """Blocks to encode.

    Attributes
    ----------
    blocks : (time, frequency, ...) of floats or complex numbers, any byte order and strides
    places : where they lie
    params : choices of the encoder
    output : where payloads go
    """

    blocks: Sequence[NumpyArray]
    places: BlockAddresses
    params: Params
    output: Output


class Targets(NamedTuple):
    """Blocks to decode.

    Attributes
    ----------
    runs : their payloads
    payloads : memory of these, not verified
    blocks : views (time, frequency, ...) to fill, any byte order and strides
    places : where they lie
    """

    runs: Runs
    payloads: RunAddresses
    blocks: Sequence[NumpyArray]
    places: BlockAddresses


# Encodes the blocks of a run, first to end, each of one form with the first, into the output.
Encoder: TypeAlias = Callable[[Sources, int, int], None]
# Decodes blocks of one form while they are of its kind, at least one; returns how many.
# It raises CorruptChunk, of the first of them where that names no block.
Decoder: TypeAlias = Callable[[Targets, Numbers], int]


def one_at_a_time(decode: Callable[[Payload, NumpyArray], None]) -> Decoder:
    """Return a decoder of blocks out of one that fills a block from its payload."""

    def decode_blocks(batch: Targets, numbers: Numbers) -> int:
        number = int(numbers[0])
        decode(batch.runs.take(number), batch.blocks[number])
        return 1

    return decode_blocks


def no_spare(form: Form) -> int:
    """Return 0: nothing is written after a payload."""
    return 0


class Coding(NamedTuple):
    """A way of encoding.

    Attributes
    ----------
    encode_blocks : see `Encoder`
    together : most blocks of one call
    spare : bytes that may be written after the payloads of blocks of a form
    """

    encode_blocks: Encoder
    together: int = 1
    spare: Callable[[Form], int] = no_spare


def runs_of(forms: Sequence[Form], together: int) -> list[tuple[int, int]]:
    """Return runs of blocks of one form that follow each other: first, end.

    One thread copies the results of others to their place when its turn comes. Short runs are still
    in a cache then; long ones would go through memory.
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
    """Return numbers of blocks of one form each, ascending, wherever they are."""
    by_form: dict[int, list[int]] = {}
    for number, form in enumerate(forms):  # equal ones of a chunk are the same
        by_form.setdefault(id(form), []).append(number)
    groups, left = [], len(forms)
    for numbers in by_form.values():
        while numbers:
            most = _at_most(left, together)
            groups.append(np.array(numbers[:most], np.int64))
            numbers, left = numbers[most:], left - groups[-1].size
    return groups


def _bytes(form: Form) -> int:
    shape, _, dtype = form
    return math.prod(shape) * dtype.itemsize


def _at_most(left: int, together: int) -> int:
    """Return how many blocks of those left one call takes at most: fewer near the end.

    Some are left for each thread when a call begins, so that threads end together.
    """
    threads = thread_limit()
    return max(1, min(together, left // (LEAST_RUNS * threads if threads > 1 else 1)))
