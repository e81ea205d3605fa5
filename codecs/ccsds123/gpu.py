"""GPU backend of the CCSDS-123 codec: what fits the device's memory goes in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gangsaw.codecs.ccsds123.device import gpu_decode, gpu_encode
from gangsaw.codecs.ccsds123.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.ccsds123.params import Params
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda.batches import in_batches
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray


def encode(sources: Sequence[DeviceArray], params: Params, output: Output) -> None:
    """Encode every block to one conforming stream, the same as on the CPU.

    Parameters
    ----------
    sources : CuPy blocks (z, y, x), integers of one dtype, any byte order and strides
    params : choices of the encoder
    output : in host memory; takes what `cpu.encode` gives it

    Raises
    ------
    BadParams : a sample does not fit the bit depth, or params do not fit the blocks
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """
    needed = [encoder_bytes(source, params) for source in sources]
    encode_run = partial(gpu_encode.encode, params=params)
    output.take_all(in_batches(encode_run, needed, sources))


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory that one block takes."""
    return encoder_device_bytes(params.image(source.shape, source.dtype))


def decode(runs: Runs, targets: Sequence[DeviceArray], params: Params) -> None:
    """Decode every block into its target.

    Parameters
    ----------
    runs : one conforming stream for each block, in host memory, verified
    targets : (z, y, x) CuPy views to fill, integers of one dtype, any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is no stream of its target's shape and dtype with these params
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """
    pairs = zip(runs.payloads, targets, strict=True)
    needed = [decoder_device_bytes(stream.size, target.shape[0]) for stream, target in pairs]
    in_batches(partial(gpu_decode.decode, params=params), needed, runs, targets)
