"""Types of attributes that JSON does not keep: a side attribute has them, where they are lost.

JSON knows texts, true and false, whole and other numbers, and lists of them. A file's number of
single precision stays readable there as a number; that it was one, `ATTRIBUTE_TYPES` says.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray

# of a variable or group: by name of an attribute its type in the file; see `hdf5_attributes.py`
ATTRIBUTE_TYPES = "gangsaw_attribute_types"
UNUSED = "gangsaw_dimensions"  # of a group: extents of dimensions that no variable has
BYTE_ORDER = "gangsaw_byte_order"  # of a variable: "big" where the file has such samples
UNLIMITED = "gangsaw_unlimited"  # of a group: names of its dimensions that can grow
MAX_SHAPE = "gangsaw_max_shape"  # of a variable without dimensions: to what extents it can grow
CLASSIC = "gangsaw_netcdf3"  # of the root: the form or model of NetCDF 3 that the file has
HDF5 = "gangsaw_hdf5"  # a type of HDF5 in base64 as its library writes it, and its name in the file
USER_BLOCK = "gangsaw_user_block"  # of the root: base64 of the bytes that HDF5 begins behind
USUAL = {"i": np.dtype("<i8"), "f": np.dtype("<f8")}  # what whole and other numbers come back as

# that tell how a file is laid out, and are no attributes of it
LAYOUT = (BYTE_ORDER, UNUSED, UNLIMITED, MAX_SHAPE, CLASSIC, USER_BLOCK)


def order_of(dtype: Dtype) -> dict[str, object]:
    """Return the attribute that notes big-endian samples; a store has them in a machine's order."""
    return {BYTE_ORDER: "big"} if dtype.kind in "iufc" and dtype.str.startswith(">") else {}


def in_order(attrs: Mapping[str, object], dtype: Dtype) -> Dtype:
    """Return the type of samples in the order that their file had."""
    return dtype.newbyteorder(">") if attrs.get(BYTE_ORDER) == "big" else dtype


def types_of(values: Mapping[str, object]) -> dict[str, object]:
    """Return the side attribute for attributes that are NumPy's numbers; none where JSON will do.

    The fill value is of the variable's own type, which needs no note.
    """
    found = {name: _type(value) for name, value in values.items() if name != "_FillValue"}
    types = {name: kind for name, kind in found.items() if kind}
    return {ATTRIBUTE_TYPES: types} if types else {}


def _type(value: object) -> str:
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in "iuf":
        return ""
    return "" if value.dtype == USUAL.get(value.dtype.kind) else value.dtype.str


def noted(attrs: Mapping[str, object]) -> Mapping[str, object]:
    """Return the notes among the attributes, by the names of those that they are of."""
    found = attrs.get(ATTRIBUTE_TYPES)
    return found if isinstance(found, Mapping) else {}


def numbers(value: object, dtype: object) -> NumpyArray | None:
    """Return the numbers of an attribute in the type that its file had.

    None where they are no such numbers: somebody changed them since.
    """
    try:
        found = np.array(value, np.dtype(str(dtype)))
    except (TypeError, ValueError, OverflowError):
        return None
    return found if np.array_equal(found, np.array(value), equal_nan=True) else None
