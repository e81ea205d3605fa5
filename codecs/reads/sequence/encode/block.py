"""Block of reads as the encoder's input: its bases, their layout, the consensus."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.reads.lines import Lines, Text
from gangsaw.codecs.reads.sequence.bases import read_only
from gangsaw.codecs.reads.sequence.columns import classified
from gangsaw.codecs.reads.sequence.encode.anchors import hot_anchors, hot_numbers
from gangsaw.codecs.reads.sequence.encode.order import arrange_layout
from gangsaw.codecs.reads.sequence.layout.placed import Anchors, Layout, find_anchors
from gangsaw.codecs.reads.sequence.syntax import HIGH_BITS, place_bits


class SequenceBlock(NamedTuple):
    """Block of reads with its layout, as plain arrays and numbers for the encoder's kernels.

    Attributes
    ----------
    text : (used,) uint8
    codes : (used + SPARE,) uint8, base codes of the text
    starts, ends : (n,) int64, range of each line's bases
    firsts : (n + 1,) int64, the first piece of each line, and m
    begin, end, position : (m,) int64, see `Layout`
    strand : (m,) uint8
    is_mapped : (m,) bool
    hot : (m,) uint8, number of the piece's anchor among the frequent ones, else 0
    forward, backward : columns of the consensus, see `ConsensusColumns`
    size : number of columns
    low_bits : raw bits of a position that is coded in full
    is_sorted : True if most lines are in the order of their positions
    pairs : True if lines 2i and 2i + 1 are mates
    """

    text: Text
    codes: Text
    starts: Int64s
    ends: Int64s
    firsts: Int64s
    begin: Int64s
    end: Int64s
    position: Int64s
    strand: npt.NDArray[np.uint8]
    is_mapped: npt.NDArray[np.bool_]
    hot: npt.NDArray[np.uint8]
    forward: npt.NDArray[np.uint8]
    backward: npt.NDArray[np.uint8]
    size: int
    low_bits: int
    is_sorted: bool
    pairs: bool


def block_of(
    lines: Lines, codes: Text, pieces: Layout, pairs: bool
) -> tuple[SequenceBlock, Anchors]:
    """Return a block of reads with its layout for kernels, and its hot anchors."""
    pieces, is_ahead = arrange_layout(pieces, pairs)
    columns = classified(codes, lines.starts[pieces.line] + pieces.begin, pieces)
    firsts = np.searchsorted(pieces.line, np.arange(lines.starts.size + 1))
    anchors = find_anchors(pieces)
    hot = hot_anchors(anchors[pieces.is_mapped & ~is_ahead], columns.size)
    numbers = hot_numbers(anchors, hot)
    low_bits = max(0, place_bits(columns.size) - HIGH_BITS)
    block = SequenceBlock(
        read_only(lines.text), codes, lines.starts, lines.ends, firsts,
        pieces.begin, pieces.end, pieces.position, pieces.strand, pieces.is_mapped, numbers,
        columns.forward, columns.backward, columns.size, low_bits, bool(is_ahead.any()), pairs,
    )  # fmt: skip
    return block, hot
