"""Zarr by zarr itself: every array of a store, read as any user reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.storage import ZipStore

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.witness import Witness, library
from gangsaw.tasks.source import Described, Region

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
        with _opened(self.address) as store:
            return np.asarray(zarr.open_array(store, path=self.path, mode="r")[region])


@contextmanager
def _opened(address: str) -> Iterator[str | ZipStore]:
    """Yield what zarr opens: an address or a folder by its name, a ZIP file by zarr's class."""
    if not Path(address).is_file():
        yield address
        return
    with ZipStore(address, mode="r") as store:
        yield store


def zarr_witness(address: str, group: str = "", variables: tuple[str, ...] = ()) -> Witness | None:
    """Return the arrays of a store, or those of one group or of these names.

    None where zarr itself cannot list them, since the type of one of them is none of its own.
    """
    try:
        with _opened(address) as store:
            node = zarr.open(store, path=group or None, mode="r")
            found = {ROOT: node} if isinstance(node, zarr.Array) else _below(node)
    except ValueError:
        return None
    at = address if "://" in address else str(Path(address).absolute())
    arrays = (
        PlainZarrArray(
            name=name,
            shape=item.shape,
            dtype=item.dtype,
            dims=("",) * item.ndim,
            chunks=item.chunks,
            address=at,
            path=item.path,
        )
        for name, item in found.items()
        if not variables or name in variables
    )
    return Witness(library("zarr"), tuple(arrays))


def _below(group: zarr.Group) -> dict[str, AnyArray]:
    members = group.members(max_depth=None)
    return {name: item for name, item in members if isinstance(item, zarr.Array)}
