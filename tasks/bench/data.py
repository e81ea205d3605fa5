"""Data of a benchmark: a user's array, or synthetic data of a domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins import entry_points
from gangsaw.tasks.formats.contract.opening import UnknownFormat, open_source
from gangsaw.tasks.formats.contract.table import readable, titles
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.sources.source import SourceArray

GROUP = "gangsaw.benchmarks"  # group of entry points; entries are `Synthetic`
MAX_BYTES = 64 << 20  # bytes in the middle of a user's array that are measured


@dataclass(frozen=True)
class Synthetic:
    """Entry of a domain in the table of benchmark data.

    Attributes
    ----------
    sizes : default extents by device
    make : function that returns a seeded array of some extents; raises BadParams for extents that
        it does not support
    part : function that returns the measured part of a user's array, in the form that codecs of the
        domain expect; None for an array of another domain
    """

    sizes: Mapping[str, tuple[int, ...]]
    make: Callable[[tuple[int, ...]], MemoryArray]
    part: Callable[[SourceArray], MemoryArray | None] = lambda _: None


def synthetic_sample(extents: Sequence[int] | None = None, device: str = "cpu") -> MemoryArray:
    """Return seeded synthetic data of the first domain in the table."""
    for found in entry_points.load_table(GROUP, Synthetic).values():
        return found.make(tuple(extents or found.sizes[device]))
    raise BadParams("no data is installed to measure: name a source")


def sample_of(path: str) -> MemoryArray:
    """Return the middle of the only array of a source, in the form that its domain measures."""
    try:
        arrays = open_source(path).arrays
    except UnknownFormat:
        hint = "gangsaw compress reads raw samples: measure the store that it writes"
        raise BadParams(f"{path} is of no known format ({titles(readable())}); {hint}") from None
    if len(arrays) != 1:
        raise BadParams(f"{path} holds {len(arrays)} arrays; the benchmark needs one")
    (array,) = arrays
    if not prod(array.shape):
        raise BadParams(f"{path}: {array.name} holds no samples, there is nothing to measure")
    parts = (domain.part(array) for domain in entry_points.load_table(GROUP, Synthetic).values())
    return next((part for part in parts if part is not None), None) or middle(array, array.dims)


def middle(array: SourceArray, cut: Sequence[str]) -> MemoryArray:
    """Return the middle of an array, at most MAX_BYTES, cut along the axes named in `cut`."""
    extents = dict(zip(array.dims, array.shape, strict=True))
    whole = prod(n for name, n in extents.items() if name not in cut) * array.dtype.itemsize
    side = _side([extents[name] for name in cut], MAX_BYTES / max(1, whole))
    region = tuple(_middle(n, side if name in cut else n) for name, n in extents.items())
    values = array.read(region).astype(array.dtype.newbyteorder("="), copy=False)
    return MemoryArray(np.ascontiguousarray(values), array.dims)


def _side(extents: Sequence[int], n: float) -> int:
    """Return the upper bound of each extent, so that a block cut by it has at most n samples."""
    for i, extent in enumerate(sorted(extents)):
        side = n ** (1 / (len(extents) - i))
        if extent > side:
            return max(1, int(side))
        n /= extent
    return max(extents)


def _middle(extent: int, wanted: int) -> slice[int, int, int | None]:
    taken = min(extent, wanted)
    first = (extent - taken) // 2
    return slice(first, first + taken)
