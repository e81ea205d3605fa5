"""Zarr arrays and groups of either format, at a path, an address or in a store object."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.errors import UnknownCodecError

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, GangsawError, first_line
from gangsaw.tasks.source import Below, Coordinate, Described, Region
from gangsaw.tasks.store.missing import must_be_whole, refuse_missing
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.target import JOB
from gangsaw.tasks.store.variables import NUMBERS, TEXTS, as_text, json_attrs, split

if TYPE_CHECKING:
    from zarr.types import AnyArray

ROOT_NAME = "data"  # of an array at the root, which has no name
MOST_BELOW = 256 << 20  # bytes of all groups below the one that is compressed


@dataclass(frozen=True)
class ZarrArray(Described):
    """One array of a store, opened on the worker at its first read.

    Attributes
    ----------
    address : path or URL of the store
    key : path of the array in the store; "" is the root
    version : fingerprint of its metadata, so that a replaced array is opened again
    shards : extent of an object that holds several chunks; None where each is an object
    """

    address: str
    key: str
    version: str
    shards: tuple[int, ...] | None = None

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        array, is_whole = _array(self.address, self.key, self.version)
        if is_whole:
            refuse_missing(array, region)
        return np.asarray(array[region])


@dataclass(frozen=True)
class ZarrSource:
    """A Zarr array, or the arrays of one group."""

    name: str
    arrays: tuple[ZarrArray, ...]
    coords: tuple[Coordinate, ...] = ()
    below: tuple[Below, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)

    def identity(self) -> str:
        """Address and metadata of every array."""
        return "; ".join([self.arrays[0].address, *(f"{a.name} {a.version}" for a in self.arrays)])


def open_zarr(address: str, group: str = "", variables: Sequence[str] = ()) -> ZarrSource:
    """Describe a Zarr array or group; raise BadParams where there is none or it has no array."""
    node = _open(address, group)
    with metadata_errors(address):  # attributes are read late
        if isinstance(node, zarr.Array):
            _check_only(address, variables)
            return ZarrSource(address, (_describe(address, node, ROOT_NAME),))
        return _of_group(address, node, variables)


def _of_group(address: str, node: zarr.Group, variables: Sequence[str]) -> ZarrSource:
    found = [_describe(address, array, name) for name, array in sorted(node.arrays())]
    if not found:
        inner = ", ".join(sorted(node.group_keys())) or "none"
        raise BadParams(f"{address}: the group holds no arrays; groups in it: {inner}")
    chunked = {array.name for array in found if _is_chunked(node, array)}
    arrays, coords = split(found, variables, chunked)
    below = () if variables else tuple(_below(address, node))
    attrs = json_attrs(node.attrs, np.dtype("u1"))
    return ZarrSource(address, arrays, coords, below, attrs)


def _is_chunked(node: zarr.Group, array: ZarrArray) -> bool:
    """Whether a job wrote the array chunk by chunk, and not whole as it writes coordinates."""
    return Place(node.store, array.key).has(JOB)


def _check_only(address: str, variables: Sequence[str]) -> None:
    if unknown := sorted(set(variables) - {ROOT_NAME}):
        raise BadParams(f"{address}: no variable {unknown[0]!r}; there are: {ROOT_NAME}")


def _below(
    address: str, node: zarr.Group, path: str = "", before: int = 0
) -> Generator[Below, None, int]:
    """Yield the groups below, such as the tables of antennas and fields of xradio, whole.

    `before` is the bytes of the groups before; the sum with its own is returned.
    """
    for name, group in sorted(node.groups()):
        inner = f"{path}/{name}".lstrip("/")
        found = [_describe(address, array, key) for key, array in sorted(group.arrays())]
        before += sum(math.prod(array.shape) * array.dtype.itemsize for array in found)
        if before > MOST_BELOW:
            raise BadParams(
                f"{address}: the group {inner} below holds, with those before it, "
                f"{before >> 20} MiB, which would be copied whole: name the arrays to take by "
                "--variable, or the group by --group"
            )
        coords = tuple(Coordinate(a.name, a.dims, _whole(a), a.attrs) for a in found)
        yield Below(inner, coords, json_attrs(group.attrs, np.dtype("u1")))
        before = yield from _below(address, group, inner, before)
    return before


def _whole(array: ZarrArray) -> NumpyArray:
    values = array.read(tuple(slice(0, n) for n in array.shape))
    if values.dtype.kind in NUMBERS:
        return values
    if values.dtype.kind not in TEXTS:
        raise BadParams(f"{array.address}/{array.key} holds {values.dtype}: no numbers and no text")
    return as_text(values)


def _open(address: str, group: str) -> AnyArray | zarr.Group:
    where = f"{address}/{group}" if group else address
    try:
        with metadata_errors(where):
            return zarr.open(address, path=group or None, mode="r")
    except FileNotFoundError:
        raise BadParams(f"{where}: no Zarr array or group there{_groups(address, group)}") from None


def _groups(address: str, wanted: str) -> str:
    """Return which groups there are, where a wrong one was asked for."""
    if not wanted:
        return ""
    node = _open(address, "")
    names = sorted(node.group_keys()) if isinstance(node, zarr.Group) else []
    return f"; groups in {address}: {', '.join(names) or 'none'}"


@contextmanager
def metadata_errors(where: str) -> Iterator[None]:
    """Raise CorruptChunk for damaged metadata, BadParams for a codec that is not installed."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise CorruptChunk(f"the metadata is damaged: {error}", store=where) from None
    except (GangsawError, OSError, MemoryError):
        raise
    except UnknownCodecError as error:
        raise BadParams(f"{where}: {error}: install the package that has this codec") from None
    except Exception as error:  # wrong shapes, missing fields: zarr raises anything
        reason = f"the metadata is damaged: {first_line(error)}"
        raise CorruptChunk(reason, store=where) from error


def _describe(address: str, array: AnyArray, name: str) -> ZarrArray:
    must_be_whole(array)
    if 0 in array.chunks:
        reason = f"the metadata is damaged: chunks of {array.chunks}"
        raise CorruptChunk(reason, store=f"{address}/{array.path}")
    metadata = json.dumps(array.metadata.to_dict(), sort_keys=True, default=str)
    return ZarrArray(
        # a worker's current directory may differ from the user's
        address=address if "://" in address else str(Path(address).absolute()),
        key=array.path,
        version=hashlib.sha256(metadata.encode()).hexdigest()[:16],
        name=name,
        shape=array.shape,
        dtype=array.dtype,
        dims=_dims(array),
        chunks=array.chunks,
        shards=array.shards,
        attrs=json_attrs(_attrs(array), array.dtype),
        fill_value=array.fill_value,
    )


def _dims(array: AnyArray) -> tuple[str, ...]:
    names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
    given = names if isinstance(names, list | tuple) and len(names) == array.ndim else ()
    numbered = (f"dim_{i}" for i in range(array.ndim))
    return tuple(str(name) for name in given) if given and all(given) else tuple(numbered)


def _attrs(array: AnyArray) -> dict[str, object]:
    attrs: dict[str, object] = dict(array.attrs)
    attrs.pop("_ARRAY_DIMENSIONS", None)
    if array.metadata.zarr_format == 2 and array.fill_value is not None:
        attrs.setdefault("_FillValue", array.fill_value)  # format 2 has no other place for it
    return attrs


def open_array(address: str, key: str) -> AnyArray:
    """Open an array to read; CorruptChunk where its own metadata are damaged or gone.

    The group's copy of them may be whole.
    """
    where = f"{address}/{key}".rstrip("/")
    try:
        with metadata_errors(where):
            return zarr.open_array(address, path=key, mode="r")
    except FileNotFoundError:
        raise CorruptChunk("the metadata is missing", store=where) from None


@lru_cache(maxsize=32)
def _array(address: str, key: str, version: str) -> tuple[AnyArray, bool]:
    array = open_array(address, key)
    if version != _describe(address, array, "").version:
        raise BadParams(f"{address}/{key}: the array was replaced since the job began")
    return array, must_be_whole(array)
