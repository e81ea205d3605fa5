"""Binary arithmetic coder with adaptive counts (after M. Mahoney's lpaq), for small heads.

Two 32-bit bounds are the coder state; the counts of a decision split the interval between them.
SPEC.md, "Decisions".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit

HALVED = 250  # counts above this are halved
BOUND_BYTES = 4
LOW, HIGH, WORD, AT, STOP = range(5)


class DecisionCoder(NamedTuple):
    """Adaptive binary arithmetic coder, as arrays: its state between two decisions.

    Attributes
    ----------
    data : (n,) uint8, bytes written or read
    state : (5,) int64: lower and upper bound of the interval, code value (decoder only), offset of
        the next byte, end offset
    counts : (nodes, 2) int64, zeros and ones of each decision node so far
    """

    data: npt.NDArray[np.uint8]
    state: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


def coder_at(data: npt.NDArray[np.uint8], at: int, nodes: int) -> DecisionCoder:
    """Return an arithmetic coder that starts at data[at], for `nodes` kinds of decisions."""
    state = np.array([0, (1 << 32) - 1, 0, at, data.size], np.int64)
    return DecisionCoder(data, state, np.zeros((nodes, 2), np.int64))


@jit(part=True)
def _middle(coder: DecisionCoder, node: int) -> int:
    """Return the upper bound of the interval in which the decision is 1."""
    zeros, ones = coder.counts[node]
    of_one = max(1, min(4095, ((2 * ones + 1) << 12) // (2 * (zeros + ones) + 2)))
    low, high = coder.state[LOW], coder.state[HIGH]
    return int(low + ((high - low) >> 12) * of_one)


@jit(part=True)
def _learn(coder: DecisionCoder, node: int, bit: int, middle: int) -> None:
    if bit:
        coder.state[HIGH] = middle
    else:
        coder.state[LOW] = middle + 1
    coder.counts[node, bit] += 1
    if coder.counts[node, bit] > HALVED:
        coder.counts[node, 0] >>= 1
        coder.counts[node, 1] >>= 1


@jit(part=True)
def put_decision(coder: DecisionCoder, node: int, bit: int) -> None:
    """Write a decision, 0 or 1, of a node; if the buffer is full, only the offset advances."""
    _learn(coder, node, bit, _middle(coder, node))
    while (coder.state[LOW] ^ coder.state[HIGH]) >> 24 == 0:
        _put_byte(coder, coder.state[HIGH] >> 24)
        _shift(coder)


@jit(part=True)
def finish_encoder(coder: DecisionCoder) -> int:
    """Write the bytes of the last decisions; return the end offset."""
    for shift in (24, 16, 8, 0):
        _put_byte(coder, coder.state[HIGH] >> shift & 255)
    return int(coder.state[AT])


@jit(part=True)
def begin_decoder(coder: DecisionCoder) -> None:
    """Read the initial code value of a decoder, four bytes."""
    for _ in range(BOUND_BYTES):
        _get_byte(coder)


@jit(part=True)
def get_decision(coder: DecisionCoder, node: int) -> int:
    """Read a decision, 0 or 1, of a node. Bytes after the end are 0."""
    middle = _middle(coder, node)
    bit = 1 if coder.state[WORD] <= middle else 0
    _learn(coder, node, bit, middle)
    while (coder.state[LOW] ^ coder.state[HIGH]) >> 24 == 0:
        _shift(coder)
        _get_byte(coder)
    return bit


@jit(part=True)
def _shift(coder: DecisionCoder) -> None:
    coder.state[LOW] = coder.state[LOW] << 8 & 0xFFFFFFFF
    coder.state[HIGH] = (coder.state[HIGH] << 8 & 0xFFFFFFFF) | 255


@jit(part=True)
def _put_byte(coder: DecisionCoder, byte: int) -> None:
    if coder.state[AT] < coder.state[STOP]:
        coder.data[coder.state[AT]] = byte
    coder.state[AT] += 1


@jit(part=True)
def _get_byte(coder: DecisionCoder) -> None:
    at = coder.state[AT]
    byte = coder.data[at] if at < coder.state[STOP] else 0
    coder.state[WORD] = (coder.state[WORD] << 8 & 0xFFFFFFFF) | byte
    coder.state[AT] = at + 1
