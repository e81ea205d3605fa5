"""From a codec's name and parameters, as a user gives them, to the codec of each array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr.codecs import ZstdCodec
from zarr.errors import UnknownCodecError
from zarr.registry import get_codec_class

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.axes import image_axes
from gangsaw.tasks.jobs.depth import choose_bit_depth, refuse_floats
from gangsaw.tasks.source import Source, SourceArray
from gangsaw.tasks.store.layout import (
    ChunkChoice,
    Codec,
    CodecChoice,
    check_axes,
    choose_chunks,
    choose_codec,
    default_block,
    visibility_codec,
)

if TYPE_CHECKING:
    from distributed import Client

PREFIX = "gangsaw."  # of our codecs' Zarr names; users may leave it out
CCSDS123 = "gangsaw.ccsds123"
VISIBILITY = "gangsaw.visibility"


@dataclass(frozen=True)
class Recipe:
    """What a user says about the codec.

    Attributes
    ----------
    codec : Zarr name of a codec with or without "gangsaw.", "zstd", "auto" or "none"
    params : parameters that differ from the codec's defaults
    block : extent (z, y, x) of a block in samples; None chooses by the chunk
    bit_depth : D in bits, "auto" to scan for the fewest, None for the width of the dtype
    """

    codec: str = "auto"
    params: Mapping[str, Any] = field(default_factory=dict)
    block: tuple[int, ...] | None = None
    bit_depth: int | str | None = None

    def codecs(
        self, source: Source, chunks: ChunkChoice, client: Client | None = None
    ) -> dict[str, CodecChoice]:
        """Return the codec of each array, by name.

        Raises
        ------
        BadParams
            There is no such codec or parameter, or an array holds what the codec cannot code.
        """
        check_axes(source.arrays, chunks)
        has_complex = any(array.dtype.kind == "c" for array in source.arrays)
        found = {
            array.name: "auto"
            if self._is_beside(array, has_complex)
            else self._codec(array, chunks, client)
            for array in source.arrays
        }
        if self._is_tuned and not any(_is_ours(codec) for codec in found.values()):
            names = ", ".join(f"{array.name} ({array.dtype.name})" for array in source.arrays)
            raise BadParams(f"no array takes codec parameters, a block or a bit depth: {names}")
        return found

    def _is_beside(self, array: SourceArray, has_complex: bool) -> bool:
        """Whether an array lies beside visibilities, and the codec that is asked for is theirs.

        Real floats are taken for data only where nothing is complex: weights are no signal.
        """
        is_data = array.dtype.kind == "c" or (array.dtype.kind == "f" and not has_complex)
        return _full_name(self.codec) == VISIBILITY and not is_data

    @property
    def _is_tuned(self) -> bool:
        return bool(self.params) or self.block is not None or self.bit_depth is not None

    def _codec(self, array: SourceArray, chunks: ChunkChoice, client: Client | None) -> CodecChoice:
        if self.codec == "none":
            return "none"
        extents = choose_chunks(array, chunks)
        codec = (
            choose_codec(array, extents) if self.codec == "auto" else self._named(array, extents)
        )
        if not _is_ours(codec):
            return codec
        changes = dict(self.params)
        if self.block is not None:
            changes["block"] = list(self.block)
        if self.bit_depth is not None:
            _check_depth(array, codec)
            changes["bit_depth"] = choose_bit_depth(array, self.bit_depth, client=client)
        return _changed(codec, changes)

    def _named(self, array: SourceArray, extents: tuple[int, ...]) -> Codec:
        if self.codec == "zstd":
            return ZstdCodec(level=3)
        name = _full_name(self.codec)
        try:
            kind: Any = get_codec_class(name)
        except (KeyError, UnknownCodecError):  # of zarr below 3.4, and since
            raise BadParams(f"no codec {self.codec!r}; there are: {', '.join(_names())}") from None
        if name == VISIBILITY:
            return visibility_codec(array)
        refuse_floats(array, name)
        axes = image_axes(array.dims)
        if len(extents) < 2:
            raise BadParams(
                f"{array.name} has {len(extents)} axes, {name} codes images of two or three"
            )
        return _changed(kind(), {"axes": axes, "block": list(default_block(extents, axes))})


def _full_name(codec: str) -> str:
    return codec if codec.startswith(PREFIX) else PREFIX + codec


def _check_depth(array: SourceArray, codec: Any) -> None:
    if not hasattr(codec.params, "bit_depth"):
        raise BadParams(
            f"{array.name} ({array.dtype.name}) is no integer image and has no bit depth: "
            "leave --bit-depth out"
        )


def _is_ours(codec: object) -> bool:
    return hasattr(codec, "params") and hasattr(codec, "params_type")


def _changed(codec: Any, changes: Mapping[str, Any]) -> Codec:
    """Return the codec with some parameters changed."""
    params = {**codec.params.to_dict(), **changes}
    made: Codec = type(codec).from_dict({"name": codec.codec_name, "configuration": params})
    return made


def _names() -> list[str]:
    from importlib.metadata import entry_points

    ours = {e.name for e in entry_points(group="zarr.codecs") if e.name.startswith(PREFIX)}
    return ["auto", *sorted(ours), "zstd", "none"]
