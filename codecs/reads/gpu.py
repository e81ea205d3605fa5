"""GPU backend of the codec of reads: windows are decoded on the device, a thread for each.

Heads and tables of blocks are read on the host, and so are blocks that are stored, by the CPU's own
functions. Numba compiles each of these once for a machine:

    entropy.tables        read_tables fill_slots normalise write_tables    tables of symbols
    entropy.rans          lay_out_symbols                                  the same for an encoder
    quality.tree          read_level read_labels fill_map                  contexts of a block
    name.model            fill_modes                                       a mode for each stream
    sequence.dictionary   read_columns index_columns                       columns, anchors

Offsets are encoded on the device. Text is encoded on the host, wherever it lies: layouts, trees and
modes are chosen one step after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda.batches import in_batches
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads import cpu
from gangsaw.codecs.reads.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.reads.name import gpu_decode as name
from gangsaw.codecs.reads.offset import gpu_decode as gpu_offset_decode
from gangsaw.codecs.reads.offset import gpu_encode as gpu_offset_encode
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.quality import gpu_decode as quality
from gangsaw.codecs.reads.sequence import gpu_decode as sequence
from gangsaw.codecs.reads.windows.gpu_windows import EncodedBlock

# Fills contiguous targets from payloads, returns the errors of those that are wrong.
Decoder: TypeAlias = Callable[
    [Sequence[EncodedBlock], Sequence[DeviceArray], Params], dict[int, CorruptChunk]
]
DECODERS: dict[str, Decoder] = {
    "sequence": sequence.DECODER,
    "quality": quality.DECODER,
    "name": name.DECODER,
    "offset": gpu_offset_decode.decode_blocks,
}


def encode(sources: Sequence[DeviceArray], params: Params, output: Output) -> None:
    """Encode every block to the same bytes as on the CPU: offsets on the device, text on the host.

    Parameters
    ----------
    sources : CuPy blocks (n,) of uint8, or of uint64 for offsets, any strides
    params : choices of the encoder
    output : in host memory; takes what `cpu.encode` gives it

    Raises
    ------
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """
    if not params.has_device_encoder:
        cpu.encode([to_host(source) for source in sources], params, output)
        return
    needed = [encoder_bytes(source, params) for source in sources]
    encode_run = partial(gpu_offset_encode.encode_blocks, params=params)
    output.take_all(in_batches(encode_run, needed, sources))


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory that encoding one block of offsets takes."""
    return encoder_device_bytes(source.shape[0], params.sizes.lane)


def decode(runs: Runs, targets: Sequence[DeviceArray], params: Params) -> None:
    """Decode every block into its target.

    Parameters
    ----------
    runs : the encoded blocks, in host memory, verified
    targets : (n,) CuPy views to fill, of the dtype of the kind, any strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is not of its target's extent and these parameters; the others are
        decoded
    DeviceError : one block alone is too large for the device's memory, or the device failed
    """
    pairs = zip(runs.payloads, targets, strict=True)
    needed = [decoder_bytes(payload.size, target, params) for payload, target in pairs]
    in_batches(partial(_decode_run, params=params), needed, runs, targets)


def decoder_bytes(n_bytes: int, target: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory that decoding one block of so many bytes takes."""
    return decoder_device_bytes(params.kind, n_bytes, target.shape[0], params.sizes.lane)


def _decode_run(runs: Runs, targets: Sequence[DeviceArray], params: Params) -> None:
    """Decode what fits the device at once; name the first block that is wrong."""
    outs = [_contiguous(target) for target in targets]
    wrong = DECODERS[params.kind]([_encoded(runs, i) for i in range(len(runs))], outs, params)
    for i, (target, out) in enumerate(zip(targets, outs, strict=True)):
        if out is not target and i not in wrong:
            target[...] = out
    if wrong:
        first = min(wrong)
        raise CorruptChunk(wrong[first].reason, block=first) from wrong[first]


def _encoded(runs: Runs, i: int) -> EncodedBlock:
    assert runs.lane_bits is not None
    there = None if runs.lanes_there is None else runs.lanes_there[i]
    return EncodedBlock(runs.take(i), runs.lane_bits[i], there)


def _contiguous(target: DeviceArray) -> DeviceArray:
    """Return the target, or where its items lie apart what is to be copied there."""
    if target.strides == (target.dtype.itemsize,):
        return target
    out: DeviceArray = cupy().empty(target.shape, target.dtype)
    return out
