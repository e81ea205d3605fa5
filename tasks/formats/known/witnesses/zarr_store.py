"""Zarr by zarr itself: every array of a store, read as any user reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zarr

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.witness import Witness, library
from gangsaw.tasks.source import Described, Region

ROOT = "data"  # what an array at the root, which has no name, is called


@dataclass(frozen=True, kw_only=True)
class PlainZarrArray(Described):
    """An array of a store."""

    address: str
    path: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        return np.asarray(zarr.open_array(self.address, path=self.path, mode="r")[region])


def zarr_witness(address: str, group: str = "", variables: tuple[str, ...] = ()) -> Witness:
    """Return the arrays of a store, or those of one group or of these names."""
    node = zarr.open(address, path=group or None, mode="r")
    if isinstance(node, zarr.Array):
        found = {ROOT: node}
    else:
        members = node.members(max_depth=None)
        found = {name: item for name, item in members if isinstance(item, zarr.Array)}
    wanted = {name: item for name, item in found.items() if not variables or name in variables}
    arrays = (
        PlainZarrArray(
            name=name,
            shape=item.shape,
            dtype=item.dtype,
            dims=("",) * item.ndim,
            chunks=item.chunks,
            address=address if "://" in address else str(Path(address).absolute()),
            path=item.path,
        )
        for name, item in wanted.items()
    )
    return Witness(library("zarr"), tuple(arrays))
