"""The base of the numcodecs classes: the same frames in Zarr v2."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import ClassVar, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray_like, ensure_ndarray_like, ndarray_copy

from gangsaw.codecs.core.arrays import Array
from gangsaw.codecs.core.cuda.device import empty_in_memory_of, to_host
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec

HOME = "gangsaw.codecs"  # derives the classes by name


class _Flags(Protocol):
    """How an array lies in memory."""

    c_contiguous: bool
    f_contiguous: bool


class _ArrayLike(Array, Protocol):
    """What numcodecs hands over: a NumPy or CuPy array."""

    @property
    def flags(self) -> _Flags: ...


class BlockCodecV2(Codec):  # type: ignore[misc]  # numcodecs has no types
    """A `BlockCodec` for numcodecs; `derived` makes a subclass, with `codec_id` and `codec_type`.

    numcodecs hands over buffers without shape or dtype, so the codec itself has to know what a
    chunk is. That it stands in the metadata, not in the bytes, is also what lets a reader refuse
    false bytes.

    Parameters
    ----------
    shape : extents of a chunk
    dtype : dtype of the array
    memory_order : "C" or "F", of the array
    parameters : of the codec
    """

    codec_type: ClassVar[type[BlockCodec]]

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: npt.DTypeLike,
        memory_order: Literal["C", "F"] = "C",
        **parameters: object,
    ) -> None:
        self.codec = self.codec_type(**parameters)
        self.shape, self.dtype = tuple(map(int, shape)), np.dtype(dtype)
        self.memory_order: Literal["C", "F"] = memory_order
        if memory_order not in ("C", "F"):
            raise BadParams(f"memory_order must be C or F, got {memory_order!r}")
        self.codec.coder(self.shape, self.dtype)

    def encode(self, buf: object) -> bytes:
        """Return the frame of a chunk: an array of the chunk's shape, or its flat buffer."""
        return bytes(self.codec.encode_chunk(self._chunk(ensure_ndarray_like(buf))))

    def decode(self, buf: object, out: object = None) -> Array:
        """Return the chunk, in the array's memory order, where `buf` lies; or in `out`."""
        data = ensure_contiguous_ndarray_like(buf)
        chunk = empty_in_memory_of(data, self.shape, self.dtype, self.memory_order)
        self.codec.decode_chunk(to_host(data).view(np.uint8), chunk)
        copied: Array = ndarray_copy(chunk, out)
        return copied

    def get_config(self) -> dict[str, object]:
        """Return the JSON configuration."""
        place = {
            "shape": list(self.shape),
            "dtype": self.dtype.str,
            "memory_order": self.memory_order,
        }
        return {"id": self.codec_id, **place, **self.codec.params.to_dict()}

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for what is missing or unknown."""
        values = {name: value for name, value in config.items() if name != "id"}
        try:
            place = {name: values.pop(name) for name in ("shape", "dtype")}
        except KeyError as missing:
            raise BadParams(f"{cls.codec_id} in Zarr v2 needs the chunk's {missing}") from None
        place["memory_order"] = values.pop("memory_order", "C")
        arguments = vars(cls.codec_type.params_type.from_dict(values)) | place
        return cls(**arguments)

    def _chunk(self, array: _ArrayLike) -> Array:
        if array.shape == self.shape and array.dtype == self.dtype:
            flags = array.flags
            wrong = flags.c_contiguous if self.memory_order == "F" else flags.f_contiguous
            if flags.c_contiguous != flags.f_contiguous and wrong:
                raise BadParams(
                    f"the array is not in memory order {self.memory_order}: "
                    "give the codec its memory_order"
                )
            return array
        if array.nbytes != math.prod(self.shape) * self.dtype.itemsize:
            raise BadParams(
                f"chunk of {array.nbytes} bytes, shape {array.shape}; "
                f"the codec was made for {self.shape} of {self.dtype}"
            )
        flat = ensure_contiguous_ndarray_like(array).view(self.dtype)
        chunk: Array = flat.reshape(self.shape, order=self.memory_order)
        return chunk


@cache
def derived(codec_type: type[BlockCodec]) -> type[BlockCodecV2]:
    """Return the Zarr v2 class of a codec: `gangsaw.codecs.<Name>V2`, under which pickle finds it.

    zarr.create_array(
        store, zarr_format=2, chunks=chunks, dtype="uint16", ...,
        compressors=NameV2(shape=chunks, dtype="uint16", **parameters),
    )
    """
    members = {
        "__doc__": f"Zarr v2 codec `{codec_type.codec_name}`, through numcodecs.",
        "__module__": HOME,
        "codec_id": codec_type.codec_name,
        "codec_type": codec_type,
    }
    return type(f"{codec_type.__name__}V2", (BlockCodecV2,), members)
