"""Entropy stages on a GPU against the CPU: the same strings, the same errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import CorruptChunk

Octets = npt.NDArray[np.uint8]
HostDecode = Callable[[Octets, Octets], None]
DeviceDecode = Callable[[list[Octets], list[Any]], dict[int, CorruptChunk]]
FENCE = 173


def on_cpu(decode: HostDecode, data: Octets, n: int) -> bytes | str:
    """Return the bytes of a block, or why there are none."""
    out = np.empty(n, np.uint8)
    try:
        decode(data, out)
    except CorruptChunk as error:
        return error.reason
    return out.tobytes()


def on_gpu(
    cupy: Any, decode_blocks: DeviceDecode, data: list[Octets], sizes: list[int]
) -> list[bytes | str]:
    """Return the bytes of blocks, or why there are none; nothing beside them is touched."""
    memory = [cupy.full(n + 32, FENCE, np.uint8) for n in sizes]
    outs = [own[9 : 9 + n] for own, n in zip(memory, sizes, strict=True)]
    errors = decode_blocks(data, outs)
    for own, n in zip(memory, sizes, strict=True):
        assert (own.get()[[*range(9), *range(n + 9, n + 32)]] == FENCE).all()
    found = [out.get().tobytes() for out in outs]
    return [errors[i].reason if i in errors else one for i, one in enumerate(found)]


def check_decoding(
    cupy: Any,
    decode: HostDecode,
    decode_blocks: DeviceDecode,
    data: list[Octets],
    sizes: list[int],
) -> list[bytes | str]:
    """Decode blocks by both, compare them, and return what was found."""
    found = on_gpu(cupy, decode_blocks, data, sizes)
    for i, (own, n) in enumerate(zip(data, sizes, strict=True)):
        assert found[i] == on_cpu(decode, own, n)
    return found
