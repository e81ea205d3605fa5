"""Types of arrays with unknown items, for modules without `Any`.

For a type checker, NumPy's own `np.generic` is an `Any` without the return type of `item()`.
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

Bools: TypeAlias = "npt.NDArray[np.bool_]"
Bytes: TypeAlias = "npt.NDArray[np.uint8]"
Int16s: TypeAlias = "npt.NDArray[np.int16]"
UInt16s: TypeAlias = "npt.NDArray[np.uint16]"
Int32s: TypeAlias = "npt.NDArray[np.int32]"
UInt32s: TypeAlias = "npt.NDArray[np.uint32]"
Int64s: TypeAlias = "npt.NDArray[np.int64]"
UInt64s: TypeAlias = "npt.NDArray[np.uint64]"
Float32s: TypeAlias = "npt.NDArray[np.float32]"
Float64s: TypeAlias = "npt.NDArray[np.float64]"

# integers of kernels: Numba makes no difference between them
Int64: TypeAlias = "int | np.int64"
UInt64: TypeAlias = "int | np.uint64"

Run: TypeAlias = "slice[int, int, int]"  # range of adjacent items
Axis: TypeAlias = "slice[None, None, None]"  # a whole axis
# one element of an index
Part: TypeAlias = "slice[int, int, int | None] | Axis | EllipsisType | int | None"


ItemT = TypeVar("ItemT", bound="np.generic[object]", covariant=True)
ArrayT = TypeVar("ArrayT", bound="Array")


class ArrayOf(Protocol[ItemT]):
    """Array of any library (NumPy, CuPy) whose items have one known type."""

    @property
    def dtype(self) -> np.dtype[ItemT]:
        """Dtype of the items."""


class Array(Protocol):
    """NumPy or CuPy array of any dtype: the part of its interface that codecs use."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between adjacent items along each axis."""

    @property
    def dtype(self) -> Dtype:
        """Dtype of the items."""

    @property
    def nbytes(self) -> int:
        """Bytes of all items."""

    def __getitem__(self, where: tuple[Part, ...] | None, /) -> Self:
        """Return the view at a tuple of indices and slices, or with a new axis for None."""

    def transpose(self, axes: Sequence[int], /) -> Self:
        """Return a view with the axes in the given order."""
