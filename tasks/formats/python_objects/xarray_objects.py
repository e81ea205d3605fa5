"""Sources made of xarray objects: variables are encoded as xarray does, by the CF conventions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.errors import BadParams, first_line
from gangsaw.tasks.formats.python_objects.arrays_in_memory import ArrayInMemory
from gangsaw.tasks.formats.python_objects.blocks import make_block_array
from gangsaw.tasks.formats.python_objects.packing import drop_lossy_packing
from gangsaw.tasks.formats.python_objects.source import ObjectSource, object_source
from gangsaw.tasks.sources.source import GroupAttrs, SourceArray
from gangsaw.tasks.store.dataset.variables import fill_of, json_attrs

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

NAMELESS = "data"  # variable name for a DataArray without a name
JSON = (str, int, float, bool, type(None), np.generic, np.ndarray, bytes)


def from_xarray(
    value: xr.DataArray | xr.Dataset | xr.DataTree,
    client: Client | None = None,
    variables: Sequence[str] = (),
    *,
    accept_loss: bool = False,
) -> ObjectSource:
    """Return a DataArray, Dataset or DataTree as a source.

    Samples are encoded as by `to_zarr`: times become numbers with units. The dtype, scale, offset
    and fill value of `encoding` are applied if they restore every value, else a remark reports
    that they do not. Chunks and codecs of `encoding` are ignored: they belong to another store.
    Raises BadParams for unsupported variables and attributes, by name.
    """
    name = f"the {type(value).__name__}"
    found: list[SourceArray] = []
    data: list[str] = []
    groups: list[GroupAttrs] = []
    remarks: list[str] = []
    for path, part in _parts(value):
        prefix = f"{path}/".lstrip("/")
        data += [f"{prefix}{one}" for one in part.data_vars]
        exact, lossy = drop_lossy_packing(_make_lazy(part), prefix, variables)
        own, attrs = _variables(exact, prefix, client)
        remarks += lossy
        found += own
        groups.append(GroupAttrs(path, attrs))
    top, *below = groups
    source = object_source(name, found, data, below, top.attrs, variables, accept_loss=accept_loss)
    return replace(source, remarks=tuple(remarks))


def with_exact_packing(
    value: xr.Dataset | xr.DataTree,
) -> tuple[xr.Dataset | xr.DataTree, tuple[str, ...]]:
    """Return a data set or tree without lossy packings, and a note for each dropped one."""
    import xarray as xr

    if isinstance(value, xr.Dataset):
        return drop_lossy_packing(_make_lazy(value))
    notes: list[str] = []
    nodes: dict[str, xr.Dataset] = {}
    for path, part in _parts(value):
        nodes[f"/{path}"], lossy = drop_lossy_packing(_make_lazy(part), f"{path}/".lstrip("/"))
        notes += lossy
    return xr.DataTree.from_dict(nodes), tuple(notes)


def _parts(value: xr.DataArray | xr.Dataset | xr.DataTree) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the path and data set of each group, the root first."""
    import xarray as xr

    if isinstance(value, xr.DataTree):
        root = value.path
        for node in value.subtree:
            path = node.path.removeprefix(root).strip("/")
            yield path, node.to_dataset(inherit=node is value)
        return
    yield "", dataset_of(value) if isinstance(value, xr.DataArray) else value


def dataset_of(array: xr.DataArray, nameless: str = NAMELESS) -> xr.Dataset:
    """Return a DataArray as a Dataset; raise BadParams if a coordinate has the same name."""
    name = nameless if array.name is None else array.name
    try:
        return array.to_dataset(name=name)
    except ValueError as error:
        raise BadParams(f"the DataArray {name}: {first_line(error)}: rename it") from None


def _variables(
    data: xr.Dataset, prefix: str, client: Client | None
) -> tuple[list[SourceArray], dict[str, object]]:
    """Return the encoded variables of a group, and its attributes."""
    from xarray import conventions

    _check(data, prefix)
    encoded, attrs = conventions.encode_dataset_coordinates(data)
    _check_attrs(attrs, prefix or "the root")
    found = []
    for key, variable in encoded.items():
        name = f"{prefix}{key}"
        _check_attrs(variable.attrs, name)
        if variable.dtype.kind == "b":  # CF would encode booleans as int8; Zarr stores them
            found.append(_variable(name, variable, client))
            continue
        try:
            stored = conventions.encode_cf_variable(variable, name=key)
        except Exception as error:  # a duck array of any library may raise anything
            raise BadParams(f"{name} cannot be stored: {first_line(error)}") from error
        found.append(_variable(name, stored, client))
    return found, json_attrs({str(k): v for k, v in attrs.items()}, np.dtype("u1"))


def _check(data: xr.Dataset, prefix: str) -> None:
    """Raise BadParams for indexes and variable names that a store does not support."""
    import xarray as xr

    for key, index in data.xindexes.items():
        if isinstance(index, xr.indexes.PandasMultiIndex):
            dim = index.dim
            raise BadParams(
                f"{prefix}{key} is of a MultiIndex along {dim}, which no store holds: "
                f"reset_index({str(dim)!r}) makes coordinates of its levels"
            )
    for key in data.variables:
        if "/" in str(key):
            raise BadParams(f"{key}: names of variables hold no /, which leads into groups")


def _make_lazy(data: xr.Dataset) -> xr.Dataset:
    """Return a data set with the variables that are not in memory yet as Dask arrays."""
    waiting = {
        name: variable.chunk(variable.encoding.get("preferred_chunks", {}))
        for name, variable in data.variables.items()
        if variable.chunks is None and not variable._in_memory and name not in data.xindexes
    }
    return data.assign(waiting) if waiting else data


def _variable(name: str, variable: xr.Variable, client: Client | None) -> SourceArray:
    dims = tuple(str(dim) for dim in variable.dims)
    if len(set(dims)) < len(dims):
        raise BadParams(f"{name} has two axes of one name: {', '.join(dims)}")
    attrs = json_attrs({str(k): v for k, v in variable.attrs.items()}, variable.dtype)
    fill = fill_of(attrs, variable.dtype)
    if variable.chunks is not None:
        return make_block_array(variable.data, dims, name, attrs, fill, client)
    values = variable.data
    if not isinstance(values, np.ndarray):
        kind = f"{type(values).__module__}.{type(values).__name__}"
        raise BadParams(f"{name} holds a {kind}: NumPy and Dask arrays are supported")
    return ArrayInMemory(values, dims, name, attrs, fill_value=fill)


def _check_attrs(attrs: Mapping[object, object], name: str) -> None:
    """Raise BadParams for an attribute that JSON cannot represent."""
    for key, value in attrs.items():
        if not _is_json(value):
            kind = type(value).__name__
            raise BadParams(f"attribute {key!r} of {name} is a {kind}, which JSON has no form for")


def _is_json(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_json, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    is_time = isinstance(value, np.generic | np.ndarray) and value.dtype.kind not in "biufSUT"
    return isinstance(value, JSON) and not is_time
