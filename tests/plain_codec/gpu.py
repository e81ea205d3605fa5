"""Its backend on a GPU, without a kernel; it notes how many blocks each call got."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.device import DeviceBackend, DeviceDecoder, DeviceEncoder
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.errors import CorruptChunk
from plain_codec import cpu
from plain_codec.codec import Params

CALLS: list[tuple[str, int]] = []


def encode_blocks(sources: Sequence[Any], params: Params) -> list[Encoded]:
    CALLS.append(("encode", len(sources)))
    copies = [to_host(cupy().ascontiguousarray(source)) for source in sources]
    return [cpu.encode_block(one, params, np.empty(0, np.uint8)) for one in copies]


def decode_blocks(
    encoded: Sequence[EncodedBlock], targets: Sequence[Any], params: Params
) -> dict[int, CorruptChunk]:
    CALLS.append(("decode", len(targets)))
    errors: dict[int, CorruptChunk] = {}
    for i, (one, target) in enumerate(zip(encoded, targets, strict=True)):
        host = np.empty(target.shape, target.dtype)
        try:
            cpu.decode_block(one, host, params)
        except CorruptChunk as error:
            errors[i] = error
        else:
            target[...] = cupy().asarray(host)
    return errors


def _bytes(block: Any) -> int:
    return 512 * (1 + block.nbytes // 512)


BACKEND = DeviceBackend(
    cpu.BACKEND,
    {None: DeviceEncoder(encode_blocks, lambda block, params: _bytes(block))},
    {None: DeviceDecoder(decode_blocks, lambda n, block, params: _bytes(block))},
)
