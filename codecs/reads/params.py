"""Parameters of the codec of sequencing reads: frozen, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import built, require_choice, require_int, require_known

KINDS = ("sequence", "quality", "name", "offset")
MAX_BLOCK = 1 << 28  # items: offsets in a block have 32 bits, with a margin for an open line
LEAST_LANE = 64


class Sizes(NamedTuple):
    """Number of items (bytes or offsets) in a block, and in each of its windows, `lane`."""

    block: int
    lane: int


TEXT = Sizes(1 << 25, 1 << 16)
OFFSETS = Sizes(1 << 20, 1 << 12)


@dataclass(frozen=True)
class Params:
    """Parameters of an encoder of reads; SPEC.md describes their effects on the bytes.

    Attributes
    ----------
    kind : content of the array's lines: "sequence", "quality" or "name", or "offset" for an array
        with the starts of lines
    pairs : True if lines 2i and 2i + 1 are mates
    block : items of a block, a power of two; 0 is 2^25 bytes or 2^20 offsets
    lane : items of a window, a power of two; 0 is 2^16 bytes or 2^12 offsets
    """

    kind: Literal["sequence", "quality", "name", "offset"] = "sequence"
    pairs: bool = False
    block: int = 0
    lane: int = 0

    def __post_init__(self) -> None:
        """Check each parameter against its legal values."""
        require_choice("kind", self.kind, KINDS)
        if not isinstance(self.pairs, bool):
            raise BadParams(f"pairs must be true or false, got {self.pairs!r}")
        require_int("block", self.block, 0, MAX_BLOCK)
        require_int("lane", self.lane, 0, MAX_BLOCK)
        sizes = self.sizes
        for name, size in zip(sizes._fields, sizes, strict=True):
            if size & (size - 1) or size < LEAST_LANE:
                raise BadParams(
                    f"{name} must be 0 or a power of two from {LEAST_LANE} on, got {size}"
                )
        if sizes.lane > sizes.block:
            raise BadParams(f"a lane of {sizes.lane} is longer than a block of {sizes.block}")

    @property
    def sizes(self) -> Sizes:
        """Items of a block and of a window, with defaults filled in."""
        usual = OFFSETS if self.kind == "offset" else TEXT
        return Sizes(self.block or usual.block, self.lane or min(usual.lane, self.block or 1 << 30))

    @property
    def dtype(self) -> Dtype:
        """Dtype of this kind's arrays."""
        return np.dtype("u8" if self.kind == "offset" else "u1")

    @property
    def has_device_encoder(self) -> bool:
        """True if devices encode this kind; they decode all kinds."""
        return self.kind == "offset"

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration."""
        return {"kind": self.kind, "pairs": self.pairs, "block": self.block, "lane": self.lane}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names or wrong types."""
        require_known(data, ["kind", "pairs", "block", "lane"])
        return built(cls, data)
