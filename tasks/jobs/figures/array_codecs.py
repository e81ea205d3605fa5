"""Codecs of a stored array, in either Zarr format: objects, names and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec
from zarr.core.metadata.v3 import ArrayV3Metadata

from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec

if TYPE_CHECKING:
    from zarr.types import AnyArray

    from gangsaw.codecs.core.zarr.block_codec import BlockCodec

BY_ITEM = ("scale_offset", "cast_value")  # codecs of Zarr that convert each item alone


def block_codec_of(array: AnyArray, chunks: tuple[int, ...]) -> BlockCodec | None:
    """Return the array codec of the chunks, in either Zarr format; None for a compressor."""
    if array.metadata.zarr_format == 3:
        serializer = getattr(array, "serializer", None)
        while inner := getattr(serializer, "codecs", ()):  # codecs inside shards
            serializer = next(codec for codec in inner if isinstance(codec, ArrayBytesCodec))
        return cast("BlockCodec | None", serializer)
    of_v2 = array.compressors[0] if len(array.compressors) == 1 and not array.filters else None
    # a codec for chunks of another shape has other blocks, so that only its name is reported
    place = getattr(of_v2, "place", None)
    return getattr(of_v2, "codec", None) if place is None or place.shape == chunks else None


def bytes_codec_of(array: AnyArray) -> BytesCodec | None:
    """Return Gangsaw's byte codec among the compressors, in either Zarr format; None if absent."""
    own = (getattr(codec, "codec", codec) for codec in array.compressors)
    return next((codec for codec in own if isinstance(codec, BytesCodec)), None)


def codec_name_of(codec: object) -> str:
    """Return the Zarr name of a Gangsaw codec, else the name of the class."""
    of_v2 = getattr(type(codec), "codec_id", "") if hasattr(codec, "codec") else ""
    return str(of_v2 or getattr(codec, "codec_name", type(codec).__name__))


def filters_of(array: AnyArray) -> list[tuple[str, Mapping[str, object]]]:
    """Return name and configuration of each codec before the serializer."""
    if not isinstance(array.metadata, ArrayV3Metadata):
        return []
    codecs = cast("tuple[ArrayArrayCodec, ...]", array.filters)
    told = [cast("Mapping[str, object]", codec.to_dict()) for codec in codecs]
    settings = [cast("Mapping[str, object]", of.get("configuration", {})) for of in told]
    return [(str(of["name"]), own) for of, own in zip(told, settings, strict=True)]


def is_by_item(array: AnyArray) -> bool:
    """Return True if all filters convert each item alone, so that axes stay those of the array."""
    known = [name for name, _ in filters_of(array) if name in BY_ITEM]
    return len(known) == len(array.filters)


def filter_settings_of(array: AnyArray) -> Mapping[str, object]:
    """Return the settings of all codecs before the serializer, by their names."""
    return {name: value for _, own in filters_of(array) for name, value in own.items()}
