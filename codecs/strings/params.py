"""Parameters of the codec of strings: frozen, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins.parameters import require_known

if TYPE_CHECKING:
    from gangsaw.codecs.core.zarr.block_codec import BlockCodec

INNER = "gangsaw.bwt"


@dataclass(frozen=True, init=False)
class Params:
    """Parameters of the codec; SPEC.md defines their effect on the bytes.

    Attributes
    ----------
    inner : codec of the strings' bytes; given as a codec, by its name, or as JSON
    """

    inner: BlockCodec

    def __init__(self, inner: BlockCodec | str | Mapping[str, object] = INNER) -> None:
        object.__setattr__(self, "inner", _codec(inner))

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration."""
        return {"inner": self.inner.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names or wrong types."""
        require_known(data, ["inner"])
        return cls(cast("Mapping[str, object]", data.get("inner", INNER)))


def _codec(inner: object) -> BlockCodec:
    """Return the inner codec from a codec, its name or JSON; BadParams unless it codes bytes."""
    found = codec_table.coding("inner", inner)
    found.coder((1,), "u1")
    return found
