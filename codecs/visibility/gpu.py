"""GPU backend of the visibility codec: efforts run on the device, all else on the CPU.

What the host does for the device, choices from samples and heads and tables of blocks, NumPy does:
nothing is compiled for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Payload, Runs
from gangsaw.codecs.core.cuda.batches import in_batches
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.visibility import cpu
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import gpu_narrow, narrow
from gangsaw.codecs.visibility.dense.coding import gpu_decode as dense_decode
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.fast import gpu_decode as fast_decode
from gangsaw.codecs.visibility.fast import gpu_encode as fast_encode
from gangsaw.codecs.visibility.lanes.gpu_table import has_kernel, word_bytes
from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import gpu_raw, raw

# Takes blocks, returns their payloads, None where raw is not longer.
Encoder: TypeAlias = Callable[[Sequence[DeviceArray]], list[Payload | None]]
# Fills targets from payloads of one kind, returns the errors of those that are wrong.
Decoder: TypeAlias = Callable[
    [Sequence[Payload], Sequence[DeviceArray], Params], dict[int, CorruptChunk]
]
# By what parameters ask for; the others are encoded on the host.
ENCODERS: dict[str, Encoder] = {
    "fast": fast_encode.encode_blocks,
    "dense": gpu_narrow.encode_blocks,
}
# By the kind that a payload begins with; the others are decoded on the host.
DECODERS: dict[int, Decoder] = {
    raw.KIND: gpu_raw.decode_blocks,
    fast.KIND: fast_decode.decode_blocks,
    dense.KIND: dense_decode.decode_blocks,
    narrow.KIND: gpu_narrow.decode_blocks,
}


def encode(sources: Sequence[DeviceArray], params: Params, output: Output) -> None:
    """Encode every block to the same bytes as on the CPU.

    Parameters
    ----------
    sources : CuPy blocks (time, frequency, ...) of floats or complex numbers of one dtype, any
        byte order and strides
    params : choices of the encoder
    output : in host memory; takes what `cpu.encode` gives it

    Raises
    ------
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """
    needed = [encoder_bytes(source, params) for source in sources]
    output.take_all(in_batches(partial(_encode_run, params=params), needed, sources))


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory that encoding one block takes."""
    lanes = Lanes.of_block(source)
    return encoder_device_bytes(params.effort, source.nbytes, word_bytes(source), lanes)


def _encode_run(sources: Sequence[DeviceArray], params: Params) -> Runs:
    """Encode what fits the device at once."""
    encode_blocks = ENCODERS.get(params.coding)
    if encode_blocks is None or not all(has_kernel(source) for source in sources):
        output = Output(len(sources))
        cpu.encode([to_host(source) for source in sources], params, output)
        return output.runs()
    parts = encode_blocks(sources)
    return Runs(
        tuple(
            gpu_raw.encode(source) if part is None else part
            for part, source in zip(parts, sources, strict=True)
        )
    )


def decode(runs: Runs, targets: Sequence[DeviceArray], params: Params) -> None:
    """Decode every block into its target; a batch may hold blocks of several kinds.

    Parameters
    ----------
    runs : the blocks, in host memory, verified
    targets : CuPy views (time, frequency, ...) to fill, any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is not of its target's shape and dtype; the others are decoded
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """
    pairs = zip(runs.payloads, targets, strict=True)
    needed = [_decoder_bytes(payload.size, target) for payload, target in pairs]
    in_batches(partial(_decode_run, params=params), needed, runs, targets)


def _decoder_bytes(n_bytes: int, target: DeviceArray) -> int:
    return decoder_device_bytes(n_bytes, target.nbytes, Lanes.of_block(target))


def _decode_run(runs: Runs, targets: Sequence[DeviceArray], params: Params) -> None:
    """Decode what fits the device at once; name the first block that is wrong."""
    pairs = zip(runs.payloads, targets, strict=True)
    decoders = [_decoder_of(payload, target) for payload, target in pairs]
    wrong: dict[int, CorruptChunk] = {}
    for decoder in dict.fromkeys(decoders):
        numbers = [i for i, own in enumerate(decoders) if own is decoder]
        payloads = [runs.take(i) for i in numbers]
        errors = decoder(payloads, [targets[i] for i in numbers], params)
        wrong.update({numbers[i]: error for i, error in errors.items()})
    if wrong:
        first = min(wrong)
        raise CorruptChunk(wrong[first].reason, block=first) from wrong[first]


def _decoder_of(payload: Payload, target: DeviceArray) -> Decoder:
    decoder = DECODERS.get(int(payload[0])) if payload.size and has_kernel(target) else None
    return decoder or _decode_on_host


def _decode_on_host(
    payloads: Sequence[Payload], targets: Sequence[DeviceArray], params: Params
) -> dict[int, CorruptChunk]:
    """Decode blocks on the CPU and copy them; return the errors of those that are wrong."""
    host = [np.empty(target.shape, target.dtype) for target in targets]
    errors: dict[int, CorruptChunk] = {}

    def decode_one(i: int) -> None:
        try:
            cpu.decode(Runs((payloads[i],)), [host[i]], params)
        except CorruptChunk as error:
            errors[i] = error

    run_blocks(decode_one, len(payloads))
    for i, (target, block) in enumerate(zip(targets, host, strict=True)):
        if i not in errors:
            target[...] = cupy().asarray(block)
    return errors
