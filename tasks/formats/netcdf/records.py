"""Extents of unlimited dimensions, and fill values beyond the last record of a variable.

A NetCDF 4 variable may have fewer records in the file than its unlimited dimension. The NetCDF
library reads it with the extent of the dimension, and with fill values where nothing was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import h5py
import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.sources.source import Region

LARGEST = 9.9692099683868690e36  # NC_FILL_FLOAT and NC_FILL_DOUBLE of netcdf.h
DEFAULTS = {
    "i1": -127,
    "u1": 255,
    "i2": -32767,
    "u2": 65535,
    "i4": -2147483647,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
    "f4": LARGEST,
    "f8": LARGEST,
}  # default fill values of netcdf.h, by dtype


def extent_of(scale: h5py.Dataset) -> int:
    """Return the extent of a dimension; an unlimited one has the most records of any variable."""
    if not can_grow(scale):
        return int(scale.shape[0])
    found = [int(scale.shape[0])]
    for reference, axis in scale.attrs.get("REFERENCE_LIST", ()):
        user = scale.file[reference] if reference else None
        if isinstance(user, h5py.Dataset) and user.shape is not None and axis < user.ndim:
            found.append(int(user.shape[axis]))
    return max(found)


def get_object_address(item: h5py.Dataset) -> tuple[int, int]:
    """Return the file number and address of an object: its name would need a search of the file."""
    found = h5py.h5o.get_info(item.id)
    return found.fileno, found.addr


def can_grow(scale: h5py.Dataset) -> bool:
    """Return True for the scale of an unlimited dimension."""
    return bool(scale.shape) and scale.maxshape[0] is None


def fill_beyond(data: h5py.Dataset) -> object:
    """Return the value that the NetCDF library reads where no record of numbers was written."""
    is_set = data.id.get_create_plist().fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED
    if is_set or data.dtype.kind not in "iuf":
        return data.fillvalue
    return DEFAULTS.get(data.dtype.str[1:], data.fillvalue)


def item_beyond(data: h5py.Dataset) -> bytes:
    """Return the bytes of an item of fixed size where no record was written."""
    n_bytes = data.id.get_type().get_size()
    if isinstance(data.id.get_type(), h5py.h5t.TypeOpaqueID):
        return bytes(n_bytes)
    fill = fill_beyond(data)
    # tobytes of a compound includes the padding between its members
    item = fill.tobytes() if isinstance(fill, np.void) else np.array(fill, data.dtype).tobytes()
    return item if len(item) == n_bytes else bytes(n_bytes)


def ragged_beyond(dtype: Dtype) -> object:
    """Return the empty item of a variable-length type, read where no record was written.

    None for a type of another kind.
    """
    if h5py.check_string_dtype(dtype) is not None:
        return b""
    of = h5py.check_vlen_dtype(dtype)
    return None if of is None else np.empty(0, of)


def read_records(
    read: Callable[[Region], NumpyArray], region: Region, stored: Sequence[int], fill: NumpyArray
) -> NumpyArray:
    """Return a region of a variable that is only partly stored in the file.

    Parameters
    ----------
    read : function that reads a region of the stored part
    region : region of the variable
    stored : extents of the stored part
    fill : () array with the value outside of the stored part
    """
    shape = tuple(one.stop - one.start for one in region)
    inside = tuple(
        slice(one.start, min(one.stop, n)) for one, n in zip(region, stored, strict=True)
    )
    out = np.empty(shape, fill.dtype)
    out.fill(fill[()])
    if all(one.start < one.stop for one in inside):
        values = read(inside)
        out[tuple(slice(0, one.stop - one.start) for one in inside)] = values
    return out
