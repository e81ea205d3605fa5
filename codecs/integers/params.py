"""Parameters of the codec of rows of integers: frozen, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import built, require_int, require_known

# tables are small in comparison, and a few rows can be read without a large block
USUAL_ROWS = 1 << 13
MOST_ROWS = 1 << 16
MOST_COLUMNS = 16


@dataclass(frozen=True)
class Params:
    """Parameters of the encoder; SPEC.md defines their effect on the bytes.

    Attributes
    ----------
    rows : rows of a block; 0 is 2^13
    """

    rows: int = 0

    def __post_init__(self) -> None:
        """Check each parameter against its legal values."""
        require_int("rows", self.rows, 0, MOST_ROWS)

    @property
    def size(self) -> int:
        """Rows of a block."""
        return self.rows or USUAL_ROWS

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration."""
        return {"rows": self.rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names or wrong types."""
        require_known(data, ["rows"])
        return built(cls, data)


def refused(shape: tuple[int, ...], kind: str) -> str:
    """Return the reason why an array of this shape and kind ("u4") is not supported, else ""."""
    if kind != "u4":
        return f"holds {kind} samples"
    if len(shape) != 2 or not 1 <= shape[1] <= MOST_COLUMNS:
        return f"is of shape {shape}"
    return ""


def check_array(shape: tuple[int, ...], kind: str) -> None:
    """Raise BadParams if the codec does not support such an array."""
    if refused(shape, kind):
        raise BadParams(
            f"gangsaw.integers codes uint32 of 1 to {MOST_COLUMNS} columns, not {kind}"
            f" of shape {shape}"
        )
