"""Decoder of sequences on a GPU: first the consensus of blocks, then their windows."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import load_module
from gangsaw.codecs.core.nucleotides.uracil import exchange
from gangsaw.codecs.reads.payload import HEAD, BlockLanes
from gangsaw.codecs.reads.sequence.coding import check_flags
from gangsaw.codecs.reads.sequence.consensus import slice_bounds
from gangsaw.codecs.reads.sequence.dictionary import read_dictionary_head
from gangsaw.codecs.reads.sequence.syntax import EXCHANGED, SORTED, STEADY
from gangsaw.codecs.reads.windows.gpu_text import LookedInto, TextDecoder
from gangsaw.codecs.reads.windows.gpu_windows import THREADS, Blocks


def _looked_into(payload: BlockLanes, pairs: bool) -> LookedInto:
    check_flags(payload.head)
    head = read_dictionary_head(payload.rest, payload.head.used)
    is_sorted, is_steady = (bool(payload.head.flags & flag) for flag in (SORTED, STEADY))
    slices = np.stack(slice_bounds(payload.shared, head.size), axis=1)
    arrays = *head.tables, head.hot, head.columns, head.variants, head.marks, head.ranks
    return LookedInto(
        (is_sorted, is_steady, pairs, head.size, head.low_bits),
        arrays,
        (head.size, head.size),
        slices + HEAD.size + payload.rest.size,  # lane 1 follows lane 0
    )


def _fill_consensus(blocks: Blocks) -> list[bool]:
    """Decode the consensus of blocks on both strands; return True for each valid one."""
    slices = blocks.slices()
    is_right = np.ones(len(blocks.blocks), np.bool_)
    if len(slices):
        module = load_module(__package__, "consensus.cu", {})
        is_wrong = cupy().zeros(len(slices), np.uint32)
        blocks.launch(module.get_function("read_slices"), slices, is_wrong)
        blocks.launch(module.get_function("write_complement"), slices, is_wrong, threads=THREADS)
        is_right[slices[to_host(is_wrong) != 0, 0]] = False
    return is_right.tolist()


def _finish(payload: BlockLanes, out: DeviceArray) -> None:
    """Exchange T and U in a decoded block if its encoder exchanged them."""
    if payload.head.flags & EXCHANGED:
        exchange(out, max(1, out.shape[0]))


DECODER = TextDecoder(__package__, _looked_into, fill_rooms=_fill_consensus, finish=_finish)
