"""Dense coder of bases to the lanes of a block, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.dna.dense.decode import decode_block
from gangsaw.codecs.dna.dense.encode import model_block
from gangsaw.codecs.dna.dense.model.shape import STATE_WORDS, WORD, Shape, most_words, shape_of
from gangsaw.codecs.dna.dense.model.state import new_lanes, new_matches, new_tables
from gangsaw.codecs.dna.dense.rans import write_lane_words

Bases = npt.NDArray[np.uint8]
LaneBits = npt.NDArray[np.int64]


class DenseLanes(NamedTuple):
    """Encoded bases of a block in mode dense.

    Attributes
    ----------
    body : (n,) uint8, concatenated lanes, the parts of the block that are coded in parallel
    bits : (lanes,) int64, bits of each lane
    """

    body: Bases
    bits: LaneBits


def encode_bases(bases: Bases, shape: Shape | None = None) -> DenseLanes:
    """Encode the bases of a block with the adaptive model; no lanes without bases.

    bases : (n,) uint8, codes 0 to 3
    shape : sizes of the block, by default from `shape_of`
    """
    if not bases.size:
        return DenseLanes(np.empty(0, np.uint8), np.zeros(1, np.int64))
    shape = shape or shape_of(bases.size)
    codes, slots = _rows(shape), np.empty(shape.lanes * shape.stride, np.uint32)
    for row, lane in zip(codes, _lanes_of(bases, shape), strict=True):
        row[: lane.size] = lane
    model_block(codes.ravel(), shape, new_tables(shape), new_lanes(), new_matches(), slots)
    room = most_words(shape.steps)
    words, begins = np.empty(shape.lanes * room, np.uint16), np.empty(shape.lanes, np.int64)
    write_lane_words(slots, shape, np.empty(shape.lanes, np.uint32), words, begins)
    ends = (np.arange(shape.lanes) + 1) * room
    body = np.concatenate([words[a:b] for a, b in zip(begins, ends, strict=True)])
    return DenseLanes(body.astype("<u2", copy=False).view(np.uint8), WORD * (ends - begins))


def decode_bases(body: NumpyArray, bits: LaneBits, n: int, shape: Shape | None = None) -> Bases:
    """Decode the n bases of a block, (n,) uint8 codes 0 to 3.

    Parameters
    ----------
    body : (n,) uint8, the concatenated lanes
    bits : (lanes or more,) int64, bits of each lane; 0 for lanes that the block lacks

    Raises
    ------
    CorruptChunk : the data is not the lanes of n bases
    """
    shape = shape or shape_of(max(1, n))
    ends = lane_ends(body, bits, n, shape)
    if not n:
        return np.empty(0, np.uint8)
    words = np.frombuffer(body.tobytes(), "<u2").astype(np.uint16)
    at, state = np.append(0, ends[:-1]), np.empty(shape.lanes, np.uint32)
    codes = _rows(shape)
    learned = new_tables(shape), new_lanes(), new_matches()
    if not decode_block(words, (state, at, ends), shape, *learned, codes.ravel()):
        raise CorruptChunk("its lanes do not end with their bases")
    bases = np.empty(n, np.uint8)
    for row, lane in zip(codes, _lanes_of(bases, shape), strict=True):
        lane[...] = row[: lane.size]
    return bases


def lane_ends(body: NumpyArray, bits: LaneBits, n: int, shape: Shape) -> LaneBits:
    """Return the end of each lane in `body`, (lanes,) int64, in words.

    It raises CorruptChunk as `decode_bases` does.
    """
    if not n:
        if body.size or bits.any():
            raise CorruptChunk("it has lanes and no bases")
        return np.empty(0, np.int64)
    lengths = bits[: shape.lanes]
    is_short = lengths.size < shape.lanes or (lengths < WORD * STATE_WORDS).any()
    if is_short or bits[shape.lanes :].any() or (lengths % WORD).any():
        raise CorruptChunk(f"its lanes are not the {shape.lanes} of {n} bases")
    if int(lengths.sum()) != 8 * body.size:
        raise CorruptChunk("its lanes do not fill it")
    ends = lengths.cumsum()
    first = (ends - lengths) // 8
    if not ((body[first] != 0) | (body[first + 1] != 0)).all():
        raise CorruptChunk("a lane begins with a state below 2^16")
    return ends // WORD


def _rows(shape: Shape) -> Bases:
    return np.zeros((shape.lanes, shape.stride), np.uint8)


def _lanes_of(bases: Bases, shape: Shape) -> list[Bases]:
    """Return the bases of each lane, views of those of the block."""
    return [bases[i * shape.steps :][: shape.steps] for i in range(shape.lanes)]
