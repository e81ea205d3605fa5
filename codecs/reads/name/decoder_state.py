"""Tables and lane state of the decoder of names."""

from __future__ import annotations

from typing import NamedTuple

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.entropy.sparse_tables import RansTables
from gangsaw.codecs.reads.name.contexts import History


class NameModel(NamedTuple):
    """Tables for decoding names, shared by all windows of a block.

    Attributes
    ----------
    tables : rANS tables, the last one absent: a byte of a stream without tables is an error
    modes : (N_STREAMS,) uint8, table mode of each stream
    base : (N_STREAMS,) int64, first table of each stream
    template : (n,) uint8, the line that precedes each window's first one
    cuts : (n_tokens + 1,) int64, offsets of its tokens
    """

    tables: RansTables
    modes: Bytes
    base: Int64s
    template: Bytes
    cuts: Int64s


class NameLane(NamedTuple):
    """Lane of a window of names while it is decoded.

    Attributes
    ----------
    data : (n,) uint8 that contains the lane
    stop : end of the lane
    state : (2,) int64, rANS state, and offset in `data` of the next word
    memory : history of the window
    """

    data: Bytes
    stop: int
    state: Int64s
    memory: History
