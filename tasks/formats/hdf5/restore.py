"""Restoration of carried variables in HDF5: compounds, enumerations, texts and characters."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.exporting.flat_export import export_grid
from gangsaw.tasks.formats.netcdf.cf_times import coordinate_to_numbers, times_to_numbers
from gangsaw.tasks.formats.netcdf.groups import OTHER
from gangsaw.tasks.sources.source import (
    Coordinate,
    Described,
    GroupAttrs,
    Region,
    Source,
    SourceArray,
)
from gangsaw.tasks.store.dataset.attribute_types import HDF5, LAYOUT, in_order
from gangsaw.tasks.store.dataset.carried import (
    DTYPE,
    fill_item,
    is_carried,
    items_to_bytes,
    list_variables,
    plain_attrs,
    restore_variable,
    unpack_items,
)
from gangsaw.tasks.store.dataset.kinds import dtype_of, enum_of, is_ragged
from gangsaw.tasks.store.dataset.texts import list_texts

if TYPE_CHECKING:
    import h5py


Variable = TypeVar("Variable", bound="SourceArray | Coordinate")
NUMBER = "_Netcdf4Dimid"  # attribute with the number of a dimension


@dataclass(frozen=True)
class Hdf5OnlyVariable:
    """Variable to be written as an HDF5 data set with a type that NetCDF lacks.

    The store has its items in another form, such as bytes along one more axis.

    Attributes
    ----------
    of : variable in its stored form
    name, dims, shape : name, axis names and extents of the data set
    """

    of: SourceArray | Coordinate
    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def dtype(self) -> Dtype:
        """Dtype of the samples in their stored form."""
        return self.of.values.dtype if isinstance(self.of, Coordinate) else self.of.dtype

    @property
    def attrs(self) -> dict[str, object]:
        """Attributes of the variable, without those that describe its stored form."""
        own = plain_attrs(self.of.attrs)
        return {k: v for k, v in own.items() if k not in (HDF5, *LAYOUT)}


@dataclass(frozen=True)
class PlainSource:
    """Source with only those variables whose types NetCDF has."""

    name: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...]
    attrs: Mapping[str, object]
    groups: tuple[GroupAttrs, ...] = ()

    def identity(self) -> str:
        """Return the name of the source: an export to HDF5 never resumes, so it is not compared."""
        return self.name


def split_by_type(source: Source) -> tuple[PlainSource, tuple[Hdf5OnlyVariable, ...]]:
    """Split the variables of a source: those with types of NetCDF, and those of HDF5 only."""
    found = list_variables(source)
    carried = [v for v in found if _is_apart(v)]
    names = {v.name for v in carried}
    plain = PlainSource(
        source.name,
        tuple(times_to_numbers(array) for array in source.arrays if array.name not in names),
        tuple(coordinate_to_numbers(c) for c in source.coords if c.name not in names),
        source.attrs,
        getattr(source, "groups", ()),
    )
    return plain, tuple(map(_kind, carried))


def without_enums(source: Source) -> PlainSource:
    """Return a source with booleans as numbers: the NetCDF library ignores their enumerations."""
    return PlainSource(
        source.name,
        tuple(map(_without_enum, source.arrays)),
        tuple(map(_without_enum, source.coords)),
        source.attrs,
        getattr(source, "groups", ()),
    )


def _without_enum(variable: Variable) -> Variable:
    dtype = variable.values.dtype if isinstance(variable, Coordinate) else variable.dtype
    if dtype.kind != "b" or HDF5 not in variable.attrs:
        return variable
    assert isinstance(variable, Described | Coordinate)
    attrs = {key: value for key, value in variable.attrs.items() if key != HDF5}
    return cast("Variable", replace(variable, attrs=attrs))


def _is_apart(variable: SourceArray | Coordinate) -> bool:
    """Return True if a variable needs a type that HDF5 has and NetCDF lacks.

    Such types are half floats, complex numbers, and the enumerations of booleans in HDF5.
    """
    is_whole = isinstance(variable, Coordinate)
    dtype = variable.values.dtype if isinstance(variable, Coordinate) else variable.dtype
    return (
        HDF5 in variable.attrs
        or (dtype.kind == "T" and not is_whole)  # the file offsets of texts are not known ahead
        or dtype.kind == "c"
        or dtype == np.dtype("f2")
        or (DTYPE in variable.attrs and not str(variable.attrs[DTYPE]).startswith(("<U", ">U")))
    )


def _kind(variable: SourceArray | Coordinate) -> Hdf5OnlyVariable:
    found = restore_variable(variable)
    shape = found.values.shape if isinstance(found, Coordinate) else found.shape
    dims, of = found.dims, variable.attrs.get(DTYPE)
    if isinstance(of, Mapping) and "char" in of:
        dims, shape = (*dims, str(of["char"])), (*shape, cast("int", of["length"]))
    return Hdf5OnlyVariable(variable, variable.name, dims, shape)


def write_hdf5_only(path: Path, kinds: Sequence[Hdf5OnlyVariable]) -> None:
    """Add data sets with HDF5 types to a NetCDF file that already defines their dimensions.

    Their attributes are not written.
    """
    import h5py

    if not kinds:
        return
    with h5py.File(path, "r+") as file:
        for kind in kinds:
            here = path_in_file(file, kind.name, kind.dims)
            users = _delete_placeholder(file, here)
            made = _create(file, here, kind)
            if users is None:
                attach_scales(file, made, kind.name, kind.dims)
            else:
                _make_scale(file, made, kind, users)


def attach_scales(file: h5py.File, made: h5py.Dataset, path: str, dims: Iterable[str]) -> None:
    """Attach to each axis of a variable the scale of its name, if the file has one."""
    for number, dim in enumerate(dims):
        if (scale := _scale(file, path, dim)) is not None:
            made.dims[number].attach_scale(scale)


def path_in_file(file: h5py.File, path: str, dims: Sequence[str]) -> str:
    """Return the path of a variable in a NetCDF file.

    The name gets a prefix if a dimension has the same name and is not the variable's first one.
    """
    group, _, name = path.rpartition("/")
    is_other = name not in dims[:1] and path in file and _is_scale(file[path])
    return f"{group}/{OTHER}{name}".lstrip("/") if is_other else path


def _is_scale(item: h5py.Group | h5py.Dataset) -> bool:
    return bool(item.attrs.get("CLASS") == b"DIMENSION_SCALE")


@dataclass(frozen=True)
class ScaleUsers:
    """Number of a NetCDF dimension, and the (data set, axis) pairs that have its scale."""

    number: object
    axes: tuple[tuple[str, int], ...]


def _delete_placeholder(file: h5py.File, path: str) -> ScaleUsers | None:
    """Delete the placeholder data set of a dimension; return where it was attached, or None."""
    if path not in file:
        return None
    old = file[path]
    axes = [(file[ref].name, int(axis)) for ref, axis in old.attrs.get("REFERENCE_LIST", ())]
    for name, axis in axes:
        file[name].dims[axis].detach_scale(old)
    users = ScaleUsers(old.attrs.get(NUMBER), tuple(axes))
    del file[path]
    return users


def _make_scale(
    file: h5py.File, made: h5py.Dataset, kind: Hdf5OnlyVariable, users: ScaleUsers
) -> None:
    """Make a data set the scale of the dimension with its name, and attach it to its users."""
    made.make_scale(kind.name.rpartition("/")[2])
    for name, axis in users.axes:
        file[name].dims[axis].attach_scale(made)
    if users.number is not None:
        made.attrs[NUMBER] = users.number
    if len(kind.dims) > 1:  # a scale has no scales attached; this attribute names its dimensions
        scales = [made, *(_scale(file, kind.name, dim) for dim in kind.dims[1:])]
        numbers = [scale.attrs[NUMBER] for scale in scales if scale is not None]
        made.attrs["_Netcdf4Coordinates"] = np.array(numbers, "i4")


def _scale(file: h5py.File, name: str, dim: str) -> h5py.Dataset | None:
    """Return the scale of an axis, from the variable's group or the nearest group above."""
    import h5py

    group = name.rpartition("/")[0]
    while True:
        found = file.get(f"{group}/{dim}")
        if isinstance(found, h5py.Dataset):
            return found
        if not group:
            return None
        group = group.rpartition("/")[0]


def _create(file: h5py.File, path: str, kind: Hdf5OnlyVariable) -> h5py.Dataset:
    import h5py

    group = file.require_group(path.rpartition("/")[0] or "/")
    item = _type(group, kind)
    space = h5py.h5s.create_simple(kind.shape) if kind.shape else h5py.h5s.create(h5py.h5s.SCALAR)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    name = path.rpartition("/")[2].encode()
    made = h5py.Dataset(h5py.h5d.create(group.id, name, item, space, properties))
    _write(made, kind)
    fill = fill_item(kind.of.attrs, dtype_of(kind.of.attrs[DTYPE])) if _has_fill(kind) else None
    if fill is not None:
        made.attrs.create("_FillValue", fill)
    return made


def _has_fill(kind: Hdf5OnlyVariable) -> bool:
    of = kind.of.attrs.get(DTYPE)
    return of is not None and not is_ragged(of)


def _type(group: h5py.Group, kind: Hdf5OnlyVariable) -> h5py.h5t.TypeID:
    """Return the noted HDF5 type, else the type that h5py derives from the NumPy dtype."""
    import h5py

    if (said := kind.of.attrs.get(HDF5)) is None:
        return _type_of(kind.of.attrs.get(DTYPE, _plain_type(kind)))
    assert isinstance(said, Mapping)
    found = h5py.h5t.decode(base64.b64decode(str(said["type"])))
    if "name" not in said:
        return found
    name = str(said["name"])
    if isinstance(there := group.file.get(name), h5py.Datatype):
        return there.id
    found.commit(group.file.id, name.encode())
    return found


def _plain_type(kind: Hdf5OnlyVariable) -> object:
    """Return the type description of a variable that the store has in its original type."""
    return "text" if kind.dtype.kind == "T" else in_order(kind.of.attrs, kind.dtype).str


def _type_of(of: object) -> h5py.h5t.TypeID:
    import h5py

    if of == "text":
        return h5py.h5t.py_create(h5py.string_dtype(), logical=True)
    if of == "bytes":
        return h5py.h5t.py_create(h5py.vlen_dtype(np.dtype("u1")), logical=True)
    dtype = dtype_of(of)
    if (names := enum_of(of)) is not None:
        dtype = h5py.enum_dtype(names, dtype)
    if dtype.kind in "V" and dtype.names is None and dtype.subdtype is None:
        opaque = h5py.h5t.create(h5py.h5t.OPAQUE, dtype.itemsize)
        opaque.set_tag(b"")
        return opaque
    try:
        return h5py.h5t.py_create(dtype, logical=True)
    except TypeError as error:
        raise BadParams(f"HDF5 has no type for {of!r}: {error}") from None


def _write(made: h5py.Dataset, kind: Hdf5OnlyVariable) -> None:
    """Write the items of a variable piece by piece; a coordinate is written whole."""
    if isinstance(kind.of, Coordinate):
        _write_whole(made, kind, kind.of)
        return
    grid = export_grid(kind.of)
    for number in range(grid.n_chunks):
        region = grid.region(number)
        put = _put_texts if kind.dtype.kind == "T" else _put
        put(made, kind, region, kind.of.read(region))


def _write_whole(made: h5py.Dataset, kind: Hdf5OnlyVariable, coord: Coordinate) -> None:
    of, values = coord.attrs.get(DTYPE), coord.values
    if of is None and values.dtype.kind != "T":
        _put(made, kind, tuple(slice(0, n) for n in values.shape), values)
    elif of is None:  # texts of variable length
        _put_texts(made, kind, tuple(slice(0, n) for n in values.shape), values)
    elif is_ragged(of):
        made[...] = _items(unpack_items(values, of), of, made.dtype)
    else:
        whole = cast("Coordinate", restore_variable(coord)).values
        _put(made, kind, tuple(slice(0, n) for n in values.shape), items_to_bytes(whole))


def _items(values: NumpyArray, of: object, dtype: Dtype) -> NumpyArray:
    if (
        of == "bytes"
        and dtype.metadata
        and "vlen" in dtype.metadata
        and (dtype.metadata["vlen"] is not bytes)
    ):
        values = values.copy()
        for i, item in enumerate(values.ravel()):
            values.reshape(-1)[i] = np.frombuffer(item, np.uint8)
        return values
    if dtype.names is None:
        return values
    made = np.empty(values.shape, dtype)
    for place, item in np.ndenumerate(values):
        made[place] = item
    return made


def _put_texts(
    made: h5py.Dataset, kind: Hdf5OnlyVariable, region: Region, values: NumpyArray
) -> None:
    """Write texts of variable length; raise BadParams for a NUL, at which HDF5 ends a text."""
    texts = [text.encode() for text in list_texts(values)]
    if any(b"\0" in text for text in texts):
        raise BadParams(f"HDF5 has no texts with NULs in them ({kind.name}); decompress to Zarr")
    made[region] = np.array(texts, object).reshape(values.shape)


def _put(made: h5py.Dataset, kind: Hdf5OnlyVariable, region: Region, data: NumpyArray) -> None:
    """Write the items of a region as bytes; an axis of bytes or characters is always whole."""
    import h5py

    if not data.size:
        return
    item = made.id.get_type()
    if not is_carried(kind.of.attrs):  # numbers: use the byte order of the type
        data = data.astype(np.dtype(str(made.dtype.str)))
    flat = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
    starts = [part.start for part in region][: len(kind.shape)]
    extents = [part.stop - part.start for part in region][: len(kind.shape)]
    starts += [0] * (len(kind.shape) - len(starts))
    extents += list(kind.shape[len(extents) :])
    if not kind.shape:
        made.id.write(h5py.h5s.ALL, h5py.h5s.ALL, flat, mtype=item)
        return
    space = made.id.get_space()
    space.select_hyperslab(tuple(starts), tuple(extents))
    memory = h5py.h5s.create_simple(tuple(extents))
    made.id.write(memory, space, flat, mtype=item)
