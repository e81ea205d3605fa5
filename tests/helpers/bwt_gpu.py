"""Entropy stages on a GPU against the CPU: the same strings, the same errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.lanes.device.gpu_runs import DeviceRunLanes
from gangsaw.codecs.core.errors import CorruptChunk

Octets = npt.NDArray[np.uint8]
HostDecode = Callable[[Octets, Octets], None]
DeviceDecode = Callable[[list[Octets], list[Any]], dict[int, CorruptChunk]]
HostEncode = Callable[[Octets], Iterable[Octets] | None]
DeviceEncode = Callable[[DeviceRunLanes], list[tuple[Octets, ...] | None]]
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


def check_encoding(
    cupy: Any, parts_of: HostEncode, encode_blocks: DeviceEncode, bwts: list[Octets]
) -> None:
    """Encode strings by both: the same bytes, or none of both."""
    found = encode_blocks(DeviceRunLanes([cupy.asarray(bwt) for bwt in bwts]))
    for bwt, own in zip(bwts, found, strict=True):
        parts = list(parts_of(bwt) or ())
        other = np.concatenate(parts).tobytes() if parts else b""
        if own is None:
            assert not parts or len(other) >= bwt.size
        else:
            assert np.concatenate(own).tobytes() == other
            assert len(other) < bwt.size
