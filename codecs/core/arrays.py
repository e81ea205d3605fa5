"""Types of arrays of which nothing more is known, for modules that name no `Any`.

NumPy's own `np.generic` is an `Any` to a type checker unless it is told what `item()` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Protocol, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Scalar: TypeAlias = "np.generic[object]"  # of any kind
ScalarT = TypeVar("ScalarT", bound="np.generic[object]")
Dtype: TypeAlias = "np.dtype[Scalar]"
NumpyArray: TypeAlias = "npt.NDArray[Scalar]"  # of any dtype

Run: TypeAlias = "slice[int, int, int]"  # of items that stand side by side
Axis: TypeAlias = "slice[None, None, None]"  # all of it
Part: TypeAlias = "slice[int, int, int | None] | Axis | EllipsisType | int | None"  # of an index


ItemT = TypeVar("ItemT", bound="np.generic[object]", covariant=True)
ArrayT = TypeVar("ArrayT", bound="Array")


class ArrayOf(Protocol[ItemT]):
    """An array of any library, of items of one type."""

    @property
    def dtype(self) -> np.dtype[ItemT]:
        """Of the items."""


class Array(Protocol):
    """A NumPy or CuPy array, of any dtype: what the container and the codecs ask of one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from item to item, along each axis."""

    @property
    def dtype(self) -> Dtype:
        """Of the items."""

    @property
    def nbytes(self) -> int:
        """Bytes of all items."""

    def __getitem__(self, where: tuple[Part, ...] | None, /) -> Self:
        """Return a view."""

    def transpose(self, axes: Sequence[int], /) -> Self:
        """Return a view with the axes in that order."""
