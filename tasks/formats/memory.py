"""An array in memory as a source: small, or just decoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.source import Region


@dataclass(frozen=True, eq=False)
class MemoryArray:
    """One array in memory; it is sent whole to wherever it is read."""

    values: NumpyArray
    dims: tuple[str, ...]
    name: str = "data"
    attrs: Mapping[str, object] = field(default_factory=dict)
    chunks: tuple[int, ...] | None = None
    fill_value: object = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return self.values.shape

    @property
    def dtype(self) -> Dtype:
        """Of the array."""
        return self.values.dtype

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region, as a view."""
        return self.values[region]
