"""GPU coding of blocks of kind 4: doubles with float32 values, coded by `dense` as float32."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch, load_module, pull
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.dense import gpu as dense
from gangsaw.codecs.visibility.dense.model.gpu_tables import offsets_of
from gangsaw.codecs.visibility.dense.narrow import KIND, NOT_WIDE, WIDE
from gangsaw.codecs.visibility.lanes.gpu_table import (
    THREADS,
    block_table,
    dtype_defines,
    word_bytes,
)
from gangsaw.codecs.visibility.params import Params, component_count

FILE = "narrow.cu"


def encode_blocks(sources: Sequence[DeviceArray], params: Params) -> list[Encoded | None]:
    """Encode CuPy blocks, doubles as float32 if exact; return payloads, None if raw is not longer.

    sources : (time, frequency, ...) of one dtype that `has_kernel`
    """
    fit = _fitting(sources)
    rest = sorted(set(range(len(sources))) - set(fit))
    raw = [sources[i].nbytes for i in fit]
    narrow = dense.encode_blocks(_narrowed([sources[i] for i in fit]), KIND, raw)
    others = dense.encode_blocks([sources[i] for i in rest])
    parts = dict(zip([*fit, *rest], [*narrow, *others], strict=True))
    found = (parts[i] for i in range(len(sources)))
    return [None if part is None else Encoded((part,)) for part in found]


def decode_blocks(
    encoded: Sequence[EncodedBlock], targets: Sequence[DeviceArray], params: Params
) -> dict[int, CorruptChunk]:
    """Decode payloads of float32 to blocks of doubles; return the errors of invalid ones by index.

    targets : CuPy views (time, frequency, ...) of one dtype that `has_kernel`
    """
    if word_bytes(targets[0]) != WIDE:
        return {i: CorruptChunk(NOT_WIDE) for i in range(len(encoded))}
    firsts, words, narrow = _allocate_words(targets)
    errors = dense.decode_blocks(encoded, narrow, params)
    right = [i for i in range(len(encoded)) if i not in errors]
    if right:
        _run("widen_words", [targets[i] for i in right], firsts[right], words)
    return errors


def _fitting(sources: Sequence[DeviceArray]) -> list[int]:
    """Return the indices of blocks of doubles in which each is exactly a float32."""
    if not sources or word_bytes(sources[0]) != WIDE:
        return []
    wide = cupy().zeros(len(sources), np.uint32)
    _run("find_wide", sources, wide)
    numbers: list[int] = np.flatnonzero(pull(wide) == 0).tolist()
    return numbers


def _narrowed(sources: Sequence[DeviceArray]) -> list[DeviceArray]:
    """Return blocks of doubles as float32 or complex64."""
    if not sources:
        return []
    firsts, words, narrow = _allocate_words(sources)
    _run("narrow_words", sources, firsts, words)
    return narrow


def _allocate_words(
    blocks: Sequence[DeviceArray],
) -> tuple[npt.NDArray[np.int64], DeviceArray, list[DeviceArray]]:
    """Allocate float32 words for blocks of doubles.

    Return the offset of each block among the words, the words, and a view of them for each block.
    """
    dtype = blocks[0].dtype
    kind = np.dtype(f"{dtype.kind}{dtype.itemsize // 2}")
    ends = offsets_of(math.prod(block.shape) * component_count(dtype) for block in blocks)
    words = cupy().empty(ends[-1], np.uint32)
    narrow = [
        words[first:end].view(kind).reshape(block.shape)
        for first, end, block in zip(ends[:-1], ends[1:], blocks, strict=True)
    ]
    return ends[:-1], words, narrow


def _run(kernel: str, blocks: Sequence[DeviceArray], *arguments: object) -> None:
    """Launch a kernel with a warp per tile; NumPy arrays are copied to the device first."""
    table, module = block_table(blocks), load_module(__package__, FILE, dtype_defines(blocks[0]))
    there = [cupy().asarray(one) for one in (table.owners, table.rows, table.axes, *arguments)]
    launch(module.get_function(kernel), table.owners.size, THREADS, there)
