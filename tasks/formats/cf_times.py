"""NumPy's times as CF has them, for files without a type of times: numbers, with units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.source import Coordinate, Described, Region, SourceArray

NUMBER = np.dtype("i8")  # the same bits
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
    """An array of times, as numbers."""

    of: SourceArray

    def read(self, region: Region) -> NumpyArray:
        """Return the numbers of the region."""
        return _numbers(self.of.read(region))


def _numbers(times: NumpyArray) -> NumpyArray:
    native = np.ascontiguousarray(times).astype(times.dtype.newbyteorder("="), copy=False)
    return native.view(NUMBER).reshape(times.shape)


def as_numbers(variable: SourceArray) -> SourceArray:
    """Return an array of times as numbers, any other as it is; BadParams for units CF has not."""
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


def coordinate_as_numbers(coord: Coordinate) -> Coordinate:
    """Do the same with a coordinate."""
    if coord.values.dtype.kind not in "mM":
        return coord
    attrs = {**coord.attrs, **_attrs(coord.name, coord.values.dtype)}
    return replace(coord, values=_numbers(coord.values), attrs=attrs)


def _attrs(name: str, dtype: Dtype) -> dict[str, object]:
    unit, step = np.datetime_data(dtype)
    if unit not in UNITS or step != 1:
        raise BadParams(f"NetCDF has no {dtype.name} samples ({name}); decompress to Zarr")
    if dtype.kind == "m":
        return {"units": UNITS[unit], "dtype": dtype.name, "_FillValue": NOT_A_TIME}
    since = f"{UNITS[unit]} since 1970-01-01"
    return {"units": since, "calendar": "proleptic_gregorian", "_FillValue": NOT_A_TIME}
