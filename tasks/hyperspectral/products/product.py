"""Common parts of products in NetCDF and HDF5, which are read as whole trees of groups.

Coordinates in other groups or in attributes are copied next to the cube, where xarray finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.tasks.formats.contract.format import SourceOptions
from gangsaw.tasks.formats.hdf5.source import XarrayArray, XarraySource, open_netcdf, open_variables
from gangsaw.tasks.sources.source import Coordinate, SourceArray
from gangsaw.tasks.store.dataset.original_form import change_dims, mark_repeated
from gangsaw.tasks.store.dataset.paths import last_component

if TYPE_CHECKING:
    import h5py


@dataclass(frozen=True)
class Cube:
    """Axis names, coordinates and attributes that a satellite product's array lacks in its file.

    Attributes
    ----------
    path : path of the array
    dims : names of its axes
    near : coordinates of the array, copied to its group; arrays among them are stored chunk by
        chunk
    attrs : additional attributes, such as _FillValue
    """

    path: str
    dims: tuple[str, ...]
    near: tuple[XarrayArray | Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)


def is_product(path: str, is_own: Callable[[h5py.File], bool]) -> bool:
    """Return the result of `is_own` for a file; False if damaged, as the opener reports it."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return is_own(file)
    except (OSError, RuntimeError, KeyError):
        return False


def open_product(
    path: str, options: SourceOptions, cubes: Callable[[XarraySource], Iterable[Cube]]
) -> XarraySource:
    """Open a product file as NetCDF, and add the axes and coordinates that `cubes` returns.

    If the options select a group, it is opened without them.
    """
    source = open_netcdf(path, options.group, options.variables, accept_loss=options.accept_loss)
    return source if options.group else describe_cubes(source, list(cubes(source)))


def read_text_attribute(file: h5py.File, name: str) -> str:
    """Return an attribute of the root as text; "" if it does not exist."""
    value = file.attrs.get(name, "")
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def describe_cubes(source: XarraySource, cubes: Sequence[Cube]) -> XarraySource:
    """Add the dimensions, coordinates and attributes that `cubes` describe to a source."""
    arrays: dict[str, SourceArray] = {array.name: array for array in source.arrays}
    own = {array.name: array for array in plain_arrays(source)}
    coords = {coord.name: coord for coord in source.coords}
    taken = {*arrays, *coords}  # a product may have such a coordinate already
    for cube in cubes:
        near = [one for one in cube.near if one.name not in taken]
        arrays[cube.path] = _add_attributes(own[cube.path], cube, near)
        arrays |= {one.name: one for one in near if not isinstance(one, Coordinate)}
        coords |= {one.name: one for one in near if isinstance(one, Coordinate)}
    return replace(source, arrays=tuple(arrays.values()), coords=tuple(coords.values()))


def plain_arrays(source: XarraySource) -> list[XarrayArray]:
    """Return the arrays whose stored samples are those of the file."""
    return [array for array in source.arrays if isinstance(array, XarrayArray)]


def _add_attributes(
    array: XarrayArray, cube: Cube, near: Iterable[XarrayArray | Coordinate]
) -> XarrayArray:
    """Return an array with names of its axes, and with the CF attribute `coordinates`."""
    names = str(array.attrs.get("coordinates", "")).split()
    names += [last_component(one.name) for one in near if one.dims != (last_component(one.name),)]
    said = {"coordinates": " ".join(names)} if names else {}
    return change_dims(array, cube.dims, {**cube.attrs, **said})


def copy_coordinate(
    variable: XarrayArray, group: str, dims: tuple[str, ...] | None = None
) -> XarrayArray | Coordinate:
    """Return a coordinate variable as a copy in another group.

    A variable of one axis is read and becomes a `Coordinate`.
    """
    attrs = mark_repeated(variable.attrs, variable.name)
    name, names = f"{group}/{last_component(variable.name)}".lstrip("/"), dims or variable.dims
    if len(variable.shape) > 1:
        return replace(variable, name=name, dims=names, attrs=attrs)
    values = np.asarray(variable.read(tuple(slice(0, n) for n in variable.shape)))
    return Coordinate(name, names, values, attrs)


def cubes_by_dims(
    source: XarraySource,
    groups: Iterable[str],
    bands: Iterable[str],
    coordinates: Mapping[str, str],
) -> Iterator[Cube]:
    """Yield the arrays in `groups` with the coordinates along their axes.

    Parameters
    ----------
    groups : groups of the cubes, and of images of one band
    bands : groups whose variables of one axis are coordinates of bands
    coordinates : groups, and the names in them that are coordinates of rows and columns
    """
    near = [v for group in bands for v in open_variables(source.path, group) if len(v.dims) == 1]
    for group, names in coordinates.items():
        near += [
            v for v in open_variables(source.path, group) if last_component(v.name) in names.split()
        ]
    cubes = [
        a for a in plain_arrays(source) if a.name.rpartition("/")[0] in groups and len(a.dims) > 1
    ]
    for array in cubes:
        along = [v for v in near if v.dims and _axes(v) <= _axes(array) and v.dtype.kind in "biuf"]
        group = array.name.rpartition("/")[0]
        yield Cube(array.name, array.dims, tuple(copy_coordinate(v, group) for v in along))


def _axes(variable: XarrayArray) -> set[tuple[str, int]]:
    return set(zip(variable.dims, variable.shape, strict=True))
