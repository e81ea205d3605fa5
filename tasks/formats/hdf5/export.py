"""NetCDF export (HDF5): arrays, coordinates and attributes.

HDF5 allows one writer, and its library crashes if the disk is full when a file is closed. So the
library writes only the small parts; the samples are contiguous and uncompressed. Their offsets are
known once the file is closed, and workers write them as into any flat file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.formats.contract.signatures import decode_user_block
from gangsaw.tasks.formats.exporting.atomic import write_whole_files
from gangsaw.tasks.formats.exporting.flat_export import FlatFile, export_grid, write_flat
from gangsaw.tasks.formats.hdf5.attributes import write_attributes
from gangsaw.tasks.formats.hdf5.restore import (
    Hdf5OnlyVariable,
    attach_scales,
    path_in_file,
    split_by_type,
    without_enums,
    write_hdf5_only,
)
from gangsaw.tasks.formats.netcdf.groups import VariableAxes, assign_dimensions
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.dataset.attribute_types import (
    ATTRIBUTE_TYPES,
    LAYOUT,
    UNUSED,
    USER_BLOCK,
    in_order,
    recorded_types,
)
from gangsaw.tasks.store.dataset.paths import attrs_by_group
from gangsaw.tasks.store.dataset.variables import fill_of
from gangsaw.tasks.store.objects.files import allocate

if TYPE_CHECKING:
    import h5netcdf
    import h5py
    from distributed import Client

NETCDF_SUFFIXES = (".nc", ".nc4")
SPARE = 4 << 20  # bytes reserved for the structures of HDF5 and the attributes


def export_netcdf(
    source: Source,
    path: Path,
    *,
    overwrite: bool = False,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Write a source to a NetCDF or HDF5 file, uncompressed so that any HDF5 library reads it.

    Raises BadParams if a file is in the way, if axes with the same name have different extents, or
    if NetCDF has no such dtype.
    """
    check_netcdf_support(source)
    source, kinds = split_by_type(source if _is_plain_hdf5(path) else without_enums(source))
    meter = Meter(sum(export_grid(a).n_chunks for a in source.arrays), on_progress)
    with write_whole_files([path], overwrite=overwrite) as (part,):
        allocate(part, _size(source) + SPARE)  # fail early if the disk is too full
        _write_frame(source, part, kinds)
        write_hdf5_only(part, kinds)
        _write_attributes(part, source, kinds)
        allocate(part, part.stat().st_size)
        for array, offset in zip(source.arrays, _offsets(part, source), strict=True):
            dtype = in_order(array.attrs, array.dtype)
            layout = FlatFile(array.shape, tuple(range(len(array.shape))), dtype, offset)
            write_flat(array, part, layout, meter, client)


def check_netcdf_support(source: Source) -> None:
    """Raise BadParams for samples and axes that NetCDF does not support."""
    source, kinds = split_by_type(source)
    assign_dimensions(_axes(variable) for variable in (*_variables(source), *kinds))
    for array in source.arrays:
        if array.dtype.kind not in "biuf":
            raise BadParams(
                f"NetCDF has no {array.dtype.name} samples ({array.name}); decompress to Zarr"
            )


def check_suffix(source: Source, path: Path) -> None:
    """Raise BadParams for a NetCDF target with samples that the NetCDF library does not read."""
    if _is_plain_hdf5(path):
        return
    for kind in split_by_type(source)[1]:
        if kind.dtype.kind == "c" or kind.dtype.name == "float16":
            raise BadParams(
                f"NetCDF has no {kind.dtype.name} samples ({kind.name}): name the target "
                f"{path.stem}.h5, which is plain HDF5, or decompress to Zarr"
            )


def _is_plain_hdf5(path: Path) -> bool:
    return path.suffix.lower() not in NETCDF_SUFFIXES


def _size(source: Source) -> int:
    arrays = sum(int(np.prod(a.shape, dtype=object)) * a.dtype.itemsize for a in source.arrays)
    return arrays + sum(coord.values.nbytes for coord in source.coords)


def _write_frame(source: Source, path: Path, kinds: Sequence[Hdf5OnlyVariable]) -> None:
    """Write a file with everything but the samples of the arrays, for which it has space."""
    import h5netcdf

    named = [v for v in _variables(source) if not _axes(v).is_nameless]
    block = decode_user_block(source.attrs.get(USER_BLOCK))
    with h5netcdf.File(path, "w", userblock_size=len(block) or None) as file:
        for group in _groups(source):
            file.create_group(group)
        axes = [_axes(v).named for v in (*_variables(source), *kinds)]
        homes = {group: dict(extents) for group, extents in assign_dimensions(axes).items()}
        for group, extents in _unused(source).items():
            homes[group] = {**extents, **homes.get(group, {})}
        for group, extents in homes.items():
            (file[group] if group else file).dimensions = extents
        for variable in named:
            _create_named(file, variable)
    with path.open("r+b") as plain:
        plain.write(block)
    if nameless := [v for v in _variables(source) if _axes(v).is_nameless]:
        _write_nameless(path, nameless)


def _variables(source: Source) -> list[SourceArray | Coordinate]:
    return [*source.coords, *source.arrays]


def _groups(source: Source) -> Mapping[str, Mapping[str, object]]:
    """Return the attributes of all groups below the root by path, outer groups first."""
    return attrs_by_group(getattr(source, "groups", ()), [v.name for v in _variables(source)])


def _unused(source: Source) -> Mapping[str, Mapping[str, int]]:
    """Return the extents of the source file's unused dimensions, by group and name."""
    owners = {"": source.attrs, **_groups(source)}
    said = {group: attrs.get(UNUSED) for group, attrs in owners.items()}
    return {
        group: {str(name): int(n) for name, n in dims.items() if isinstance(n, int) and n >= 0}
        for group, dims in said.items()
        if isinstance(dims, Mapping)
    }


def _create_named(file: h5netcdf.File, variable: SourceArray | Coordinate) -> None:
    """Create a variable along named dimensions; only the samples of a coordinate are written."""
    if isinstance(variable, Coordinate):
        _create(file, variable, variable.values.dtype)[...] = variable.values
    else:
        _create(file, variable, variable.dtype)


def _write_nameless(path: Path, variables: Iterable[SourceArray | Coordinate]) -> None:
    """Add data sets of plain HDF5 with unnamed axes."""
    import h5py

    with h5py.File(path, "r+") as file:
        for variable in variables:
            if isinstance(variable, Coordinate):
                made = _create_nameless(file, variable, variable.values.dtype)
                made[...] = variable.values
            else:
                made = _create_nameless(file, variable, variable.dtype)
            attach_scales(file, made, variable.name, variable.dims)


def _create_nameless(
    file: h5py.File, variable: SourceArray | Coordinate, dtype: Dtype
) -> h5py.Dataset:
    dtype, fill, _ = _as_netcdf(variable.attrs, dtype)
    shape = _shape(variable)
    made = file.create_dataset(
        variable.name, shape, dtype, fillvalue=fill, dcpl=_properties(variable)
    )
    if fill is not None:
        made.attrs["_FillValue"] = np.array(fill, dtype)
    return made


def _write_attributes(path: Path, source: Source, kinds: Iterable[Hdf5OnlyVariable]) -> None:
    """Write all attributes but fill values, after all objects that they may reference."""
    import h5py

    dims = {v.name: v.dims for v in (*_variables(source), *kinds)}
    with h5py.File(path, "r+") as file:
        for name, attrs in _owners(source, kinds).items():
            here = path_in_file(file, name, dims[name]) if name in dims else name or "/"
            write_attributes(file[here], _flat_attrs(attrs))


def _owners(
    source: Source, kinds: Iterable[Hdf5OnlyVariable]
) -> Mapping[str, Mapping[str, object]]:
    """Return all attributes but fill values, by the path of their owner; "" is the root."""
    groups = {"": source.attrs, **_groups(source)}
    owners = {
        of: {k: v for k, v in attrs.items() if k not in LAYOUT} for of, attrs in groups.items()
    }
    owners |= {kind.name: kind.attrs for kind in kinds}
    for variable in _variables(source):
        owners[variable.name] = _as_netcdf(variable.attrs, _dtype(variable))[2]
    return owners


def _dtype(variable: SourceArray | Coordinate) -> Dtype:
    return variable.values.dtype if isinstance(variable, Coordinate) else variable.dtype


def _properties(variable: SourceArray | Coordinate) -> object:
    """Return the creation properties of a data set: fill value, and layout of an array.

    The fill value is set here only if no attribute defines it. The samples of an array are
    allocated when the data set is created, so that their file offset is known.
    """
    import h5py

    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dtype = _dtype(variable)
    if dtype.kind in "iuf" and fill_of(variable.attrs, dtype) is None:
        fill = np.array(0 if variable.fill_value is None else variable.fill_value, dtype)
        if any(fill.tobytes()):
            properties.set_fill_value(fill)
    if isinstance(variable, Coordinate):
        return properties
    properties.set_layout(h5py.h5d.CONTIGUOUS)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    return properties


def _offsets(path: Path, source: Source) -> list[int]:
    """Return the offset in bytes of the samples of each array in the file."""
    import h5py

    with h5py.File(path, "r") as file:
        # an array without samples has no space in the file, and no offset
        made = (file[path_in_file(file, array.name, array.dims)] for array in source.arrays)
        return [int(data.id.get_offset() or 0) for data in made]


def _axes(variable: SourceArray | Coordinate | Hdf5OnlyVariable) -> VariableAxes:
    return VariableAxes(variable.name, variable.dims, _shape(variable))


def _shape(variable: SourceArray | Coordinate | Hdf5OnlyVariable) -> tuple[int, ...]:
    return variable.values.shape if isinstance(variable, Coordinate) else variable.shape


def _create(
    file: h5netcdf.File, variable: SourceArray | Coordinate, dtype: Dtype
) -> h5netcdf.Variable:
    dtype, fill, _ = _as_netcdf(variable.attrs, dtype)
    return file.create_variable(
        variable.name, variable.dims, dtype, fillvalue=fill, dcpl=_properties(variable)
    )


def _as_netcdf(
    attrs: Mapping[str, object], dtype: Dtype
) -> tuple[Dtype, object, dict[str, object]]:
    """Return the dtype, fill value and other attributes of a variable in NetCDF.

    NetCDF has no booleans: they become int8 with an attribute by which xarray reads booleans.
    """
    fill = fill_of(attrs, dtype)
    own = {*LAYOUT} if fill is None else {*LAYOUT, "_FillValue"}
    others = {key: value for key, value in attrs.items() if key not in own}
    if dtype.kind == "b":
        return np.dtype("i1"), fill, {**others, "dtype": "bool"}
    return in_order(attrs, dtype), fill, others


def lost_structure(source: Source) -> Iterator[str]:
    """Yield a description of each attribute that changes its form in NetCDF.

    Nested attributes become JSON text.
    """
    plain, kinds = split_by_type(source)
    for owner, attrs in _owners(plain, kinds).items():
        of = f" of {owner}" if owner else ""
        kept = {ATTRIBUTE_TYPES, *recorded_types(attrs)}
        changed = (n for n, value in attrs.items() if n not in kept and not _is_flat(value))
        yield from (f"the form of attribute {name}{of}" for name in changed)


def _is_flat(value: object) -> bool:
    return value is not None and not isinstance(value, bool) and _flatten(value) is value


def _flat_attrs(attrs: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes in forms of NetCDF: texts, numbers or lists; the rest as JSON text.

    Attributes with a note of their HDF5 type stay unchanged.
    """
    notes = recorded_types(attrs)
    return {
        key: value if key in notes or key == ATTRIBUTE_TYPES else _flatten(value)
        for key, value in attrs.items()
        if value is not None
    }


def _flatten(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str | int | float):
        return value
    kinds = {type(part) for part in value} if isinstance(value, list) else set()
    if kinds in ({str}, {int}, {float}, {int, float}):
        return value
    return json.dumps(value)
