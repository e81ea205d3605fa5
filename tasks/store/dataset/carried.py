"""Carried variables: kinds without a plain form in a store, encoded so that every bit is restored.

Plain Zarr and xarray read a store, so it has numbers, times and strings. All else is carried: items
of fixed size as bytes along one more axis, items of variable length as strings of base64. The
attribute `DTYPE` describes the original items (`kinds.py`).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.sources.source import Coordinate, Described, Region, Source, SourceArray
from gangsaw.tasks.store.dataset.kinds import (
    describe_kind,
    dtype_of,
    enum_of,
    is_ragged,
    pack_item,
    padding_of,
    unpack_item,
)

DTYPE = "gangsaw_dtype"  # of a carried variable: the dtype of its items, as JSON
FILL = "gangsaw_fill"  # of a carried variable: base64 of the bytes of its fill value
FILLS = ("_FillValue", "missing_value")  # attributes with values of the items, not of their bytes
# dtypes that zarr and xarray read in every version, without a warning
PLAIN = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"}
TIMES = {"D", "h", "m", "s", "ms", "us", "ns"}
TEXTS = "OSUT"


@dataclass(frozen=True, kw_only=True)
class BytesView(Described):
    """Variable with a dtype unknown to Zarr, read as uint8: the last axis has the bytes of an item.

    Attributes
    ----------
    of : the variable; its samples have the dtype `item`
    """

    of: SourceArray
    item: Dtype

    def read(self, region: Region) -> NumpyArray:
        """Return the bytes of the region."""
        items = np.asarray(self.of.read(region[:-1]), self.item)
        return items_to_bytes(items)[..., region[-1]]


@dataclass(frozen=True, kw_only=True)
class RestoredVariable(Described):
    """Variable that a store has as bytes (see `BytesView`), read with its original items.

    Attributes
    ----------
    of : array of its bytes
    """

    of: SourceArray

    def read(self, region: Region) -> NumpyArray:
        """Return the items of the region."""
        size = self.of.shape[-1]
        return items_from_bytes(self.of.read((*region, slice(0, size))), self.dtype)


def items_to_bytes(items: NumpyArray) -> NumpyArray:
    """Return the bytes of each item along a last axis, (..., itemsize) uint8."""
    flat = np.frombuffer(np.ascontiguousarray(items).tobytes(), np.uint8)
    return flat.reshape(*items.shape, items.dtype.itemsize)


def items_from_bytes(data: NumpyArray, dtype: Dtype) -> NumpyArray:
    """Return the items from their bytes along the last axis."""
    flat = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.dtype(f"V{dtype.itemsize}"))
    return flat.view(dtype).reshape(data.shape[:-1])


def without_padding(data: NumpyArray, attrs: Mapping[str, object], start: int = 0) -> NumpyArray:
    """Return the bytes of items with zeros in place of the padding of long doubles.

    Padding bytes are undefined, so that equal items may differ in them.

    Parameters
    ----------
    data : bytes of items along the last axis
    attrs : attributes of the variable, which describe its original dtype
    start : index of the first byte along the last axis
    """
    kind = attrs.get(DTYPE)
    if kind is None or data.dtype != np.dtype("u1") or not data.ndim or is_ragged(kind):
        return data
    padding = padding_of(dtype_of(kind))
    if not padding.any():
        return data
    return np.where(padding[start : start + data.shape[-1]], np.uint8(0), data)


def list_variables(source: Source) -> list[SourceArray | Coordinate]:
    """Return the arrays and coordinates of a source."""
    return [*source.arrays, *source.coords]


def is_carried(attrs: Mapping[str, object]) -> bool:
    """Return True if the attributes say that bytes or strings stand for items of another dtype.

    An enumeration is stored as plain numbers.
    """
    kind = attrs.get(DTYPE)
    return kind is not None and enum_of(kind) is None


def is_plain_dtype(dtype: Dtype) -> bool:
    """Return True if a store represents these numbers or times without conversion."""
    if dtype.kind in "mM":
        unit, step = np.datetime_data(cast("np.dtype[np.datetime64]", dtype))
        return unit in TIMES and step == 1
    return dtype.names is None and f"{dtype.kind}{dtype.itemsize}" in PLAIN


def carry_variable(variable: SourceArray) -> SourceArray:
    """Return a variable as bytes (see `BytesView`) if Zarr lacks its dtype, else unchanged."""
    dtype = variable.dtype
    if is_plain_dtype(dtype) or dtype.kind in TEXTS or dtype.hasobject:
        return variable
    return view_as_bytes(variable)


def view_as_bytes(variable: SourceArray) -> BytesView:
    """Return a variable with items of fixed size as `BytesView`."""
    dtype = variable.dtype
    own = {k: v for k, v in variable.attrs.items() if k not in FILLS}
    size = dtype.itemsize
    return BytesView(
        name=variable.name,
        shape=(*variable.shape, size),
        dtype=np.dtype("u1"),
        dims=(*variable.dims, f"{variable.name.rpartition('/')[2]}_bytes"),
        chunks=None if variable.chunks is None else (*variable.chunks, size),
        attrs={DTYPE: describe_kind(dtype), **_fill(variable), **own},
        of=variable,
        item=dtype,
    )


def _fill(variable: SourceArray) -> dict[str, object]:
    fill = variable.fill_value
    if fill is None:
        return {}
    try:
        data = np.asarray(fill, variable.dtype).tobytes()
    except (TypeError, ValueError):
        return {}
    return {FILL: base64.b64encode(data).decode()} if any(data) else {}


def to_coordinate(variable: SourceArray) -> Coordinate:
    """Read a variable as a whole, as a coordinate that a store can represent.

    Numbers stay as they are, UTF-8 becomes strings, and other items are encoded as bytes or base64.
    """
    values = np.asarray(variable.read(tuple(slice(0, n) for n in variable.shape)))
    if values.dtype.kind not in TEXTS and not values.dtype.hasobject:
        fill = variable.fill_value
        return Coordinate(variable.name, variable.dims, values, variable.attrs, fill_value=fill)
    if variable.dtype.kind == "T":  # for 0-d text zarr returns str
        return Coordinate(variable.name, variable.dims, to_string_array(values), variable.attrs)
    if DTYPE not in variable.attrs or not is_ragged(variable.attrs[DTYPE]):
        try:
            text = to_string_array(values)
        except UnicodeError:
            if values.dtype.kind in "SU":
                return to_coordinate(view_as_bytes(variable))
        else:
            was = {} if values.dtype.kind in "OT" else {DTYPE: describe_kind(values.dtype)}
            attrs = {**was, **text_attrs(variable.attrs)}
            return Coordinate(variable.name, variable.dims, text, attrs)
    kind = variable.attrs.get(DTYPE, "bytes")
    attrs = {**text_attrs(variable.attrs), DTYPE: kind}
    return Coordinate(variable.name, variable.dims, pack_items(values, kind), attrs)


def text_attrs(attrs: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes of a string variable without fill values, which xarray refuses."""
    own = {k: v for k, v in attrs.items() if k not in FILLS}
    fill = attrs.get("_FillValue")
    if isinstance(fill, str) and fill:
        own[FILL] = base64.b64encode(fill.encode()).decode()
    return own


def to_string_array(values: NumpyArray) -> NumpyArray:
    """Return strings of any dtype as NumPy's StringDType.

    Raises
    ------
    UnicodeError : bytes of fixed size are no UTF-8, bytes have variable length, or a code point is
        a surrogate
    """
    if values.dtype.kind == "T":
        return values
    if values.dtype.kind == "S":
        values = (
            np.char.decode(cast("NDArray[np.bytes_]", values), "utf-8")
            if values.size
            else values.astype(str)
        )
    if values.dtype.kind == "O":
        if any(isinstance(item, bytes) for item in values.ravel()):
            raise UnicodeError("bytes of any length")
        texts = [str(item) for item in values.ravel()]
        return np.array(texts, np.dtypes.StringDType()).reshape(values.shape)
    own = values.astype(values.dtype.newbyteorder("="), copy=False)
    try:
        return own.astype(np.dtypes.StringDType())
    except TypeError as error:  # an unpaired UTF-16 surrogate
        raise UnicodeError(str(error)) from None


def pack_items(values: NumpyArray, kind: object) -> NumpyArray:
    """Return items of variable length as base64 strings.

    Parameters
    ----------
    kind : JSON description of the item type by `kinds.describe_kind`
    """
    texts = [base64.b64encode(pack_item(item, kind)).decode() for item in values.ravel()]
    return np.array(texts, np.dtypes.StringDType()).reshape(values.shape)


def unpack_items(texts: NumpyArray, kind: object) -> NumpyArray:
    """Return the items in base64 strings as an object array; raise BadParams if they are damaged.

    Parameters
    ----------
    kind : JSON description of the item type by `kinds.describe_kind`
    """
    items = np.empty(texts.size, object)
    for i, text in enumerate(texts.ravel()):
        items[i] = unpack_item(base64.b64decode(str(text)), kind)
    return items.reshape(texts.shape)


def restore_variable(variable: SourceArray | Coordinate) -> SourceArray | Coordinate:
    """Return a variable stored as bytes with its original items; other variables are unchanged.

    The items have a fixed size or are bytes; items of variable length stay strings of base64.
    """
    kind = variable.attrs.get(DTYPE)
    if kind == "bytes" and isinstance(variable, Coordinate):
        items = unpack_items(variable.values, kind)
        return Coordinate(variable.name, variable.dims, items, plain_attrs(variable.attrs))
    if kind is None or is_ragged(kind) or enum_of(kind) is not None:
        return variable
    dtype = dtype_of(kind)
    if dtype.subdtype is not None:  # NumPy would turn its shape into axes
        dtype = np.dtype(f"V{dtype.itemsize}")
    attrs = plain_attrs(variable.attrs)
    if not isinstance(variable, Coordinate):
        return _restore_array(variable, dtype, attrs)
    values = variable.values
    if values.dtype.kind == "T":
        return Coordinate(variable.name, variable.dims, to_fixed_size(values, dtype), attrs)
    if not _is_bytes_of(values.dtype, values.shape, dtype):
        return variable
    return Coordinate(variable.name, variable.dims[:-1], items_from_bytes(values, dtype), attrs)


def _restore_array(array: SourceArray, dtype: Dtype, attrs: Mapping[str, object]) -> SourceArray:
    if not _is_bytes_of(array.dtype, array.shape, dtype):
        return array
    return RestoredVariable(
        name=array.name,
        shape=array.shape[:-1],
        dtype=dtype,
        dims=array.dims[:-1],
        chunks=None if array.chunks is None else array.chunks[:-1],
        attrs=attrs,
        fill_value=fill_item(array.attrs, dtype),
        of=array,
    )


def _is_bytes_of(stored: Dtype, shape: Sequence[int], dtype: Dtype) -> bool:
    return stored == np.dtype("u1") and dtype.itemsize == (shape[-1] if shape else 0)


def to_fixed_size(texts: NumpyArray, dtype: Dtype) -> NumpyArray:
    """Return strings of variable length as items of fixed size: characters, or bytes of UTF-8."""
    texts = np.asarray(texts)
    if dtype.kind == "U":  # NumPy swaps the byte order in two steps only
        return texts.astype(dtype.newbyteorder("=")).astype(dtype, copy=False)
    encoded = [str(text).encode() for text in texts.ravel()]
    return np.array(encoded, dtype).reshape(texts.shape)


def fill_item(attrs: Mapping[str, object], dtype: Dtype) -> object:
    """Return the fill value of a variable stored as bytes, in the original dtype; None for zero."""
    if (text := attrs.get(FILL)) is None:
        return None
    return np.frombuffer(base64.b64decode(str(text)), dtype)[0]


def plain_attrs(attrs: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes without those by which Gangsaw records an item type stored as bytes."""
    return {k: v for k, v in attrs.items() if k not in (DTYPE, FILL)}
