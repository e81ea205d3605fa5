"""GPU encoder of blocks: the transform, then an entropy stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from gangsaw.codecs.bwt.lanes.device.gpu_runs import DeviceRunLanes, fetch_bytes
from gangsaw.codecs.bwt.params import Params
from gangsaw.codecs.bwt.payload import raw, shorter
from gangsaw.codecs.bwt.transform.gpu_forward import transform_blocks
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.backends.batch import Encoded
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host

Encode: TypeAlias = Callable[[DeviceRunLanes], list[tuple[Bytes, ...] | None]]


def encode_bwt_blocks(
    sources: Sequence[DeviceArray], params: Params, stage: Encode, kind: int
) -> list[Encoded]:
    """Encode blocks, (n,) uint8 each, on the GPU; raw if coded payloads are not shorter.

    stage : entropy encoder: function from transformed strings to their coded parts, None for those
        that are not shorter
    """
    blocks = [cupy().ascontiguousarray(source) for source in sources]
    transformed = transform_blocks(blocks)
    bodies = _bodies([own.bwt for own in transformed], stage)
    found = []
    for block, own, body in zip(blocks, transformed, bodies, strict=True):
        parts = body and shorter(kind, to_host(own.rows).astype(np.uint32), body, block.shape[0])
        found.append(Encoded(parts or raw(fetch_bytes(block))))
    return found


def _bodies(bwts: Sequence[DeviceArray], stage: Encode) -> list[tuple[Bytes, ...] | None]:
    """Encode transformed strings; None for those not shorter, which an estimate tries to skip."""
    runs = DeviceRunLanes(bwts)
    taken = [i for i in range(len(bwts)) if not runs.gets_no_shorter(i)]
    bodies: list[tuple[Bytes, ...] | None] = [None] * len(bwts)
    if len(taken) < len(bwts):
        runs = DeviceRunLanes([bwts[i] for i in taken]) if taken else runs
    for i, body in zip(taken, stage(runs) if taken else (), strict=True):
        bodies[i] = body
    return bodies
