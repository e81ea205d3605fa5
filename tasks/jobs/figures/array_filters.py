"""Codecs before the serializer of an array, which convert its items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from zarr.abc.codec import ArrayArrayCodec
from zarr.core.metadata.v3 import ArrayV3Metadata

if TYPE_CHECKING:
    from zarr.types import AnyArray

BY_ITEM = ("scale_offset", "cast_value")  # codecs of Zarr that convert each item alone


def filters_of(array: AnyArray) -> list[tuple[str, Mapping[str, object]]]:
    """Return name and configuration of each codec before the serializer."""
    if not isinstance(array.metadata, ArrayV3Metadata):
        return []
    codecs = cast("tuple[ArrayArrayCodec, ...]", array.filters)
    described = [cast("Mapping[str, object]", codec.to_dict()) for codec in codecs]
    settings = [cast("Mapping[str, object]", of.get("configuration", {})) for of in described]
    return [(str(of["name"]), own) for of, own in zip(described, settings, strict=True)]


def is_by_item(array: AnyArray) -> bool:
    """Return True if all filters convert each item alone, so that axes stay those of the array."""
    known = [name for name, _ in filters_of(array) if name in BY_ITEM]
    return len(known) == len(array.filters)


def filter_settings(array: AnyArray) -> Mapping[str, object]:
    """Return the configurations of all filters together."""
    return {name: value for _, own in filters_of(array) for name, value in own.items()}
