"""GPU backend of the visibility codec: efforts on the device, all else by way of the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.blocks import Blocks
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import in_runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.visibility import cpu
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import gpu_decode as gpu_dense_decode
from gangsaw.codecs.visibility.dense import gpu_narrow as gpu_dense_narrow
from gangsaw.codecs.visibility.dense import narrow as dense_narrow
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.fast import gpu_decode, gpu_encode
from gangsaw.codecs.visibility.lanes.gpu_table import has_kernel, word_bytes
from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.visibility.params import Params


def encode(sources: Sequence[Any], params: Params) -> Blocks:
    """Encode every block to the same bytes as on the CPU.

    Parameters
    ----------
    sources : CuPy blocks (time, frequency, ...) of floats or complex numbers of one dtype, any
        byte order and strides
    params : choices of the encoder

    Returns
    -------
    Blocks : in host memory, as `cpu.encode` gives them

    Raises
    ------
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """

    def work(run: slice) -> Blocks:
        return _encode_run(sources[run], params)

    def needed(run: slice) -> int:
        return sum(encoder_bytes(source, params) for source in sources[run])

    return Blocks.joined(in_runs(work, len(sources), needed))


def decode(coded: Blocks, targets: Sequence[Any], params: Params) -> None:
    """Decode every block into its target; a batch may hold blocks of several kinds.

    Parameters
    ----------
    coded : the blocks, in host memory
    targets : CuPy views (time, frequency, ...) to fill, any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is none of its target's shape and dtype; the others are decoded
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """

    def work(run: slice) -> None:
        _decode_run(coded[run], targets[run], params)

    def needed(run: slice) -> int:
        pairs = zip(coded.parts[run], targets[run], strict=True)
        return sum(
            decoder_device_bytes(part.size, target.nbytes, Lanes.of_block(target))
            for part, target in pairs
        )

    in_runs(work, len(targets), needed)


def encoder_bytes(source: Any, params: Params) -> int:
    """Return a bound on the device memory that one block takes."""
    lanes = Lanes.of_block(source)
    return encoder_device_bytes(params.effort, source.nbytes, word_bytes(source), lanes)


def _encode_run(sources: Sequence[Any], params: Params) -> Blocks:
    """Encode what fits the device at once."""
    if params.is_construction or not all(has_kernel(source) for source in sources):
        return cpu.encode([to_host(source) for source in sources], params)
    parts = ENCODERS[params.effort](sources)
    return Blocks(
        tuple(
            cpu.encode_raw(to_host(source)) if part is None else part
            for part, source in zip(parts, sources, strict=True)
        )
    )


def _decode_run(coded: Blocks, targets: Sequence[Any], params: Params) -> None:
    """Decode what fits the device at once; name the first block that is wrong."""
    decoders = [
        DECODERS.get(bytes(part[:1]), _decode_on_host) if has_kernel(target) else _decode_on_host
        for part, target in zip(coded.parts, targets, strict=True)
    ]
    wrong: dict[int, CorruptChunk] = {}
    for decoder in dict.fromkeys(decoders):
        numbers = [i for i, own in enumerate(decoders) if own is decoder]
        parts = [coded.parts[i] for i in numbers]
        errors = decoder(parts, [targets[i] for i in numbers], params)
        wrong.update({numbers[i]: error for i, error in errors.items()})
    if wrong:
        first = min(wrong)
        raise CorruptChunk(wrong[first].reason, block=first) from wrong[first]


def _decode_on_host(
    parts: Sequence[npt.NDArray[np.uint8]], targets: Sequence[Any], params: Params
) -> dict[int, CorruptChunk]:
    """Decode blocks on the CPU and copy them; return the errors of those that are wrong."""
    host = [np.empty(target.shape, target.dtype) for target in targets]
    errors: dict[int, CorruptChunk] = {}

    def decode_one(i: int) -> None:
        try:
            cpu.decode_block(parts[i], host[i], params)
        except CorruptChunk as error:
            errors[i] = error

    run_blocks(decode_one, len(parts))
    for i, (target, block) in enumerate(zip(targets, host, strict=True)):
        if i not in errors:
            target[...] = cupy().asarray(block)
    return errors


# By effort; each takes blocks and returns their payloads, None where raw is not longer.
ENCODERS = {"fast": gpu_encode.encode, "dense": gpu_dense_narrow.encode}
# By what a payload begins with; each fills targets and returns the errors of those that are wrong.
DECODERS = {
    bytes([fast.KIND]): gpu_decode.decode,
    bytes([dense.KIND]): gpu_dense_decode.decode,
    bytes([dense_narrow.KIND]): gpu_dense_narrow.decode,
}
