"""GPU backend of the codec of nucleotides: packing, runs and marks on the device."""

from __future__ import annotations

from gangsaw.codecs.core.backends.device import DeviceBackend, DeviceDecoder, DeviceEncoder
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.dna import cpu
from gangsaw.codecs.dna.device.gpu_decode import decode_blocks
from gangsaw.codecs.dna.device.gpu_encode import encode_blocks, is_plain
from gangsaw.codecs.dna.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.dna.params import Params


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return an upper bound of the device memory to encode one block, in bytes."""
    return encoder_device_bytes(source.shape[0], params.has_lanes)


def decoder_bytes(n_bytes: int, target: DeviceArray, params: Params) -> int:
    """Return an upper bound of the device memory to decode one payload of `n_bytes` bytes."""
    return decoder_device_bytes(n_bytes, target.shape[0], params.has_lanes)


BACKEND = DeviceBackend(
    cpu.BACKEND,
    {None: DeviceEncoder(encode_blocks, encoder_bytes)},
    {None: DeviceDecoder(decode_blocks, decoder_bytes, is_plain=is_plain)},
)
