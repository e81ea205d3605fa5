"""Parameters of the Burrows-Wheeler codec: frozen, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from gangsaw.codecs.core.plugins.parameters import built, require_choice, require_int, require_known

EFFORTS = ("dense", "fast")
LEAST_BLOCK, MOST_BLOCK = 1 << 6, 1 << 23  # bytes: a row of the longest block takes 3 bytes


@dataclass(frozen=True)
class Params:
    """Parameters of the Burrows-Wheeler encoder; SPEC.md defines their effect on the bytes.

    Attributes
    ----------
    effort : entropy stage: "dense", mixed adaptive counts; "fast", static tables before the data
    block : bytes of a block, which is transformed independently
    """

    effort: Literal["dense", "fast"] = "dense"
    block: int = 1 << 22

    def __post_init__(self) -> None:
        """Check each parameter against its legal values."""
        require_choice("effort", self.effort, EFFORTS)
        require_int("block", self.block, LEAST_BLOCK, MOST_BLOCK)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration."""
        return {"effort": self.effort, "block": self.block}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names or wrong types."""
        require_known(data, ["effort", "block"])
        return built(cls, data)
