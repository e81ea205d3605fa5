"""Objects of a target except its chunks: built in memory, so that an error touches no store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import zarr
from zarr.core.buffer import Buffer
from zarr.core.common import JSON
from zarr.dtype import VariableLengthBytes
from zarr.storage import MemoryStore

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.sources.source import Coordinate, Description, GroupAttrs, Source, SourceArray
from gangsaw.tasks.store.arrays.chunks import METADATA, README, ChunkGrid
from gangsaw.tasks.store.arrays.layout import ArrayLayout
from gangsaw.tasks.store.dataset.dims import make_dims_agree
from gangsaw.tasks.store.dataset.openable import select_openable_attrs
from gangsaw.tasks.store.dataset.original_form import record_renamed_dims, restore_for_zarr
from gangsaw.tasks.store.dataset.paths import attrs_by_group, key_of
from gangsaw.tasks.store.readme import make_readme
from gangsaw.tasks.store.state.journal import Job, batch_chunks, metadata_digest
from gangsaw.tasks.store.state.manifest import MANIFEST
from gangsaw.tasks.store.state.records import ROW, Records

# attributes of a variable, and its dimension names, some or all of which may be absent
Axes: TypeAlias = "tuple[Mapping[str, object], tuple[str | None, ...] | None]"


@dataclass(frozen=True)
class Skeleton:
    """All objects of a target store that are written before the first chunk.

    Attributes
    ----------
    objects : metadata of the group and its arrays, and whole coordinates, by store key
    jobs : identity of the job that fills each array, by array name
    """

    objects: Mapping[str, Buffer]
    jobs: Mapping[str, Job]

    def metadata(self, name: str) -> bytes:
        """Return the zarr.json of an array by its name."""
        return self.objects[key_of(name, METADATA)].to_bytes()


def build_skeleton(source: Source, layouts: Mapping[str, ArrayLayout]) -> Skeleton:
    """Return the skeleton of a group with the source's arrays and coordinates.

    Raises
    ------
    BadParams
        Zarr cannot represent an array, its name or its attributes, or the codec rejects it.
    """
    groups = getattr(source, "groups", ())
    own_axes = getattr(source, "gives_back_axes", False)
    objects = build_objects(
        source.name, source.arrays, source.coords, source.attrs, layouts, groups, own_axes=own_axes
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
    *,
    own_axes: bool = False,
) -> Mapping[str, Buffer]:
    """Return the objects of a group by key: metadata of all its arrays, coordinates as a whole.

    A single array named "" lies at the root, in place of a group.

    Parameters
    ----------
    name : name of the source in error messages
    own_axes : keep the dimension names of the source file, where one name may have several extents

    Raises
    ------
    BadParams : see `build_skeleton`
    """
    objects: dict[str, Buffer] = {}
    arrays, coords = tuple(arrays), tuple(coords)
    names = [*(array.name for array in arrays), *(coordinate.name for coordinate in coords)]
    _check_names(names)
    store = MemoryStore(objects)
    try:
        if names == [""]:
            _create(store, arrays[0], _axes(arrays, (), own_axes=own_axes)[""], layouts[""])
            _add_readmes(objects, arrays)
            return objects
        group = zarr.create_group(store, attributes=dict(attrs))
        for path, of_group in attrs_by_group(groups, names).items():
            group.create_group(path, attributes=dict(of_group))
        axes = _axes(arrays, coords, own_axes=own_axes)
        for array in arrays:
            _create(store, array, axes[array.name], layouts[array.name])
        for coordinate in coords:
            _write(group, coordinate, axes[coordinate.name])
    except GangsawError:
        raise
    except (TypeError, ValueError, NotImplementedError) as error:
        raise BadParams(f"{name} cannot be held in a Zarr store: {error}") from error
    objects[METADATA] = _consolidate(objects)
    _add_readmes(objects, arrays)
    for coordinate in coords:
        name = coordinate.name
        objects[f"{name}/{MANIFEST}"] = _make_manifest(group, objects, name)
    return objects


def _axes(
    arrays: Sequence[Description], coords: Sequence[Coordinate], *, own_axes: bool
) -> Mapping[str, Axes]:
    """Return the attributes and dimension names of each variable by path.

    Parameters
    ----------
    own_axes : True for the names of the file, False for names consistent between variables
    """
    agreed = make_dims_agree(arrays, coords)
    variables: list[Description | Coordinate] = [*arrays, *coords]
    told = {} if own_axes else select_openable_attrs(variables)
    axes: dict[str, Axes] = {}
    for one in variables:
        dims = agreed[one.name]
        attrs = record_renamed_dims(told.get(one.name, one.attrs), one.dims, dims)
        axes[one.name] = restore_for_zarr(attrs, dims) if own_axes else (attrs, dims)
    return axes


def _create(store: MemoryStore, array: Description, axes: Axes, layout: ArrayLayout) -> None:
    """Create an array; BadParams names it if its codec rejects such chunks."""
    try:
        zarr.create_array(
            store,
            name=array.name or None,
            shape=array.shape,
            dtype=_native_dtype(array.dtype),
            fill_value=_fill(array.fill_value, array.dtype),
            attributes=_json(axes[0]),
            dimension_names=axes[1],
            **layout.creation(),
        )
    except BadParams as error:
        raise BadParams(f"{array.name}: {error}") from error


def _add_readmes(objects: dict[str, Buffer], arrays: Iterable[Description]) -> None:
    """Add a README next to the metadata of each array that needs one."""
    for array in arrays:
        metadata = objects[key_of(array.name, METADATA)]
        if text := make_readme(metadata.to_bytes()):
            objects[key_of(array.name, README)] = type(metadata).from_bytes(text)


def _json(attrs: Mapping[str, object]) -> dict[str, JSON]:
    return cast("dict[str, JSON]", dict(attrs))  # Zarr raises for values that JSON cannot represent


def _fill(value: object, dtype: Dtype) -> object:
    """Return the fill value in the array's dtype, or None if the dtype cannot represent it."""
    if value is None or dtype.kind not in "biufc":
        return value
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            found = np.asarray(value).astype(dtype)
        is_same = np.array_equal(found, np.asarray(value), equal_nan=dtype.kind in "fc")
    except (TypeError, ValueError, OverflowError):
        return None
    return found[()] if dtype.kind in "fc" or is_same else None


def _native_dtype(dtype: Dtype) -> Dtype | VariableLengthBytes:
    """Return the dtype in native byte order; Zarr's type of variable-length bytes for objects."""
    if dtype.kind == "O":  # bytes of any length; strings have a dtype of their own
        return VariableLengthBytes()
    return dtype if dtype.kind == "T" else dtype.newbyteorder("=")


def _write(group: zarr.Group, coordinate: Coordinate, axes: Axes) -> None:
    values = np.asarray(coordinate.values)
    array = group.create_array(
        coordinate.name,
        shape=values.shape,
        dtype=_native_dtype(values.dtype),
        fill_value=_fill(coordinate.fill_value, values.dtype),
        chunks=tuple(max(1, n) for n in values.shape),
        attributes=_json(axes[0]),
        dimension_names=axes[1],
        config={"write_empty_chunks": True},
    )
    array[...] = values


def _consolidate(objects: Mapping[str, Buffer]) -> Buffer:
    """Return the group's metadata with that of its arrays inline: without it xarray warns.

    The JSON is that of `zarr.consolidate_metadata`, which warns that format 3 does not define it
    yet.
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


def _make_manifest(group: zarr.Group, objects: Mapping[str, Buffer], name: str) -> Buffer:
    """Return the manifest of a coordinate, which is stored as one chunk."""
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
    """Return the SHA-256 of the metadata's canonical JSON, in hexadecimal digits."""
    return metadata_digest(json.loads(metadata.to_bytes()))


def _check_names(names: Iterable[str]) -> None:
    """Raise BadParams for a variable whose path contains a store's metadata file name."""
    for name in names:
        if METADATA in name.split("/"):
            raise BadParams(
                f"variable {name}: every group of a Zarr store has a file {METADATA} of its own; "
                "rename it in the source, or select the others by --variable"
            )
