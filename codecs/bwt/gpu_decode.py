"""GPU decoder of blocks: an entropy stage decodes strings, then the transform is inverted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from gangsaw.codecs.bwt.params import Params
from gangsaw.codecs.bwt.payload import Rows, split_payload
from gangsaw.codecs.bwt.transform.gpu_inverse import invert_blocks
from gangsaw.codecs.bwt.transform.gpu_radix import DeviceTransformed
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.backends.batch import EncodedBlock
from gangsaw.codecs.core.backends.device import Errors
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.errors import CorruptChunk

Decode: TypeAlias = Callable[[Sequence[Bytes], Sequence[DeviceArray]], Errors]


def decode_bwt_blocks(
    blocks: Sequence[EncodedBlock],
    targets: Sequence[DeviceArray],
    params: Params,
    stage: Decode,
) -> Errors:
    """Decode payloads of one kind on the GPU to contiguous (n,) uint8; return errors of bad ones.

    stage : entropy decoder: function that fills transformed strings and returns errors
    """
    numbers, rows, bodies = list[int](), list[Rows](), list[Bytes]()
    errors: Errors = {}
    for i, (block, target) in enumerate(zip(blocks, targets, strict=True)):
        try:
            own, body = split_payload(block.data, target.shape[0])
        except CorruptChunk as error:
            errors[i] = error
        else:
            numbers.append(i)
            rows.append(own)
            bodies.append(body)
    outs = [targets[i] for i in numbers]
    found = _decode(rows, bodies, outs, stage) if outs else {}
    return errors | {numbers[i]: error for i, error in found.items()}


def _decode(
    rows: Sequence[Rows], bodies: Sequence[Bytes], outs: Sequence[DeviceArray], stage: Decode
) -> Errors:
    """Decode transformed strings and invert the transform of valid ones; return all errors."""
    cp = cupy()
    strings = [cp.empty(out.shape, np.uint8) for out in outs]
    errors = stage(bodies, strings)
    right = [i for i in range(len(outs)) if i not in errors]
    if right:
        there = [DeviceTransformed(strings[i], cp.asarray(rows[i])) for i in right]
        found = invert_blocks(there, [outs[i] for i in right])
        errors |= {right[i]: error for i, error in found.items()}
    return errors
