"""Parameters of the toy codec: frozen, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import require_int, require_known

MAX_BLOCK = 1 << 30


@dataclass(frozen=True)
class Params:
    """All choices of the encoder.

    Attributes
    ----------
    block : extent of a block in bytes
    """

    block: tuple[int, ...] = (1 << 16,)

    def __post_init__(self) -> None:
        """Check each parameter against its legal values."""
        if not isinstance(self.block, tuple) or len(self.block) != 1:
            raise BadParams(f"block must be one extent, got {self.block!r}")
        require_int("block", self.block[0], 1, MAX_BLOCK)

    def to_dict(self) -> dict[str, Any]:
        """JSON configuration."""
        return {"block": list(self.block)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names or wrong types."""
        require_known(data, ["block"])
        block = data.get("block", cls().block)
        return cls(tuple(block) if isinstance(block, list) else block)
