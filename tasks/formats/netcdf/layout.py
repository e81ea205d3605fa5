"""Layout properties that a NetCDF export changes: unlimited dimensions and the file version.

Dimensions and data sets that can grow need chunks, but exported samples are contiguous. Companion
attributes record these properties, so that an export can report the change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.formats.netcdf.groups import NAMELESS
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.dataset.attribute_types import CLASSIC, HDF5, MAX_SHAPE, UNLIMITED, UNUSED

if TYPE_CHECKING:
    import h5netcdf
    import h5py

FORMS = {
    b"CDF\x01": "NetCDF 3 (classic)",
    b"CDF\x02": "NetCDF 3 (64-bit offset)",
    b"CDF\x05": "NetCDF 3 (64-bit data)",
}
MODEL = "NetCDF 4 (classic model)"
STRICT = "_nc3_strict"  # attribute by which the NetCDF library marks the classic model


def classic_form(path: str) -> dict[str, object]:
    """Return the attribute that records the NetCDF 3 variant of a file; {} for other files."""
    with Path(path).open("rb") as file:
        form = FORMS.get(file.read(4))
    return {CLASSIC: form} if form else {}


def group_notes(group: h5netcdf.Group) -> dict[str, object]:
    """Return the attributes that record a group's unlimited dimensions and the classic model."""
    is_strict = STRICT in group._h5group.attrs
    return {**unlimited_note(unlimited_dims_of(group)), **({CLASSIC: MODEL} if is_strict else {})}


def unlimited_dims_of(group: h5netcdf.Group) -> list[str]:
    """Return the names of the unlimited dimensions of a group."""
    dims = group.dimensions.items()
    return [str(n) for n, dim in dims if dim.isunlimited() and not str(n).startswith(NAMELESS)]


def unlimited_note(names: Sequence[str]) -> dict[str, object]:
    """Return the attribute that records unlimited dimensions; {} if there are none."""
    return {UNLIMITED: list(names)} if names else {}


def max_shape(data: h5py.Dataset, dims: Sequence[str]) -> dict[str, object]:
    """Return the attribute that records the maximal extents of a data set, null for no limit.

    {} if the data set cannot grow, or only along unlimited dimensions, which are recorded already.
    """
    if data.shape is None:
        return {}
    axes = zip(data.shape, data.maxshape, dims, strict=True)
    grows = any(
        most != n and (most is not None or dim.startswith(NAMELESS)) for n, most, dim in axes
    )
    return {MAX_SHAPE: list(data.maxshape)} if grows else {}


def describe_layout_changes(source: Source) -> Iterator[str]:
    """Yield a description of each layout property that changes in NetCDF 4 without data loss."""
    variables: list[SourceArray | Coordinate] = [*source.coords, *source.arrays]
    used = {dim for variable in variables for dim in variable.dims}
    groups = {"": source.attrs, **{g.path: g.attrs for g in getattr(source, "groups", ())}}
    if CLASSIC in source.attrs:
        yield f"{source.attrs[CLASSIC]}, which becomes NetCDF 4"
    for path, attrs in groups.items():
        of = f" of group {path}" if path else ""
        yield from (
            f"unlimited dimension {n}{of}, which becomes fixed" for n in _growing(attrs, used)
        )
    for variable in variables:
        yield from _describe_variable(variable)


def _growing(attrs: Mapping[str, object], used: set[str]) -> list[object]:
    """Return the unlimited dimensions of a group that the exported file will define."""
    found, unused = attrs.get(UNLIMITED), attrs.get(UNUSED)
    there = used | set(unused if isinstance(unused, Mapping) else ())
    return [name for name in found if name in there] if isinstance(found, list) else []


def _describe_variable(variable: SourceArray | Coordinate) -> Iterator[str]:
    if isinstance(most := variable.attrs.get(MAX_SHAPE), list):
        words = ", ".join("unlimited" if n is None else str(n) for n in most)
        yield f"the maximal shape ({words}) of {variable.name}, which can no longer grow"
    dtype = variable.values.dtype if isinstance(variable, Coordinate) else variable.dtype
    if dtype.kind == "b":
        keeps = "; .h5 keeps HDF5's type" if HDF5 in variable.attrs else ""
        yield f"booleans of {variable.name}, which NetCDF (.nc) has as int8 with dtype{keeps}"
