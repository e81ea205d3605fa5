"""What is measured: a user's array, or one that a domain makes, from the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from gangsaw.codecs.core import tables
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.axes import image_dims
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.formats.opening import open_source
from gangsaw.tasks.source import SourceArray

GROUP = "gangsaw.benchmarks"  # entries are `Synthetic`
MAX_BYTES = 64 << 20  # of a user's array that are measured: the middle of it


@dataclass(frozen=True)
class Synthetic:
    """Seeded data of a domain.

    Attributes
    ----------
    sizes : extents by device, where none are asked for
    make : returns the array of some extents; raises BadParams for others than it takes
    """

    sizes: Mapping[str, tuple[int, ...]]
    make: Callable[[tuple[int, ...]], MemoryArray]


def synthetic_sample(extents: Sequence[int] | None = None, device: str = "cpu") -> MemoryArray:
    """Return the made data of the table's first entry."""
    for entry in tables.entries(GROUP).values():
        if (found := tables.attempt(entry, entry.load)) is not None:
            sample: MemoryArray = found.make(tuple(extents or found.sizes[device]))
            return sample
    raise BadParams("no data is installed to measure: name a source")


def sample_of(path: str) -> MemoryArray:
    """Return the middle of the one array of a source, an image as (bands, rows, columns)."""
    arrays = open_source(path).arrays
    if len(arrays) != 1:
        raise BadParams(f"{path} holds {len(arrays)} arrays; the benchmark takes one")
    (array,) = arrays
    if not prod(array.shape):
        raise BadParams(f"{path}: {array.name} holds no samples, there is nothing to measure")
    is_image = array.dtype.kind in "iu" and len(array.dims) in (2, 3)
    return _image(array) if is_image else _part(array, array.dims)


def _image(array: SourceArray) -> MemoryArray:
    band, y, x = image_dims(array)
    part = _part(array, (y, x))
    order = [array.dims.index(name) for name in (band, y, x) if name is not None]
    samples = part.values.transpose(order)
    values = np.ascontiguousarray(samples[(None,) * (3 - samples.ndim)])
    return MemoryArray(values, ("band", "y", "x"))


def _part(array: SourceArray, cut: Sequence[str]) -> MemoryArray:
    """Return the middle of an array along some axes, at most MAX_BYTES."""
    extents = dict(zip(array.dims, array.shape, strict=True))
    whole = prod(n for name, n in extents.items() if name not in cut) * array.dtype.itemsize
    side = _side([extents[name] for name in cut], MAX_BYTES / max(1, whole))
    region = tuple(_middle(n, side if name in cut else n) for name, n in extents.items())
    values = array.read(region).astype(array.dtype.newbyteorder("="), copy=False)
    return MemoryArray(np.ascontiguousarray(values), array.dims)


def _side(extents: Sequence[int], n: float) -> int:
    """Return the extent that limits the longer axes, so that at most n samples are left."""
    for i, extent in enumerate(sorted(extents)):
        side = n ** (1 / (len(extents) - i))
        if extent > side:
            return max(1, int(side))
        n /= extent
    return max(extents)


def _middle(extent: int, wanted: int) -> slice:
    taken = min(extent, wanted)
    first = (extent - taken) // 2
    return slice(first, first + taken)
