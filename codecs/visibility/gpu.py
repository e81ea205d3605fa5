"""GPU backend of the visibility codec: both efforts run on the device, all else on the CPU.

The host chooses from samples and builds heads and tables of blocks with NumPy, so that nothing is
compiled for it.
"""

from __future__ import annotations

from gangsaw.codecs.core.backends.device import DeviceBackend, DeviceDecoder, DeviceEncoder
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.visibility import cpu
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import gpu_narrow, narrow
from gangsaw.codecs.visibility.dense.coding import gpu_decode as dense_decode
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.fast import gpu_decode as fast_decode
from gangsaw.codecs.visibility.fast import gpu_encode as fast_encode
from gangsaw.codecs.visibility.integers.form import KIND as INTEGERS
from gangsaw.codecs.visibility.integers.gpu_sample import may_hold_integers
from gangsaw.codecs.visibility.lanes.gpu_table import has_kernel, word_bytes
from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import gpu_raw, raw


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return an upper bound of the device memory to encode one block, in bytes."""
    lanes = Lanes.of_block(source)
    return encoder_device_bytes(params.effort, source.nbytes, word_bytes(source), lanes)


def decoder_bytes(n_bytes: int, target: DeviceArray, params: Params) -> int:
    """Return an upper bound of the device memory to decode one block of `n_bytes` bytes."""
    return decoder_device_bytes(n_bytes, target.nbytes, Lanes.of_block(target))


def takes(block: DeviceArray, params: Params) -> bool:
    """Return True if kernels support a block."""
    return has_kernel(block)


def takes_dense(block: DeviceArray, params: Params) -> bool:
    """Return True if GPUs can encode a block as `dense`; the host tries integers on some blocks."""
    return takes(block, params) and not may_hold_integers(block)


BACKEND = DeviceBackend(
    cpu.BACKEND,
    {
        fast.KIND: DeviceEncoder(fast_encode.encode_blocks, encoder_bytes, takes),
        INTEGERS: DeviceEncoder(gpu_narrow.encode_blocks, encoder_bytes, takes_dense),
    },
    {
        raw.KIND: DeviceDecoder(gpu_raw.decode_blocks, decoder_bytes, takes),
        fast.KIND: DeviceDecoder(fast_decode.decode_blocks, decoder_bytes, takes),
        dense.KIND: DeviceDecoder(dense_decode.decode_blocks, decoder_bytes, takes),
        narrow.KIND: DeviceDecoder(gpu_narrow.decode_blocks, decoder_bytes, takes),
    },
    gpu_raw.encode_raw_block,
)
