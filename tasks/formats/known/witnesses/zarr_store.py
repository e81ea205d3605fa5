"""Zarr by zarr itself: every array of a store, read as any user reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.abc.store import Store
from zarr.storage import StorePath, ZipStore

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.witness import Witness, library
from gangsaw.tasks.source import Described, Region
from gangsaw.tasks.store.grids import any_grid, largest_chunks
from gangsaw.tasks.store.members import members, open_node
from gangsaw.tasks.store.zipped import zarr_at

if TYPE_CHECKING:
    from zarr.types import AnyArray

ROOT = "data"  # what an array at the root, which has no name, is called


@dataclass(frozen=True, kw_only=True)
class PlainZarrArray(Described):
    """An array of a store."""

    address: str
    path: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        with _opened(self.address) as store, any_grid():
            return np.asarray(zarr.open_array(store, path=self.path, mode="r")[region])


@contextmanager
def _opened(address: str) -> Iterator[str | Store | StorePath]:
    """Yield what zarr opens: a folder by its name, an address by ours, a ZIP file by its class."""
    if not Path(address).is_file():
        yield zarr_at(address)
        return
    with ZipStore(address, mode="r") as store:
        yield store


def zarr_witness(address: str, group: str = "", variables: tuple[str, ...] = ()) -> Witness:
    """Return the arrays of a store, or those of one group or of these names."""
    node = open_node(address, group)
    found = {ROOT: node} if isinstance(node, zarr.Array) else _below(node)
    at = address if "://" in address else str(Path(address).absolute())
    arrays = (
        PlainZarrArray(
            name=name,
            shape=item.shape,
            dtype=item.dtype,
            dims=("",) * item.ndim,
            chunks=largest_chunks(item),
            address=at,
            path=item.path,
        )
        for name, item in found.items()
        if not variables or name in variables
    )
    return Witness(library("zarr"), tuple(arrays))


def _below(group: zarr.Group) -> dict[str, AnyArray]:
    readable, _ = members(group)
    return {name: item for name, item in readable if isinstance(item, zarr.Array)}
