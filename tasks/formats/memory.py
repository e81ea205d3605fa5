"""An array in memory as a source: small, or just decoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.source import Region


@dataclass(frozen=True, eq=False)
class MemoryArray:
    """One array in memory; it is sent whole to wherever it is read."""

    values: NDArray[Any]
    dims: tuple[str, ...]
    name: str = "data"
    attrs: Mapping[str, Any] = field(default_factory=dict)
    chunks: tuple[int, ...] | None = None
    fill_value: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the array."""
        return self.values.dtype

    def read(self, region: Region) -> NDArray[Any]:
        """Return the samples of the region, as a view."""
        return self.values[region]
