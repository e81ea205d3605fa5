"""Attribute types that JSON cannot represent, recorded in a companion attribute.

JSON has strings, booleans, numbers and lists of them. A single-precision number of a file stays
readable as a number; `ATTRIBUTE_TYPES` records its precision.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray

# of a variable or group: type in the file by attribute name; see `hdf5_attributes.py`
ATTRIBUTE_TYPES = "gangsaw_attribute_types"
UNUSED = "gangsaw_dimensions"  # of a group: extents of dimensions that no variable has
BYTE_ORDER = "gangsaw_byte_order"  # of a variable: "big" if the file has big-endian samples
UNLIMITED = "gangsaw_unlimited"  # of a group: names of its unlimited dimensions
MAX_SHAPE = "gangsaw_max_shape"  # of a variable without dimensions: its largest extents
CLASSIC = "gangsaw_netcdf3"  # of the root: format or data model of a NetCDF 3 file
HDF5 = "gangsaw_hdf5"  # an HDF5 type in base64 as its library writes it, and its name in the file
USER_BLOCK = "gangsaw_user_block"  # of the root: base64 of the user block before the HDF5 data
USUAL = {"i": np.dtype("<i8"), "f": np.dtype("<f8")}  # dtypes of JSON integers and other numbers

# attributes of the file's layout, which are none of its own
LAYOUT = (BYTE_ORDER, UNUSED, UNLIMITED, MAX_SHAPE, CLASSIC, USER_BLOCK)


def order_of(dtype: Dtype) -> dict[str, object]:
    """Return the attribute that records a big-endian dtype, since a store has native byte order."""
    return {BYTE_ORDER: "big"} if dtype.kind in "iufc" and dtype.str.startswith(">") else {}


def in_order(attrs: Mapping[str, object], dtype: Dtype) -> Dtype:
    """Return a dtype in the byte order of the file, as recorded by `order_of`."""
    return dtype.newbyteorder(">") if attrs.get(BYTE_ORDER) == "big" else dtype


def types_of(values: Mapping[str, object]) -> dict[str, object]:
    """Return the companion attribute with the dtypes of NumPy attributes that JSON would lose.

    It is {} if JSON represents all of them. The fill value has the variable's own dtype and is not
    recorded.
    """
    found = {name: _type(value) for name, value in values.items() if name != "_FillValue"}
    types = {name: kind for name, kind in found.items() if kind}
    return {ATTRIBUTE_TYPES: types} if types else {}


def _type(value: object) -> str:
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in "iuf":
        return ""
    return "" if value.dtype == USUAL.get(value.dtype.kind) else value.dtype.str


def recorded_types(attrs: Mapping[str, object]) -> Mapping[str, object]:
    """Return the dtypes recorded in the companion attribute of `types_of`, by attribute name."""
    found = attrs.get(ATTRIBUTE_TYPES)
    return found if isinstance(found, Mapping) else {}


def typed_numbers(value: object, dtype: object) -> NumpyArray | None:
    """Return the numbers of an attribute in the type of the file, or None if they do not fit it.

    They do not fit if the attribute was changed since.
    """
    try:
        found = np.array(value, np.dtype(str(dtype)))
    except (TypeError, ValueError, OverflowError):
        return None
    return found if np.array_equal(found, np.array(value), equal_nan=True) else None
