"""GPU backend of the codec of reads, which decodes windows on the device, a thread for each.

The host reads headers and tables of blocks, and stored blocks, with the CPU's own functions. Numba
compiles each of these once per machine:

    entropy.tables        read_tables fill_slots normalise write_tables    tables of symbols
    entropy.rans          build_symbol_table                               the same for an encoder
    quality.tree          read_level read_labels fill_map                  contexts of a block
    name.model            fill_modes                                       a mode for each stream
    sequence.dictionary   read_columns index_columns                       columns, anchors

Offsets are encoded on the device. Text is encoded on the host, wherever it is stored: layouts,
trees and modes are chosen in serial steps.
"""

from __future__ import annotations

from gangsaw.codecs.core.backends.device import Decode, DeviceBackend, DeviceDecoder, DeviceEncoder
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.reads import cpu
from gangsaw.codecs.reads.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.reads.name import gpu_decode as name
from gangsaw.codecs.reads.offset import gpu_decode as gpu_offset_decode
from gangsaw.codecs.reads.offset import gpu_encode as gpu_offset_encode
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.quality import gpu_decode as quality
from gangsaw.codecs.reads.sequence import gpu_decode as sequence


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory of encoding one block of offsets, in bytes."""
    return encoder_device_bytes(source.shape[0], params.sizes.lane)


def decoder_bytes(n_bytes: int, target: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory of decoding one block of n_bytes bytes, in bytes."""
    return decoder_device_bytes(params.kind, n_bytes, target.shape[0], params.sizes.lane)


def is_contiguous(target: DeviceArray) -> bool:
    """Return True if kernels can write to a target directly."""
    return target.strides == (target.dtype.itemsize,)


def _decoder(decode: Decode[Params]) -> DeviceDecoder[Params]:
    return DeviceDecoder(decode, decoder_bytes, is_plain=is_contiguous)


BACKEND = DeviceBackend(
    cpu.BACKEND,
    {"offset": DeviceEncoder(gpu_offset_encode.encode_offset_blocks, encoder_bytes)},
    {
        "sequence": _decoder(sequence.DECODER),
        "quality": _decoder(quality.DECODER),
        "name": _decoder(name.DECODER),
        "offset": _decoder(gpu_offset_decode.decode_offset_blocks),
    },
)
