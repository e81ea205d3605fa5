"""NumPy datetimes and timedeltas as CF integers with units, for files without a time type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.source import Coordinate, Described, Region, SourceArray

NUMBER = np.dtype("i8")  # the bits of NumPy's 64-bit times
NOT_A_TIME = int(np.iinfo(NUMBER).min)
UNITS = {
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}


@dataclass(frozen=True, kw_only=True)
class TimesAsNumbers(Described):
    """Array of datetimes or timedeltas, read as int64 numbers."""

    of: SourceArray

    def read(self, region: Region) -> NumpyArray:
        """Return the times of the region as int64 numbers."""
        return _numbers(self.of.read(region))


def _numbers(times: NumpyArray) -> NumpyArray:
    native = np.ascontiguousarray(times).astype(times.dtype.newbyteorder("="), copy=False)
    return native.view(NUMBER).reshape(times.shape)


def times_to_numbers(variable: SourceArray) -> SourceArray:
    """Return an array of times as int64 numbers, any other array unchanged.

    Raises BadParams for a time unit that CF does not have.
    """
    if variable.dtype.kind not in "mM":
        return variable
    return TimesAsNumbers(
        name=variable.name,
        shape=variable.shape,
        dtype=NUMBER,
        dims=variable.dims,
        chunks=variable.chunks,
        attrs={**variable.attrs, **_attrs(variable.name, variable.dtype)},
        of=variable,
    )


def coordinate_to_numbers(coord: Coordinate) -> Coordinate:
    """Return a coordinate of times as int64 numbers, any other coordinate unchanged."""
    if coord.values.dtype.kind not in "mM":
        return coord
    attrs = {**coord.attrs, **_attrs(coord.name, coord.values.dtype)}
    return replace(coord, values=_numbers(coord.values), attrs=attrs)


def _attrs(name: str, dtype: Dtype) -> dict[str, object]:
    unit, step = np.datetime_data(cast("np.dtype[np.datetime64]", dtype))
    if unit not in UNITS or step != 1:
        raise BadParams(f"NetCDF has no {dtype.name} samples ({name}); decompress to Zarr")
    if dtype.kind == "m":
        return {"units": UNITS[unit], "dtype": dtype.name, "_FillValue": NOT_A_TIME}
    since = f"{UNITS[unit]} since 1970-01-01"
    return {"units": since, "calendar": "proleptic_gregorian", "_FillValue": NOT_A_TIME}
