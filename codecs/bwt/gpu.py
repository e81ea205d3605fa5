"""GPU backend of the codec: blocks of effort dense are decoded on the device.

Other blocks are coded on the host, wherever they lie, and so are the heads of lanes.
"""

from __future__ import annotations

from gangsaw.codecs.bwt import cpu
from gangsaw.codecs.bwt.gpu_decode import decode_blocks
from gangsaw.codecs.bwt.memory import decoder_device_bytes
from gangsaw.codecs.bwt.params import Params
from gangsaw.codecs.bwt.payload import DENSE
from gangsaw.codecs.core.coding.device import DeviceBackend, DeviceDecoder
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray


def decoder_bytes(n_bytes: int, target: DeviceArray, params: Params) -> int:
    """Return a bound on the device memory that decoding one block of so many bytes takes."""
    return decoder_device_bytes(n_bytes, target.shape[0])


def is_contiguous(target: DeviceArray) -> bool:
    """Whether kernels fill a target as it lies."""
    return target.strides == (target.dtype.itemsize,)


BACKEND = DeviceBackend(
    cpu.BACKEND, {}, {DENSE: DeviceDecoder(decode_blocks, decoder_bytes, is_plain=is_contiguous)}
)
