"""Types of what CuPy gives: its own are not all there, and no type checker follows its import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import ItemT, Part, Scalar


class Pointer(Protocol):
    """Where an array begins."""

    @property
    def ptr(self) -> int:
        """Address in the memory of the device."""


class DeviceStream(Protocol):
    """A queue of work on the device."""

    def synchronize(self) -> None:
        """Wait for the end of all work on it."""


class ThreadStream(DeviceStream, Protocol):
    """A stream that can be made the current one."""

    def __enter__(self) -> DeviceStream:
        """Send the work of this thread to it."""

    def __exit__(self, *error: object) -> None:
        """Send the work where it went before."""


class DeviceArrayOf(Protocol[ItemT]):
    """A CuPy array of items of one type: an `Array` that lies on a device."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from item to item, along each axis."""

    @property
    def dtype(self) -> np.dtype[ItemT]:
        """Of the items."""

    @property
    def nbytes(self) -> int:
        """Bytes of all items."""

    @property
    def data(self) -> Pointer:
        """Where the first item lies."""

    def __getitem__(self, where: tuple[Part, ...] | None, /) -> Self:
        """Return a view."""

    def __setitem__(self, where: object, items: object, /) -> None:
        """Copy items from the same device."""

    def transpose(self, axes: Sequence[int], /) -> Self:
        """Return a view with the axes in that order."""

    def get(
        self,
        stream: DeviceStream | None = None,
        order: str = "C",
        out: npt.NDArray[Scalar] | None = None,
        blocking: bool = True,
    ) -> npt.NDArray[ItemT]:
        """Return a copy in host memory."""

    def set(self, items: npt.NDArray[Scalar], stream: DeviceStream | None = None) -> None:
        """Copy items from host memory."""


DeviceArray: TypeAlias = "DeviceArrayOf[Scalar]"  # of any dtype


class Kernel(Protocol):
    """A function that runs on the device."""

    max_dynamic_shared_size_bytes: int

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[object, ...],
        *,
        shared_mem: int = 0,
    ) -> None:
        """Start it on the current stream."""


class KernelModule(Protocol):
    """Machine code of one source."""

    def compile(self) -> None:
        """Read the file of the code."""

    def get_function(self, name: str) -> Kernel:
        """Return a kernel by its name."""
