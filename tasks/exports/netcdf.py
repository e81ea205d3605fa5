"""NetCDF export (HDF5): arrays, coordinates and attributes, written chunk by chunk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.chunks import ChunkGrid
from gangsaw.tasks.exports.atomic import whole_files
from gangsaw.tasks.layout import default_chunks
from gangsaw.tasks.progress import Meter, OnProgress
from gangsaw.tasks.sources.base import Coordinate, Source, SourceArray
from gangsaw.tasks.sources.variables import fill_of


def export_netcdf(
    source: Source,
    path: Path,
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> None:
    """Write all of a source; samples lie uncompressed, so that any HDF5 reads them.

    One process writes, since HDF5 knows one writer; blocks are still decoded in parallel.
    """
    import h5netcdf

    grids = [ChunkGrid(a.shape, a.chunks or default_chunks(a)) for a in source.arrays]
    meter = Meter(sum(grid.n_chunks for grid in grids), on_progress)
    with whole_files([path], overwrite=overwrite) as (part,), h5netcdf.File(part, "w") as file:
        file.dimensions = _dimensions([*source.arrays, *source.coords])
        file.attrs.update(_flat_attrs(source.attrs))
        for coord in source.coords:
            _create(file, coord, coord.values.dtype)[...] = coord.values
        for array, grid in zip(source.arrays, grids, strict=True):
            _fill(_create(file, array, array.dtype), array, grid, meter)


def _fill(variable: Any, array: SourceArray, grid: ChunkGrid, meter: Meter) -> None:
    for number in range(grid.n_chunks):
        region = grid.region(number)
        samples = array.read(region)
        variable[region] = samples
        meter.add(1, samples.nbytes, 0)


def _dimensions(variables: Iterable[SourceArray | Coordinate]) -> dict[str, int]:
    extents: dict[str, int] = {}
    for variable in variables:
        for name, n in zip(variable.dims, _shape(variable), strict=True):
            if extents.setdefault(name, n) != n:
                raise BadParams(f"axis {name} has extents {extents[name]} and {n}; use Zarr")
    return extents


def _shape(variable: SourceArray | Coordinate) -> tuple[int, ...]:
    return variable.values.shape if isinstance(variable, Coordinate) else variable.shape


def _create(file: Any, variable: SourceArray | Coordinate, dtype: np.dtype[Any]) -> Any:
    attrs = dict(variable.attrs)
    fill = fill_of(attrs, dtype)
    attrs.pop("_FillValue", None)
    made = file.create_variable(variable.name, variable.dims, dtype, fillvalue=fill)
    made.attrs.update(_flat_attrs(attrs))
    return made


def _flat_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """NetCDF attributes are text, numbers or lists of them; the rest becomes JSON text."""
    return {key: _flat(value) for key, value in attrs.items() if value is not None}


def _flat(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str | int | float):
        return value
    kinds = {type(part) for part in value} if isinstance(value, list) else set()
    if kinds in ({str}, {int}, {float}, {int, float}):
        return value
    return json.dumps(value)
