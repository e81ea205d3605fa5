"""Zarr arrays and groups of either format, at a path, an address or in a store object."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.errors import UnknownCodecError
from zarr.storage import StorePath

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, GangsawError, first_line
from gangsaw.tasks.source import Coordinate, Described, GroupAttrs, Region, SourceArray
from gangsaw.tasks.store.address import is_far
from gangsaw.tasks.store.chunks import ChunkGrid
from gangsaw.tasks.store.dataset.as_read import nameless
from gangsaw.tasks.store.dataset.attribute_types import order_of
from gangsaw.tasks.store.dataset.losses import Refused, kept, left_out_attrs, notes_of
from gangsaw.tasks.store.dataset.paths import groups_kept
from gangsaw.tasks.store.dataset.variables import json_attrs, split
from gangsaw.tasks.store.grids import any_grid, largest_chunks, regular_chunks
from gangsaw.tasks.store.members import members, open_node
from gangsaw.tasks.store.place import Place, open_place, read_again
from gangsaw.tasks.store.stamps import GONE, places_stamps
from gangsaw.tasks.store.state.identity import identity_of_store
from gangsaw.tasks.store.state.missing import WholeStore, must_be_whole
from gangsaw.tasks.store.state.target import JOB
from gangsaw.tasks.store.whole_chunks import WholeChunks
from gangsaw.tasks.store.zipped import zarr_at

if TYPE_CHECKING:
    from zarr.types import AnyArray

ROOT_NAME = "data"  # of an array at the root, which has no name
ROOT = "gangsaw_root"  # of a group: the name of the array that lay at the root of its source


@dataclass(frozen=True)
class ZarrArray(Described):
    """One array of a store, opened on the worker at its first read.

    Attributes
    ----------
    address : path or URL of the store
    key : path of the array in the store; "" is the root
    version : fingerprint of its metadata, and of whether a job wrote it, so that a replaced array
        is opened again
    shards : extent of an object that holds several chunks; None where each is an object
    """

    address: str
    key: str
    version: str
    shards: tuple[int, ...] | None = None

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        return read_again(self._place, lambda: self._read(region))

    def _read(self, region: Region) -> NumpyArray:
        array, _, chunks = _array(self.address, self.key, self.version)
        if chunks is not None and chunks.has(region):
            return chunks.read(region)
        self.begin(region)  # zarr itself would ask for few chunks at once
        return np.asarray(array[region], array.dtype)  # of one text zarr gives str

    @property
    def is_far(self) -> bool:
        """Whether reads go over a network."""
        return is_far(self.address)

    def begin(self, region: Region) -> bool:
        """Begin to read the chunks of a region; False where too much is on its way already."""
        return self.is_far and all(
            self._place.begin(key, self._object_bytes) for key in self._keys(region)
        )

    def ready(self, region: Region) -> None:
        """Wait for the chunks of a region that `begin` began."""
        for key in self._keys(region):
            self._place.ready(key)

    def forget(self, region: Region) -> None:
        """Let go of the chunks of a region that nobody read."""
        for key in self._keys(region):
            self._place.forget(key)

    @property
    def _object_bytes(self) -> int:
        return math.prod(self.shards or self.chunks or ()) * self.dtype.itemsize

    def opened(self) -> AnyArray:
        """Return the array itself, as zarr has it."""
        return _array(self.address, self.key, self.version)[0]

    @property
    def _place(self) -> Place:
        return _array(self.address, self.key, self.version)[1]

    def _keys(self, region: Region) -> Iterator[str]:
        """Yield the keys of the chunks of which all is in the region: of others a part is read."""
        array = self.opened()
        if (extents := array.shards or regular_chunks(array)) is None:
            return
        grid = ChunkGrid(array.shape, extents)
        for position in grid.touched(region):
            if grid.is_inside(position, region):
                yield array.metadata.encode_chunk_key(position)


@dataclass(frozen=True)
class ZarrSource:
    """A Zarr array, or the arrays of a group and of those below it.

    Attributes
    ----------
    there : the arrays as they lie in the store; some of `arrays` carry them as bytes
    whole : arrays that are copied whole, as they lie there
    tree : group of which all is read; None of one array, or of some of several
    """

    name: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...] = ()
    groups: tuple[GroupAttrs, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    there: tuple[ZarrArray, ...] = ()
    whole: tuple[ZarrArray, ...] = ()
    left_out: tuple[Refused, ...] = ()
    tree: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the store is left out."""
        return notes_of(self.left_out)

    def identity(self) -> str:
        """Content by the manifests, else the stamps of all objects and their address."""
        arrays = [(_place_of(array), array.version) for array in self.there]
        return identity_of_store(arrays, self.coords, self.attrs)

    def stamps(self) -> Mapping[str, str]:
        """What changes with each array that is read, and with what is in the group."""
        found = places_stamps(map(_place_of, (*self.there, *self.whole)))
        if self.tree is None:
            return found
        return {**found, f"{self.name}/{self.tree}".rstrip("/"): _outline(self.name, self.tree)}


def open_zarr(
    address: str, group: str = "", variables: Sequence[str] = (), *, accept_loss: bool = False
) -> ZarrSource:
    """Describe a Zarr array or group; raise BadParams where there is none or it has no array.

    What cannot be stored is refused by name, or left out where the user accepts that.
    """
    node = open_at(address, group)
    with metadata_errors(address), any_grid():  # attributes are read late
        if isinstance(node, zarr.Array):
            _check_only(address, variables)
            return _root(address, node)
        return _of_group(address, node, variables, accept_loss=accept_loss)


def _of_group(
    address: str, node: zarr.Group, variables: Sequence[str], *, accept_loss: bool
) -> ZarrSource:
    there, refused, groups = _tree(address, node)
    if not there and not refused:
        inner = ", ".join(group.path for group in groups) or "none"
        raise BadParams(f"{address}: the group holds no arrays; groups in it: {inner}")
    chunked = {array.name for array in there if _is_chunked(node, array)}
    found, lost = kept(there, refused, variables, chunked, accept_loss=accept_loss)
    arrays, coords = split(found, variables, chunked)
    if variables:
        groups = groups_kept(groups, [*(a.name for a in arrays), *(c.name for c in coords)])
    attrs = {**_group_attrs(node), **left_out_attrs(lost)}
    taken = {a.name for a in arrays}
    own = tuple(a for a in there if a.name in taken)
    names = {coord.name for coord in coords}
    whole = tuple(a for a in there if a.name in names)
    tree = None if variables else node.path
    return ZarrSource(address, arrays, coords, groups, attrs, own, whole, lost, tree)


def _root(address: str, node: AnyArray) -> ZarrSource:
    """Return the source of an array that lies at the root, which has no name."""
    array = _describe(address, node, ROOT_NAME)
    (found,), _ = kept([array])
    arrays, _ = split([found], [ROOT_NAME])
    return ZarrSource(address, arrays, attrs={ROOT: ROOT_NAME}, there=(array,))


def _tree(
    address: str, node: zarr.Group
) -> tuple[list[ZarrArray], list[Refused], tuple[GroupAttrs, ...]]:
    """Return all arrays in a group and below, those that cannot be read, and the groups below."""
    found, refused = members(node)
    arrays = [_describe(address, a, path) for path, a in found if isinstance(a, zarr.Array)]
    groups = (GroupAttrs(path, _group_attrs(g)) for path, g in found if isinstance(g, zarr.Group))
    return arrays, refused, tuple(groups)


def _outline(address: str, path: str) -> str:
    """Return the names of all in a group and below, and the attributes of the groups."""
    try:
        node = open_at(address, path)
        if not isinstance(node, zarr.Group):
            return GONE
        found, refused = members(node)
    except GangsawError:
        return GONE
    groups = {name: dict(group.attrs) for name, group in found if isinstance(group, zarr.Group)}
    lines = [dict(node.attrs), [name for name, _ in found], groups, [one.name for one in refused]]
    return json.dumps(lines, sort_keys=True, default=str)


def _group_attrs(group: zarr.Group) -> dict[str, object]:
    return json_attrs(group.attrs, np.dtype("u1"))


def _place_of(array: ZarrArray) -> Place:
    """Return where an array is; of a store in one file, that file is all there is."""
    place = open_place(array.address)
    return place / array.key if array.key else place


def _is_chunked(node: zarr.Group, array: ZarrArray) -> bool:
    """Whether a job wrote the array chunk by chunk, and not whole as it writes coordinates."""
    return Place(node.store, array.key).has(JOB)


def _check_only(address: str, variables: Sequence[str]) -> None:
    if unknown := sorted(set(variables) - {ROOT_NAME}):
        raise BadParams(f"{address}: no variable {unknown[0]!r}; there are: {ROOT_NAME}")


def open_at(address: str, group: str) -> AnyArray | zarr.Group:
    """Open an array or group to read; BadParams where none is, CorruptChunk for bad metadata."""
    where = f"{address}/{group}" if group else address
    try:
        with metadata_errors(where):
            return open_node(address, group)
    except FileNotFoundError:
        open_place(address).check_bucket()
        raise BadParams(f"{where}: no Zarr array or group there{_groups(address, group)}") from None


def _groups(address: str, wanted: str) -> str:
    """Return which groups there are, where a wrong one was asked for."""
    if not wanted:
        return ""
    node = open_at(address, "")
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
    _, version = _version(array)
    chunks = largest_chunks(array)
    if 0 in chunks:
        reason = f"the metadata is damaged: chunks of {chunks}"
        raise CorruptChunk(reason, store=f"{address}/{array.path}")
    return ZarrArray(
        # a worker's current directory may differ from the user's
        address=address if "://" in address else str(Path(address).absolute()),
        key=array.path,
        version=version,
        name=name,
        shape=array.shape,
        dtype=array.dtype,
        dims=_dims(array),
        chunks=chunks,
        shards=array.shards,
        attrs={
            **nameless(_names(array), array.ndim),
            **order_of(_stored_dtype(array)),
            **json_attrs(_attrs(array), array.dtype),
        },
        fill_value=array.fill_value,
    )


def _stored_dtype(array: AnyArray) -> Dtype:
    """Return the type of samples as they are stored; in version 3 a codec has their order."""
    if array.metadata.zarr_format == 2:
        return array.dtype
    orders = (getattr(codec, "endian", None) for codec in array.metadata.codecs)
    is_big = "big" in {str(getattr(order, "value", order)) for order in orders}
    return array.dtype.newbyteorder(">") if is_big else array.dtype


def _dims(array: AnyArray) -> tuple[str, ...]:
    names = _names(array) or (None,) * array.ndim
    return tuple(name or f"dim_{i}" for i, name in enumerate(names))


def _names(array: AnyArray) -> tuple[str | None, ...] | None:
    """Return the names of an array's axes, of which some may have none; None where it has none."""
    names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
    if not isinstance(names, list | tuple) or len(names) != array.ndim:
        return None
    return tuple(None if name is None else str(name) for name in names)


def _attrs(array: AnyArray) -> dict[str, object]:
    attrs: dict[str, object] = dict(array.attrs)
    attrs.pop("_ARRAY_DIMENSIONS", None)
    is_number = array.dtype.kind in "biuf"  # of others xarray decodes no _FillValue
    if array.metadata.zarr_format == 2 and array.fill_value is not None and is_number:
        attrs.setdefault("_FillValue", array.fill_value)  # format 2 has no other place for it
    return attrs


def open_array(address: str, key: str) -> AnyArray:
    """Open an array to read; CorruptChunk where its own metadata are damaged or gone.

    The group's copy of them may be whole.
    """
    where = f"{address}/{key}".rstrip("/")
    try:
        with metadata_errors(where), any_grid():
            return zarr.open_array(zarr_at(address), path=key, mode="r")
    except FileNotFoundError:
        raise CorruptChunk("the metadata is missing", store=where) from None


@lru_cache(maxsize=32)
def _array(address: str, key: str, version: str) -> tuple[AnyArray, Place, WholeChunks | None]:
    """Return an array, and where it is; of one that a job wrote missing chunks raise.

    Of one that lies near, where its codecs let that be, also how its chunks are read without zarr.
    """
    array = open_array(address, key)
    is_whole, found = _version(array)
    if version != found:
        raise BadParams(f"{address}/{key}: the array was replaced since the job began")
    place = Place(array.store, array.path)
    chunks = None if is_far(address) else WholeChunks.of(array, place, is_whole=is_whole)
    if not is_whole:
        return array, place, chunks
    whole = StorePath(WholeStore(array.store, array.path), array.path)
    return zarr.Array(replace(array._async_array, store_path=whole)), place, chunks


def _version(array: AnyArray) -> tuple[bool, str]:
    """Return whether a job wrote an array, and the fingerprint of that and of its metadata."""
    is_whole = must_be_whole(array)
    metadata = json.dumps(array.metadata.to_dict(), sort_keys=True, default=str)
    return is_whole, hashlib.sha256(f"{metadata} {is_whole}".encode()).hexdigest()[:16]
