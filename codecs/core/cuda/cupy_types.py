"""Types of CuPy objects: CuPy's own types are incomplete, and checkers do not follow its import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import ItemT, Part, Scalar


class Pointer(Protocol):
    """Interface of CuPy's pointer to the start of an array."""

    @property
    def ptr(self) -> int:
        """Address in the memory of the device."""


class DeviceStream(Protocol):
    """Interface of a CUDA stream: queue of work on the device."""

    def synchronize(self) -> None:
        """Wait for the end of all work on the stream."""


class ThreadStream(DeviceStream, Protocol):
    """Stream that can become the thread's current stream."""

    def __enter__(self) -> DeviceStream:
        """Make it the current stream of this thread."""

    def __exit__(self, *error: object) -> None:
        """Restore the previous stream."""


class DeviceArrayOf(Protocol[ItemT]):
    """CuPy array of items of one type: an `Array` in device memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between adjacent items along each axis."""

    @property
    def dtype(self) -> np.dtype[ItemT]:
        """Dtype of the items."""

    @property
    def nbytes(self) -> int:
        """Bytes of all items."""

    @property
    def data(self) -> Pointer:
        """Address of the first item."""

    def __getitem__(self, where: tuple[Part, ...] | None, /) -> Self:
        """Return the view at a tuple of indices and slices, or with a new axis for None."""

    def __setitem__(self, where: object, items: object, /) -> None:
        """Copy items from the same device."""

    def transpose(self, axes: Sequence[int], /) -> Self:
        """Return a view with the axes in the given order."""

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
    """Interface of a CUDA kernel: function that runs on the device."""

    max_dynamic_shared_size_bytes: int

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[object, ...],
        *,
        shared_mem: int = 0,
    ) -> None:
        """Launch the kernel on the current stream."""


class KernelModule(Protocol):
    """Interface of a CuPy module: the machine code of one CUDA source."""

    def compile(self) -> None:
        """Load the file with the machine code."""

    def get_function(self, name: str) -> Kernel:
        """Return a kernel by its name."""
