"""GPU backend of the Burrows-Wheeler codec: the device codes blocks of both efforts, both ways.

The host codes heads of lanes and tables; raw blocks pass through the host.
"""

from __future__ import annotations

from functools import partial

from gangsaw.codecs.bwt import cpu
from gangsaw.codecs.bwt.dense.device import gpu_decode as dense
from gangsaw.codecs.bwt.dense.device import gpu_encode as dense_encode
from gangsaw.codecs.bwt.fast.device import gpu_decode as fast
from gangsaw.codecs.bwt.fast.device import gpu_encode as fast_encode
from gangsaw.codecs.bwt.gpu_decode import Decode, decode_bwt_blocks
from gangsaw.codecs.bwt.gpu_encode import Encode, encode_bwt_blocks
from gangsaw.codecs.bwt.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.bwt.params import Params
from gangsaw.codecs.bwt.payload import DENSE, FAST
from gangsaw.codecs.core.backends.device import DeviceBackend, DeviceDecoder, DeviceEncoder
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray


def decoder_bytes(n_bytes: int, target: DeviceArray, params: Params, effort: str) -> int:
    """Return an upper bound of the device memory to decode one block of `n_bytes` coded bytes."""
    return decoder_device_bytes(n_bytes, target.shape[0], effort)


def is_contiguous(target: DeviceArray) -> bool:
    """Return True if a target is contiguous, so that kernels can fill it in place."""
    return target.strides == (target.dtype.itemsize,)


def decoder(stage: Decode, effort: str) -> DeviceDecoder[Params]:
    """Return the GPU decoder of an effort ("dense" or "fast") with this entropy stage."""
    return DeviceDecoder(
        partial(decode_bwt_blocks, stage=stage),
        partial(decoder_bytes, effort=effort),
        is_plain=is_contiguous,
    )


def encoder_bytes(source: DeviceArray, params: Params) -> int:
    """Return an upper bound of the device memory to encode one block, in bytes."""
    return encoder_device_bytes(source.shape[0], params.effort)


def encoder(stage: Encode, kind: int) -> DeviceEncoder[Params]:
    """Return the GPU encoder with this entropy stage; `kind` of its payloads: DENSE or FAST."""
    return DeviceEncoder(partial(encode_bwt_blocks, stage=stage, kind=kind), encoder_bytes)


BACKEND = DeviceBackend(
    cpu.BACKEND,
    {
        DENSE: encoder(dense_encode.encode_dense_blocks, DENSE),
        FAST: encoder(fast_encode.encode_fast_blocks, FAST),
    },
    {
        DENSE: decoder(dense.decode_dense_blocks, "dense"),
        FAST: decoder(fast.decode_fast_blocks, "fast"),
    },
)
