"""Base classes of the numcodecs codecs, with the same frames in Zarr v2."""

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
from gangsaw.codecs.core.container.checksum import Bytes
from gangsaw.codecs.core.cuda.device import empty_in_memory_of, to_host
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
from gangsaw.codecs.core.zarr.named import NamedCodec
from gangsaw.codecs.core.zarr.trailer import ChunkKind, pack_trailer, unpack_trailer

HOME = "gangsaw.codecs"  # the module that creates the classes by name


class _Flags(Protocol):
    """Interface of array flags: the memory order."""

    c_contiguous: bool
    f_contiguous: bool


class _ArrayLike(Array, Protocol):
    """Interface of a NumPy or CuPy array, as numcodecs passes it."""

    @property
    def flags(self) -> _Flags: ...


class BlockCodecV2(Codec):  # type: ignore[misc]  # numcodecs has no types
    """Adapter of a `BlockCodec` to numcodecs, for Zarr v2; `derived` makes a subclass per codec.

    A subclass has `codec_id` and `codec_type`. numcodecs does not describe the array to a codec
    that decodes. With `shape` and `dtype` the metadata describe a chunk, so a reader can reject
    invalid bytes. Without them, as xarray's encodings require, each chunk has them in a trailer.

    Parameters
    ----------
    shape : extents of a chunk; None accepts chunks of any shape, up to 1 GiB each
    dtype : dtype of the array; None like `shape`, both or none
    memory_order : "C" or "F", of the array; used only with a shape
    parameters : of the codec
    """

    codec_type: ClassVar[type[BlockCodec]]

    def __init__(
        self,
        shape: tuple[int, ...] | None = None,
        dtype: npt.DTypeLike = None,
        memory_order: Literal["C", "F"] = "C",
        **parameters: object,
    ) -> None:
        self.codec = self.codec_type(**parameters)
        if memory_order not in ("C", "F"):
            raise BadParams(f"memory_order must be C or F, got {memory_order!r}")
        if (shape is None) != (dtype is None):
            raise BadParams(f"{self.codec_id} needs both shape and dtype of a chunk, or neither")
        self.place: ChunkKind | None = None
        if shape is not None:
            self.place = ChunkKind(tuple(map(int, shape)), np.dtype(dtype), memory_order)
            self.codec.coder(self.place.shape, self.place.dtype)

    def encode(self, buf: object) -> bytes:
        """Return the frame of a chunk, an array, or a flat buffer if the shape is known.

        Raises
        ------
        BadParams : the codec cannot code such a chunk, or was created for another one
        """
        array: _ArrayLike = ensure_ndarray_like(buf)
        if self.place is not None:
            return bytes(self.codec.encode_chunk(_placed(array, self.place)))
        behind = pack_trailer(_place_of(array))
        return bytes(self.codec.encode_chunk(array)) + behind

    def decode(self, buf: object, out: object = None) -> Array:
        """Return the chunk, in the array's memory order and the memory of `buf`, or in `out`.

        Raises
        ------
        CorruptChunk : the bytes are damaged
        """
        data = ensure_contiguous_ndarray_like(buf)
        frame: Bytes = to_host(data).view(np.uint8)
        place = self.place
        if place is None:
            place, frame = unpack_trailer(frame)
            self._check(place, frame)
        chunk = empty_in_memory_of(data, *place)
        self.codec.decode_chunk(frame, chunk)
        copied: Array = ndarray_copy(chunk, out)
        return copied

    def get_config(self) -> dict[str, object]:
        """Return the JSON configuration."""
        known: dict[str, object] = {}
        if self.place is not None:
            shape, dtype, order = self.place
            known = {"shape": list(shape), "dtype": dtype.str, "memory_order": order}
        return {"id": self.codec_id, **known, **self.codec.params.to_dict()}

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for missing or unknown values."""
        values = {name: value for name, value in config.items() if name != "id"}
        known = {name: values.pop(name) for name in ChunkKind._fields if name in values}
        arguments = vars(cls.codec_type.params_type.from_dict(values)) | known
        return cls(**arguments)

    def _check(self, place: ChunkKind, frame: Bytes) -> None:
        """Raise CorruptChunk, before memory is allocated, if a chunk does not match its frame."""
        try:
            coder = self.codec.coder(place.shape, place.dtype)
        except BadParams as error:
            raise CorruptChunk(f"invalid data after the frame: {error}") from error
        coder.whole(frame)


def _place_of(array: _ArrayLike) -> ChunkKind:
    """Return extents, dtype and memory order of an array."""
    flags = array.flags
    turned = flags.f_contiguous and not flags.c_contiguous
    return ChunkKind(array.shape, np.dtype(array.dtype), "F" if turned else "C")


def _placed(array: _ArrayLike, place: ChunkKind) -> Array:
    """Return an array as a chunk of this description, reshaping a flat buffer of equal size.

    It raises BadParams if the array is no such chunk.
    """
    if array.shape == place.shape and array.dtype == place.dtype:
        flags = array.flags
        wrong = flags.c_contiguous if place.memory_order == "F" else flags.f_contiguous
        if flags.c_contiguous != flags.f_contiguous and wrong:
            raise BadParams(
                f"the array is not in memory order {place.memory_order}: "
                "give the codec its memory_order"
            )
        return array
    if array.nbytes != math.prod(place.shape) * place.dtype.itemsize:
        raise BadParams(
            f"chunk of {array.nbytes} bytes, shape {array.shape}; "
            f"the codec was made for {place.shape} of {place.dtype}"
        )
    flat = ensure_contiguous_ndarray_like(array).view(place.dtype)
    chunk: Array = flat.reshape(place.shape, order=place.memory_order)
    return chunk


class BytesCodecV2(Codec):  # type: ignore[misc]
    """Adapter of a `BytesCodec` to numcodecs, for Zarr v2; `derived` makes a subclass per codec.

    A subclass has `codec_id` and `codec_type`. It follows the codec that converts objects to bytes:
    `object_codec=VLenUTF8()`, which Zarr uses for arrays of strings.

    Parameters
    ----------
    parameters : of the codec
    """

    codec_type: ClassVar[type[BytesCodec]]

    def __init__(self, **parameters: object) -> None:
        self.codec = self.codec_type(**parameters)

    def encode(self, buf: object) -> bytes:
        """Return encoded bytes; raise BadParams if there are too many."""
        return self.codec.encode_bytes(_host_bytes(buf)).tobytes()

    def decode(self, buf: object, out: object = None) -> Array:
        """Return the decoded bytes, or `out` with them; raise CorruptChunk for invalid bytes."""
        copied: Array = ndarray_copy(self.codec.decode_bytes(_host_bytes(buf)), out)
        return copied

    def get_config(self) -> dict[str, object]:
        """Return the JSON configuration."""
        return {"id": self.codec_id, **self.codec.params.to_dict()}

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for missing or unknown values."""
        values = {name: value for name, value in config.items() if name != "id"}
        return cls(**vars(cls.codec_type.params_type.from_dict(values)))


def _host_bytes(buf: object) -> npt.NDArray[np.uint8]:
    found: npt.NDArray[np.uint8] = to_host(ensure_contiguous_ndarray_like(buf)).view(np.uint8)
    return found


_OF_BLOCKS = """\
shape : tuple of int, optional
        Extents of a chunk. None accepts chunks of any shape, up to 1 GiB each.
    dtype : dtype, optional
        Dtype of the array. Shape and dtype are given both or none.
    memory_order : {"C", "F"}, default "C"
        Memory order of the array, which is used only with a shape.
    **parameters : object
        Parameters of the codec."""
_OF_BYTES = """\
**parameters : object
        Parameters of the codec."""
DOCSTRING = """Zarr v2 codec `{name}`, through numcodecs.

    Its chunks have the frames of the codec for Zarr v3.

    Parameters
    ----------
    {parameters}

    Raises
    ------
    BadParams
        A parameter is outside its range.

    See Also
    --------
    gangsaw.codecs.{codec} : Codec for Zarr v3, with a description of the parameters.

    Examples
    --------
    >>> from gangsaw.codecs import {codec}V2
    >>> configuration = {codec}V2().get_config()
    >>> configuration["id"]
    '{name}'
    >>> {codec}V2.from_config(configuration) == {codec}V2()
    True
    """


@cache
def derived(codec_type: type[NamedCodec]) -> type[BlockCodecV2 | BytesCodecV2]:
    """Return the Zarr v2 class of a codec: `gangsaw.codecs.<Name>V2`, a name that pickle can find.

    zarr.create_array(
        store, zarr_format=2, chunks=chunks, dtype="uint16", ...,
        compressors=NameV2(shape=chunks, dtype="uint16", **parameters),
    )
    dataset.to_zarr(store, zarr_format=2, encoding={"name": {"compressors": NameV2(**parameters)}})
    """
    of_bytes = issubclass(codec_type, BytesCodec)
    parameters = _OF_BYTES if of_bytes else _OF_BLOCKS
    members = {
        "__doc__": DOCSTRING.format(
            codec=codec_type.__name__, name=codec_type.codec_name, parameters=parameters
        ),
        "__module__": HOME,
        "codec_id": codec_type.codec_name,
        "codec_type": codec_type,
    }
    base = BytesCodecV2 if of_bytes else BlockCodecV2
    return type(f"{codec_type.__name__}V2", (base,), members)
