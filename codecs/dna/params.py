"""Parameters of the codec of nucleotide sequences: frozen, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import built, require_choice, require_int, require_known

MODES = ("pack", "gencodex", "dense")
USUAL_BLOCK = 1 << 22  # bytes
LEAST_BLOCK, MOST_BLOCK = 1 << 6, 1 << 26


@dataclass(frozen=True)
class Params:
    """Parameters of the encoder; SPEC.md defines their effect on the bytes.

    Attributes
    ----------
    mode : "pack", two bits per base; "gencodex", runs of equal packed bytes; "dense", adaptive
        models
    block : bytes of a block, a power of two; 0 is 2^22
    """

    mode: Literal["pack", "gencodex", "dense"] = "dense"
    block: int = 0

    def __post_init__(self) -> None:
        """Check each parameter against its legal values."""
        require_choice("mode", self.mode, MODES)
        require_int("block", self.block, 0, MOST_BLOCK)
        if self.size & (self.size - 1) or self.size < LEAST_BLOCK:
            raise BadParams(f"block must be 0 or a power of two from {LEAST_BLOCK} on")

    @property
    def size(self) -> int:
        """Number of bytes of a block, with 0 replaced by the default."""
        return self.block or USUAL_BLOCK

    @property
    def has_lanes(self) -> bool:
        """True if frames have lane sizes in the index, as in mode dense."""
        return self.mode == "dense"

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration."""
        return {"mode": self.mode, "block": self.block}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names or wrong types."""
        require_known(data, ["mode", "block"])
        return built(cls, data)
