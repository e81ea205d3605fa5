"""Independent reader of Zarr stores by the public functions of zarr."""

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
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.sources.source import Described, Region
from gangsaw.tasks.store.arrays.grids import allow_irregular_chunks, largest_chunks
from gangsaw.tasks.store.arrays.members import list_members, open_node
from gangsaw.tasks.store.objects.zipped import zarr_argument_of

if TYPE_CHECKING:
    from zarr.types import AnyArray

ROOT = "data"  # name for an array at the root, which has none


@dataclass(frozen=True, kw_only=True)
class PlainZarrArray(Described):
    """Array of a Zarr store."""

    address: str
    path: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        with _opened(self.address) as store, allow_irregular_chunks():
            return np.asarray(zarr.open_array(store, path=self.path, mode="r")[region])


@contextmanager
def _opened(address: str) -> Iterator[str | Store | StorePath]:
    """Yield the store to open: a ZIP store for a file, else the store at the address."""
    if not Path(address).is_file():
        yield zarr_argument_of(address)
        return
    with ZipStore(address, mode="r") as store:
        yield store


def open_zarr_reader(
    address: str, group: str = "", variables: tuple[str, ...] = ()
) -> IndependentReader:
    """Return a reader of a store's arrays, limited to one group or to these names."""
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
    return IndependentReader(library("zarr"), tuple(arrays))


def _below(group: zarr.Group) -> dict[str, AnyArray]:
    readable, _ = list_members(group)
    return {name: item for name, item in readable if isinstance(item, zarr.Array)}
