"""Zarr arrays and groups of format 2 or 3 as sources: at a path, an address or in an open store."""

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

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, GangsawError, first_line
from gangsaw.tasks.sources.library_errors import convert_library_errors
from gangsaw.tasks.sources.source import Coordinate, Described, GroupAttrs, Region, SourceArray
from gangsaw.tasks.store.array_metadata import axis_names, named_axes, stored_attrs, stored_dtype
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.arrays.grids import allow_irregular_chunks, largest_chunks, regular_chunks
from gangsaw.tasks.store.arrays.members import list_members, open_node
from gangsaw.tasks.store.arrays.whole_chunks import WholeChunks
from gangsaw.tasks.store.dataset.attribute_types import order_of
from gangsaw.tasks.store.dataset.losses import Refused, left_out_attrs, notes_of, storable_variables
from gangsaw.tasks.store.dataset.original_form import record_unnamed_axes
from gangsaw.tasks.store.dataset.paths import groups_with
from gangsaw.tasks.store.dataset.variables import fill_of, json_attrs, split_variables
from gangsaw.tasks.store.objects.address import explain_missing_store, is_remote_address
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix, retry_read
from gangsaw.tasks.store.objects.versions import GONE, array_versions
from gangsaw.tasks.store.objects.zipped import zarr_argument_of
from gangsaw.tasks.store.salvage import PIECE, Mending, MendingOf, OpenArray, choose_fill, never
from gangsaw.tasks.store.state.identity import identity_of_store
from gangsaw.tasks.store.state.job_folder import JobFolder
from gangsaw.tasks.store.state.missing import CompleteStore, RecordedChunks, must_be_complete

if TYPE_CHECKING:
    from zarr.types import AnyArray

ROOT_NAME = "data"  # name of an array at the root, which has none
ROOT = "gangsaw_root"  # group attribute: name of the array that was the root of its source


@dataclass(frozen=True)
class ZarrArray(Described):
    """Array of a store, opened on the worker at its first read.

    Attributes
    ----------
    address : path or URL of the store
    key : path of the array in the store; "" is the root
    version : fingerprint of its metadata, and of whether a job wrote it, so that a replaced array
        is opened again
    shards : extents of a shard; None if each chunk is an object
    mending : policy for damaged blocks; None raises CorruptChunk
    """

    address: str
    key: str
    version: str
    shards: tuple[int, ...] | None = None
    mending: Mending | None = None

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        if self.mending is None:
            return retry_read(self._place, lambda: self._read(region))
        self.mending.check(self.name, region)
        if not self.mending.fills:
            return self._read_in_halves(region)
        try:
            with convert_library_errors(self.address, self.name):
                return retry_read(self._place, lambda: self._read(region))
        except CorruptChunk:
            fill = choose_fill(self.open(), self._fill, self.mending.value)
            return self.as_open_array().read_filled(region, fill)

    def _read_in_halves(self, region: Region) -> NumpyArray:
        """Return the samples of an intact region, in halves down to PIECE items if a read fails."""
        try:
            return retry_read(self._place, lambda: self._read(region))
        except CorruptChunk:
            first, end = region[0].start, region[0].stop
            if len(region) > 1 or end - first <= PIECE:
                raise
        spans = slice(first, (first + end) // 2), slice((first + end) // 2, end)
        return np.concatenate([self._read_in_halves((span,)) for span in spans])

    def as_open_array(self) -> OpenArray:
        """Return the open array as an `OpenArray`, which finds its damaged blocks."""
        return OpenArray(self.name, self.open(), self._place)

    @property
    def _fill(self) -> object:
        found = fill_of(self.attrs, self.dtype)
        return self.fill_value if found is None else found

    def _read(self, region: Region) -> NumpyArray:
        array, _, chunks = _array(self.address, self.key, self.version)
        if chunks is not None and chunks.covers(region):
            return chunks.read(region)
        self.begin(region)  # zarr itself would request few chunks at once
        return np.asarray(array[region], array.dtype)  # for 0-d text zarr returns str

    @property
    def is_remote(self) -> bool:
        """True if reads go over a network."""
        return is_remote_address(self.address)

    def begin(self, region: Region) -> bool:
        """Begin to read ahead the chunks of a region; False if too many bytes are in flight."""
        return self.is_remote and all(
            self._place.begin(key, self._object_bytes) for key in self._keys(region)
        )

    def ready(self, region: Region) -> None:
        """Wait for the chunks of a region that `begin` reads ahead."""
        for key in self._keys(region):
            self._place.ready(key)

    def forget(self, region: Region) -> None:
        """Cancel the read-ahead of a region that is not needed."""
        for key in self._keys(region):
            self._place.forget(key)

    @property
    def _object_bytes(self) -> int:
        return math.prod(self.shards or self.chunks or ()) * self.dtype.itemsize

    def open(self) -> AnyArray:
        """Return the open array of zarr."""
        return _array(self.address, self.key, self.version)[0]

    @property
    def _place(self) -> Prefix:
        return _array(self.address, self.key, self.version)[1]

    def _keys(self, region: Region) -> Iterator[str]:
        """Yield the store keys of the chunks that lie wholly in the region; zarr reads others."""
        array = self.open()
        if (extents := array.shards or regular_chunks(array)) is None:
            return
        grid = ChunkGrid(array.shape, extents)
        for position in grid.overlapping(region):
            if grid.is_inside(position, region):
                yield array.metadata.encode_chunk_key(position)


@dataclass(frozen=True)
class ZarrSource:
    """Source of one Zarr array, or of the arrays of a group and its subgroups.

    Attributes
    ----------
    there : the arrays as stored; those with dtypes such as structs are bytes in `arrays`
    whole : arrays that are copied as a whole, as stored
    tree : path of a group that is read completely; None for one array or a selection of arrays
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
        """Variables of the store that are left out, as lines of the job's summary."""
        return notes_of(self.left_out)

    def identity(self) -> str:
        """Return a digest of the manifests, else of the objects' addresses and change stamps."""
        arrays = [(_place_of(array), array.version) for array in self.there]
        return identity_of_store(arrays, self.coords, self.attrs)

    def versions(self) -> Mapping[str, str]:
        """Return the change stamps of each array that is read, and of the members of the group."""
        found = array_versions(map(_place_of, (*self.there, *self.whole)))
        if self.tree is None:
            return found
        return {**found, f"{self.name}/{self.tree}".rstrip("/"): _outline(self.name, self.tree)}


def open_zarr(
    address: str,
    group: str = "",
    variables: Sequence[str] = (),
    *,
    accept_loss: bool = False,
    mending: MendingOf = never,
) -> ZarrSource:
    """Describe a Zarr array or group; raise BadParams if there is none or it has no array.

    Variables that no store can represent raise BadParams, or are left out with `accept_loss`.
    `mending` returns the policy for damaged blocks by the name of an array.
    """
    node = open_group_or_array(address, group)
    with metadata_errors(address), allow_irregular_chunks():  # attributes are read late
        if isinstance(node, zarr.Array):
            _check_only(address, variables)
            return _root(address, node, mending)
        return _of_group(address, node, variables, mending, accept_loss=accept_loss)


def _of_group(
    address: str,
    node: zarr.Group,
    variables: Sequence[str],
    mending: MendingOf,
    *,
    accept_loss: bool,
) -> ZarrSource:
    there, refused, groups = _tree(address, node)
    there = [replace(array, mending=mending(array.name)) for array in there]
    if not there and not refused:
        inner = ", ".join(group.path for group in groups) or "none"
        raise BadParams(f"{address}: the group holds no arrays; groups in it: {inner}")
    chunked = {array.name for array in there if _is_chunked(node, array)}
    found, lost = storable_variables(there, refused, variables, chunked, accept_loss=accept_loss)
    arrays, coords = split_variables(found, variables, chunked)
    if variables:
        groups = groups_with(groups, [*(a.name for a in arrays), *(c.name for c in coords)])
    attrs = {**_group_attrs(node), **left_out_attrs(lost)}
    taken = {a.name for a in arrays}
    own = tuple(a for a in there if a.name in taken)
    names = {coord.name for coord in coords}
    whole = tuple(a for a in there if a.name in names)
    tree = None if variables else node.path
    return ZarrSource(address, arrays, coords, groups, attrs, own, whole, lost, tree)


def _root(address: str, node: AnyArray, mending: MendingOf) -> ZarrSource:
    """Return the source of an array at the root, which has no name."""
    array = replace(_describe(address, node, ROOT_NAME), mending=mending(ROOT_NAME))
    (found,), _ = storable_variables([array])
    arrays, _ = split_variables([found], [ROOT_NAME])
    return ZarrSource(address, arrays, attrs={ROOT: ROOT_NAME}, there=(array,))


def _tree(
    address: str, node: zarr.Group
) -> tuple[list[ZarrArray], list[Refused], tuple[GroupAttrs, ...]]:
    """Return the arrays below a group, the variables that cannot be read, and the subgroups."""
    found, refused = list_members(node)
    arrays = [_describe(address, a, path) for path, a in found if isinstance(a, zarr.Array)]
    groups = (GroupAttrs(path, _group_attrs(g)) for path, g in found if isinstance(g, zarr.Group))
    return arrays, refused, tuple(groups)


def _outline(address: str, path: str) -> str:
    """Return the names of all members below a group, and the groups' attributes, as JSON text."""
    try:
        node = open_group_or_array(address, path)
        if not isinstance(node, zarr.Group):
            return GONE
        found, refused = list_members(node)
    except GangsawError:
        return GONE
    groups = {name: dict(group.attrs) for name, group in found if isinstance(group, zarr.Group)}
    lines = [dict(node.attrs), [name for name, _ in found], groups, [one.name for one in refused]]
    return json.dumps(lines, sort_keys=True, default=str)


def _group_attrs(group: zarr.Group) -> dict[str, object]:
    return json_attrs(group.attrs, np.dtype("u1"))


def _place_of(array: ZarrArray) -> Prefix:
    """Return the store prefix of an array; for a store in a ZIP file, that of the file."""
    place = open_prefix(array.address)
    return place / array.key if array.key else place


def _is_chunked(node: zarr.Group, array: ZarrArray) -> bool:
    """Return True if a job wrote the array chunk by chunk, not as a whole like a coordinate."""
    return JobFolder(Prefix(node.store, array.key)).has_job


def _check_only(address: str, variables: Sequence[str]) -> None:
    if unknown := sorted(set(variables) - {ROOT_NAME}):
        raise BadParams(f"{address}: no variable {unknown[0]!r}; there are: {ROOT_NAME}")


def open_group_or_array(address: str, group: str) -> AnyArray | zarr.Group:
    """Open an array or group for reading.

    Raises
    ------
    BadParams : there is no array or group
    CorruptChunk : the metadata is damaged
    """
    where = f"{address}/{group}" if group else address
    try:
        with metadata_errors(where):
            return open_node(address, group)
    except FileNotFoundError:
        open_prefix(address).check_bucket()
        why = _groups(address, group) or explain_missing_store(address)
        raise BadParams(f"{where}: no Zarr array or group there{why}") from None


def _groups(address: str, wanted: str) -> str:
    """Return a list of the groups of the store, for the message about a missing group."""
    if not wanted:
        return ""
    node = open_group_or_array(address, "")
    names = sorted(node.group_keys()) if isinstance(node, zarr.Group) else []
    return f"; groups in {address}: {', '.join(names) or 'none'}"


@contextmanager
def metadata_errors(where: str) -> Iterator[None]:
    """Raise CorruptChunk for damaged metadata and BadParams for a codec that is not installed."""
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
        dims=named_axes(array),
        chunks=chunks,
        shards=array.shards,
        attrs={
            **record_unnamed_axes(axis_names(array), array.ndim),
            **order_of(stored_dtype(array)),
            **json_attrs(stored_attrs(array), array.dtype),
        },
        fill_value=array.fill_value,
    )


def open_array(address: str, key: str) -> AnyArray:
    """Open an array for reading; raise CorruptChunk if its own metadata is damaged or missing."""
    where = f"{address}/{key}".rstrip("/")
    try:
        with metadata_errors(where), allow_irregular_chunks():
            return zarr.open_array(zarr_argument_of(address), path=key, mode="r")
    except FileNotFoundError:
        raise CorruptChunk("the metadata is missing", store=where) from None


@lru_cache(maxsize=32)
def _array(address: str, key: str, version: str) -> tuple[AnyArray, Prefix, WholeChunks | None]:
    """Return an array, its prefix, and the direct reader of its chunks.

    If a job wrote the array, missing chunks raise; without a checksum of a codec, so do chunks that
    differ from the manifest. The reader is None behind a network, or if only zarr can decode.
    """
    array = open_array(address, key)
    is_whole, found = _version(array)
    if version != found:
        raise BadParams(f"{address}/{key}: the array was replaced since the job began")
    place, local = Prefix(array.store, array.path), not is_remote_address(address)
    records = RecordedChunks.for_array(array) if is_whole else None
    check = None if records is None else records.check
    chunks = WholeChunks.for_array(array, place, is_whole=is_whole, check=check) if local else None
    if not is_whole:
        return array, place, chunks
    whole = StorePath(CompleteStore(array.store, array.path, records), array.path)
    return zarr.Array(replace(array._async_array, store_path=whole)), place, chunks


def _version(array: AnyArray) -> tuple[bool, str]:
    """Return True if a job wrote the array, and the fingerprint of that and of its metadata."""
    is_whole = must_be_complete(array)
    metadata = json.dumps(array.metadata.to_dict(), sort_keys=True, default=str)
    return is_whole, hashlib.sha256(f"{metadata} {is_whole}".encode()).hexdigest()[:16]
