"""Tables of integers on a device, and prefix sums of kernels' counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy


def on_device(table: npt.NDArray[np.int64]) -> DeviceArray:
    """Return a device copy of an int64 table of addresses and sizes, for kernels."""
    copied: DeviceArray = cupy().asarray(np.ascontiguousarray(table, np.int64))
    return copied


def sums_before(counts: DeviceArray) -> DeviceArray:
    """Return the exclusive prefix sums of (n,) unsigned counts on the device."""
    sums: DeviceArray = cupy().cumsum(counts, dtype=counts.dtype) - counts
    return sums
