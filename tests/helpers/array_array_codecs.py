"""Codecs from array to array: as zarr's `cast_value` and `transpose`, for any dtype and shape."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from zarr.abc.codec import ArrayArrayCodec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import NDBuffer
from zarr.dtype import parse_dtype
from zarr.registry import register_codec


@dataclass(frozen=True)
class Viewed(ArrayArrayCodec):
    """Hands on a chunk in another dtype and shape; None keeps it as it is.

    Where the chunk keeps its size in bytes, it keeps its bits; else its values.
    """

    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    is_fixed_size = True

    def to_dict(self) -> dict[str, Any]:
        shape = None if self.shape is None else list(self.shape)
        return {"name": "test.viewed", "configuration": {"dtype": self.dtype, "shape": shape}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        of = data["configuration"]
        return cls(of["dtype"], None if of["shape"] is None else tuple(of["shape"]))

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        if self.dtype is not None:
            dtype = parse_dtype(np.dtype(self.dtype), zarr_format=3)
            chunk_spec = replace(chunk_spec, dtype=dtype, fill_value=dtype.default_scalar())
        return chunk_spec if self.shape is None else replace(chunk_spec, shape=self.shape)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        return input_byte_length

    def _encode_sync(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return _as(chunk_array, self.resolve_metadata(chunk_spec))

    def _decode_sync(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return _as(chunk_array, chunk_spec)

    async def _encode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._encode_sync(chunk_data, chunk_spec)

    async def _decode_single(self, chunk_data: NDBuffer, chunk_spec: ArraySpec) -> NDBuffer:
        return self._decode_sync(chunk_data, chunk_spec)


def _as(buffer: NDBuffer, spec: ArraySpec) -> NDBuffer:
    flat, dtype = buffer.as_numpy_array().reshape(-1), spec.dtype.to_native_dtype()
    same_size = flat.nbytes == math.prod(spec.shape) * dtype.itemsize
    turned = flat.view(dtype) if same_size else flat.astype(dtype)
    return type(buffer).from_numpy_array(turned.reshape(spec.shape))


register_codec("test.viewed", Viewed)
