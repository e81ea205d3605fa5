"""Parameters of the codec: frozen, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from gangsaw.codecs.core.plugins.parameters import require_int, require_known

MAX_BLOCK = 1 << 30


@dataclass(frozen=True)
class Params:
    """All choices of the encoder.

    Attributes
    ----------
    block : bytes of a block
    """

    block: int = 1 << 16

    def __post_init__(self) -> None:
        """Check the parameter against its legal values."""
        require_int("block", self.block, 1, MAX_BLOCK)

    def to_dict(self) -> dict[str, Any]:
        """JSON configuration."""
        return {"block": self.block}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names or wrong types."""
        require_known(data, ["block"])
        return cls(**data)
