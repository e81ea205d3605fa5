"""GPU backend of CCSDS-123: one thread per band, all blocks in one launch."""

from __future__ import annotations

from gangsaw.codecs.ccsds123 import cpu
from gangsaw.codecs.ccsds123.device import gpu_decode, gpu_encode
from gangsaw.codecs.ccsds123.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.ccsds123.narrow import coded_dtype
from gangsaw.codecs.ccsds123.params import Params
from gangsaw.codecs.core.backends.device import DeviceBackend, DeviceDecoder, DeviceEncoder
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory of encoding one block, in bytes."""
    return encoder_device_bytes(params.image(source.shape, coded_dtype(source.dtype)))


def decoder_bytes(n_bytes: int, target: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory of decoding one block of n_bytes bytes, in bytes."""
    return decoder_device_bytes(n_bytes, target.shape[0])


BACKEND = DeviceBackend(
    cpu.BACKEND,
    {None: DeviceEncoder(gpu_encode.encode_blocks, encoder_bytes, gpu_encode.has_kernel)},
    {None: DeviceDecoder(gpu_decode.decode_blocks, decoder_bytes, gpu_decode.has_kernel)},
)
