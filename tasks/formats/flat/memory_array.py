"""Source array in memory, for small or just decoded arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.sources.source import Region


@dataclass(frozen=True, eq=False)
class MemoryArray:
    """Array in memory; a task that reads it is sent the whole array."""

    values: NumpyArray
    dims: tuple[str, ...]
    name: str = "data"
    attrs: Mapping[str, object] = field(default_factory=dict)
    chunks: tuple[int, ...] | None = None
    fill_value: object = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the array."""
        return self.values.shape

    @property
    def dtype(self) -> Dtype:
        """Dtype of the samples."""
        return self.values.dtype

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region, as a view."""
        return self.values[region]
