"""All objects of a target except chunks: built in memory, so that an error touches no store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import zarr
from zarr.core.buffer import Buffer
from zarr.core.common import JSON
from zarr.dtype import VariableLengthBytes
from zarr.storage import MemoryStore

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.source import Coordinate, Description, GroupAttrs, Source, SourceArray
from gangsaw.tasks.store.as_read import renamed
from gangsaw.tasks.store.chunks import METADATA, ChunkGrid
from gangsaw.tasks.store.dims import agreeing_dims
from gangsaw.tasks.store.journal import Job, batch_chunks
from gangsaw.tasks.store.layout import ArrayLayout
from gangsaw.tasks.store.manifest import MANIFEST
from gangsaw.tasks.store.openable import openable_attrs
from gangsaw.tasks.store.paths import attrs_of, key_of
from gangsaw.tasks.store.records import ROW, Records


@dataclass(frozen=True)
class Skeleton:
    """What is in the target before its first chunk.

    Attributes
    ----------
    objects : by key: metadata of the group and its arrays, coordinates whole
    jobs : by name of the array that is to be filled
    """

    objects: Mapping[str, Buffer]
    jobs: Mapping[str, Job]

    def metadata(self, name: str) -> bytes:
        """Return the array's zarr.json."""
        return self.objects[key_of(name, METADATA)].to_bytes()


def build_skeleton(source: Source, layouts: Mapping[str, ArrayLayout]) -> Skeleton:
    """Return the skeleton of a group that holds the source's arrays and coordinates.

    Raises
    ------
    BadParams
        An array, its name or its attributes cannot be held, or its codec refuses it.
    """
    groups = getattr(source, "groups", ())
    objects = build_objects(
        source.name, source.arrays, source.coords, source.attrs, layouts, groups
    )
    identity = source.identity()
    return Skeleton(objects, {a.name: _job(identity, a, objects, layouts) for a in source.arrays})


def build_objects(
    name: str,
    arrays: Iterable[Description],
    coords: Iterable[Coordinate],
    attrs: Mapping[str, object],
    layouts: Mapping[str, ArrayLayout],
    groups: Iterable[GroupAttrs] = (),
) -> Mapping[str, Buffer]:
    """Return the objects of a group by key: metadata of all its arrays, coordinates whole.

    One array that is called "" lies at the root, where a group would be.
    `name` is what the error calls their source; see `build_skeleton`.
    """
    objects: dict[str, Buffer] = {}
    arrays, coords = tuple(arrays), tuple(coords)
    names = [*(array.name for array in arrays), *(coordinate.name for coordinate in coords)]
    _check_names(names)
    store = MemoryStore(objects)
    try:
        if names == [""]:
            _create(store, arrays[0], arrays[0].attrs, arrays[0].dims, layouts[""])
            return objects
        group = zarr.create_group(store, attributes=dict(attrs))
        for path, of_group in attrs_of(groups, names).items():
            group.create_group(path, attributes=dict(of_group))
        dims, told = agreeing_dims(arrays, coords), openable_attrs([*arrays, *coords])
        for array in arrays:
            name = array.name
            _create(store, array, told[name], dims[name], layouts[name])
        for coordinate in coords:
            _write(group, coordinate, told[coordinate.name], dims[coordinate.name])
    except GangsawError:
        raise
    except (TypeError, ValueError, NotImplementedError) as error:
        raise BadParams(f"{name} cannot be held in a Zarr store: {error}") from error
    objects[METADATA] = _consolidated(objects)
    for coordinate in coords:
        name = coordinate.name
        objects[f"{name}/{MANIFEST}"] = _finished(group, objects, name)
    return objects


def _create(
    store: MemoryStore,
    array: Description,
    attrs: Mapping[str, object],
    dims: tuple[str, ...],
    layout: ArrayLayout,
) -> None:
    """Create an array; BadParams names it where its codec does not take such chunks."""
    try:
        zarr.create_array(
            store,
            name=array.name or None,
            shape=array.shape,
            dtype=_native(array.dtype),
            fill_value=_fill(array.fill_value, array.dtype),
            attributes=_json(renamed(attrs, array.dims, dims)),
            dimension_names=dims,
            **layout.creation(),
        )
    except BadParams as error:
        raise BadParams(f"{array.name}: {error}") from error


def _json(attrs: Mapping[str, object]) -> dict[str, JSON]:
    return cast("dict[str, JSON]", dict(attrs))  # Zarr raises for what is none


def _fill(value: object, dtype: Dtype) -> object:
    """Return a fill value that an array of numbers can have, None where it has another type."""
    if value is None or dtype.kind not in "biufc":
        return value
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            found = np.asarray(value).astype(dtype)
        is_same = np.array_equal(found, np.asarray(value), equal_nan=dtype.kind in "fc")
    except (TypeError, ValueError, OverflowError):
        return None
    return found[()] if dtype.kind in "fc" or is_same else None


def _native(dtype: Dtype) -> Dtype | VariableLengthBytes:
    """Return the type in this machine's byte order; text has none, and raises when asked."""
    if dtype.kind == "O":  # bytes of any length: text has a type of its own
        return VariableLengthBytes()
    return dtype if dtype.kind == "T" else dtype.newbyteorder("=")


def _write(
    group: zarr.Group,
    coordinate: Coordinate,
    attrs: Mapping[str, object],
    dims: tuple[str, ...],
) -> None:
    values = np.asarray(coordinate.values)
    array = group.create_array(
        coordinate.name,
        shape=values.shape,
        dtype=_native(values.dtype),
        fill_value=_fill(coordinate.fill_value, values.dtype),
        chunks=tuple(max(1, n) for n in values.shape),
        attributes=_json(renamed(attrs, coordinate.dims, dims)),
        dimension_names=dims,
        config={"write_empty_chunks": True},
    )
    array[...] = values


def _consolidated(objects: Mapping[str, Buffer]) -> Buffer:
    """Return the group's metadata with that of its arrays inline, or xarray warns of its absence.

    The JSON is that of zarr.consolidate_metadata, which warns that format 3 does not know it yet.
    """
    inner = {
        key.removesuffix(f"/{METADATA}"): json.loads(data.to_bytes())
        for key, data in sorted(objects.items())
        if key.endswith(f"/{METADATA}")
    }
    inline = {"kind": "inline", "must_understand": False, "metadata": inner}
    group = json.loads(objects[METADATA].to_bytes())
    data = json.dumps({**group, "consolidated_metadata": inline}, indent=2).encode()
    return type(objects[METADATA]).from_bytes(data)


def _finished(group: zarr.Group, objects: Mapping[str, Buffer], name: str) -> Buffer:
    """Return the manifest of a coordinate, which is one chunk."""
    array = group[name]
    assert isinstance(array, zarr.Array)
    key = array.metadata.encode_chunk_key((0,) * array.ndim)
    data = objects[f"{name}/{key}"].to_bytes() if array.size else b""
    rows = np.array([(len(data), crc32c(data))] if array.size else [], ROW)
    records = Records(digest(objects[f"{name}/{METADATA}"]), 0, array.nbytes, rows)
    buffer: Buffer = type(objects[METADATA]).from_bytes(records.pack())
    return buffer


def _job(
    identity: str,
    array: SourceArray,
    objects: Mapping[str, Buffer],
    layouts: Mapping[str, ArrayLayout],
) -> Job:
    chunks = layouts[array.name].chunks
    grid = ChunkGrid(array.shape, chunks)
    grid.check_count(array.name)
    n_chunks = grid.n_chunks
    chunk_bytes = int(np.prod(chunks, dtype=object)) * array.dtype.itemsize
    return Job(
        source=f"{identity} {array.name}",
        array=digest(objects[key_of(array.name, METADATA)]),
        n_chunks=n_chunks,
        batch_chunks=batch_chunks(n_chunks, chunk_bytes),
    )


def digest(metadata: Buffer) -> str:
    """Return the sha256 of the metadata's canonical JSON."""
    plain = json.loads(metadata.to_bytes())
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _check_names(names: Iterable[str]) -> None:
    """Raise BadParams for a variable that would lie where a store keeps its metadata."""
    for name in names:
        if METADATA in name.split("/"):
            raise BadParams(
                f"variable {name}: every group of a Zarr store has a file {METADATA} of its own; "
                "rename it in the source, or take the others by --variable"
            )
