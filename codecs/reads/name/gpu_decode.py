"""Decoder of names on a GPU: shared data of its windows, in the layout of `decode.cu`."""

from __future__ import annotations

from gangsaw.codecs.reads.name.model import read_model
from gangsaw.codecs.reads.payload import BlockLanes
from gangsaw.codecs.reads.windows.gpu_text import LookedInto, TextDecoder

MEMORY_BYTES = 1808  # size of `Memory` in memory.cuh


def _looked_into(payload: BlockLanes, pairs: bool) -> LookedInto:
    model = read_model(payload)
    arrays = *model.tables, model.modes, model.base, model.template, model.cuts
    return LookedInto((model.cuts.size - 1,), arrays)


DECODER = TextDecoder(__package__, _looked_into, MEMORY_BYTES)
