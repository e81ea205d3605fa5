"""Independent reader of raw files by NumPy's memmap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Literal

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.sources.source import Described, Region

ORDER = {"bsq": (0, 1, 2), "bil": (1, 0, 2), "bip": (1, 2, 0)}  # axes of (bands, rows, columns)
SIGNS: Mapping[str, Literal["<", ">"]] = {"little": "<", "big": ">"}


@dataclass(frozen=True, kw_only=True)
class MappedArray(Described):
    """Samples of a file after an offset in bytes."""

    path: str
    offset: int

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        count = prod(self.shape)
        flat = np.memmap(self.path, self.dtype, "r", self.offset, (count,))
        return np.asarray(flat.reshape(self.shape)[region])


def open_raw_reader(
    path: str,
    shape: tuple[int, ...],
    dtype: str,
    interleave: str = "bsq",
    byte_order: str | None = None,
    offset: int = 0,
) -> IndependentReader:
    """Return a reader of the only array of a raw file; the arguments are the user's options."""
    kind: Dtype = np.dtype(dtype)
    if byte_order is not None:
        kind = kind.newbyteorder(SIGNS[byte_order])
    order = ORDER[interleave] if len(shape) == 3 else range(len(shape))
    extents = tuple(shape[axis] for axis in order)
    array = MappedArray(
        name="data",
        shape=extents,
        dtype=kind,
        dims=("",) * len(extents),
        chunks=None,
        path=str(Path(path).absolute()),
        offset=offset,
    )
    return IndependentReader(f"{library('numpy')} (memmap)", (array,))
