"""Source arrays in memory; a task is sent only the samples that its chunks need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.sources.source import Region, SourceArray

Span: TypeAlias = "tuple[tuple[int, int], ...]"  # start and stop of each axis


@dataclass(frozen=True, eq=False)
class ArrayInMemory(MemoryArray):
    """Array of the user in memory; workers are sent parts of it."""

    def select_regions(self, regions: Iterable[Region]) -> SelectedRegions:
        """Return the samples of these regions as an array that can be sent to a worker."""
        found = {span_of(region): np.ascontiguousarray(self.read(region)) for region in regions}
        return assemble_regions(self, found)


@dataclass(frozen=True, eq=False)
class SelectedRegions:
    """Selected regions of an array; only exactly these regions can be read.

    Attributes
    ----------
    parts : samples by the starts and stops of their region
    """

    name: str
    shape: tuple[int, ...]
    dtype: Dtype
    dims: tuple[str, ...]
    parts: Mapping[Span, NumpyArray]
    attrs: Mapping[str, object] = field(default_factory=dict)
    chunks: tuple[int, ...] | None = None
    fill_value: object = None

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of one of the selected regions."""
        return self.parts[span_of(region)]


@runtime_checkable
class DerivedArray(Protocol):
    """Array derived from another one, `of`, such as a view of its items as bytes.

    The axes that both share are their leading ones.
    """

    of: SourceArray


def span_of(region: Region) -> Span:
    """Return a region as a hashable key: start and stop of each axis."""
    return tuple((s.start, s.stop) for s in region)


def assemble_regions(array: SourceArray, parts: Mapping[Span, NumpyArray]) -> SelectedRegions:
    """Return the selected regions of an array, given their samples."""
    return SelectedRegions(
        array.name, array.shape, array.dtype, array.dims, parts, array.attrs, array.chunks
    )


def base_of(array: SourceArray | None) -> SourceArray | None:
    """Return the innermost array that an array is derived from, or the array itself."""
    while isinstance(array, DerivedArray):
        array = array.of
    return array


def replace_base(array: SourceArray, base: SourceArray) -> SourceArray:
    """Return a copy of a derived array with its innermost array replaced by `base`."""
    if not isinstance(array, DerivedArray):
        return base
    return cast("SourceArray", replace(array, of=replace_base(array.of, base)))  # type: ignore[type-var]


def base_region(region: Region, base: SourceArray) -> Region:
    """Return the region of the base array that a region of a derived array needs.

    Further axes of the base are needed whole.
    """
    own = region[: len(base.shape)]
    return own + tuple(slice(0, n) for n in base.shape[len(own) :])
