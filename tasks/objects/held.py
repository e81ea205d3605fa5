"""Samples in the memory of this process: a task gets those that its chunks need, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.source import Region, SourceArray

Span: TypeAlias = "tuple[tuple[int, int], ...]"  # of each axis start and stop


@dataclass(frozen=True, eq=False)
class HeldArray(MemoryArray):
    """An array of the user's; workers are sent parts of it."""

    def part(self, regions: Iterable[Region]) -> HeldParts:
        """Return the samples of some regions alone."""
        found = {span_of(region): np.ascontiguousarray(self.read(region)) for region in regions}
        return parts_of(self, found)


@dataclass(frozen=True, eq=False)
class HeldParts:
    """Some regions of an array, read as they were cut.

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
        """Return the samples of one of the regions."""
        return self.parts[span_of(region)]


@runtime_checkable
class Wrapping(Protocol):
    """An array that is made of another one, with the same axes before its own."""

    of: SourceArray


def span_of(region: Region) -> Span:
    """Return what a region is found by."""
    return tuple((s.start, s.stop) for s in region)


def parts_of(array: SourceArray, parts: Mapping[Span, NumpyArray]) -> HeldParts:
    """Return some regions of an array by their samples."""
    return HeldParts(
        array.name, array.shape, array.dtype, array.dims, parts, array.attrs, array.chunks
    )


def base_of(array: SourceArray | None) -> SourceArray | None:
    """Return the array that another one is made of at last."""
    while isinstance(array, Wrapping):
        array = array.of
    return array


def based_on(array: SourceArray, base: SourceArray) -> SourceArray:
    """Return the same array, made of another one at last."""
    if not isinstance(array, Wrapping):
        return base
    return cast("SourceArray", replace(array, of=based_on(array.of, base)))  # type: ignore[type-var]


def base_region(region: Region, base: SourceArray) -> Region:
    """Return what of the base a region is made of: its leading axes, and all of others."""
    own = region[: len(base.shape)]
    return own + tuple(slice(0, n) for n in base.shape[len(own) :])
