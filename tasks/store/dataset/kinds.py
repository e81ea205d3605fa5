"""Item types as JSON, and items of variable length as bytes.

A type is NumPy's string for it ("<i4", "|S3"), "text" or "bytes" of variable length, or one of

    {"fields": [[name, type, offset], ...], "itemsize": n}     a compound
    {"base": type, "shape": [n, ...]}                          an array in each item
    {"base": type, "enum": {name: value, ...}}                 an enumeration
    {"vlen": type}                                             items of variable length
    {"char": axis, "length": n}                                characters of a NetCDF axis
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams

EXTENDED_BITS, EXTENDED_BYTES = 63, 10  # x86 long double: its fraction, its total size
LENGTH = struct.Struct("<Q")  # prefix of items of variable length


def describe_kind(dtype: Dtype) -> object:
    """Return a dtype as JSON, including h5py's metadata on enumerations and variable lengths.

    Raises
    ------
    BadParams : the type is a reference, which is valid only in its file, or a Python object
    """
    notes: Mapping[str, object] = dtype.metadata or {}
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return {"base": describe_kind(base), "shape": list(shape)}
    if dtype.fields is not None:
        fields = ((name, *dtype.fields[name][:2]) for name in dtype.names or ())
        listed = [[name, describe_kind(inner), offset] for name, inner, offset in fields]
        return {"fields": listed, "itemsize": dtype.itemsize}
    if "enum" in notes:
        members = cast("Mapping[str, int]", notes["enum"])
        names = {str(name): int(value) for name, value in members.items()}
        return {"base": dtype.str, "enum": names}
    if "vlen" in notes:
        return _of_any_length(notes["vlen"])
    if dtype.kind == "O":
        raise BadParams("references and objects cannot leave their file")
    return "text" if dtype.kind == "T" else dtype.str


def _of_any_length(items: object) -> object:
    if items in (str, bytes):
        return "text" if items is str else "bytes"
    return {"vlen": describe_kind(np.dtype(cast("Dtype", items)))}


def dtype_of(kind: object) -> Dtype:
    """Return the NumPy dtype that `describe_kind` described; raise BadParams for variable sizes."""
    try:
        return _dtype_of(kind)
    except (KeyError, TypeError, ValueError) as error:
        raise BadParams(f"{kind!r} describes no type: {error}") from None


def _dtype_of(kind: object) -> Dtype:
    if isinstance(kind, str):
        return np.dtype(kind)
    parts = _parts(kind)
    if "char" in parts:
        return np.dtype(f"S{parts['length']}")
    if "enum" in parts:
        return np.dtype(str(parts["base"]))
    if "shape" in parts:
        return np.dtype((_dtype_of(parts["base"]), tuple(cast("list[int]", parts["shape"]))))
    fields = cast("list[tuple[str, object, int]]", parts["fields"])
    names, kinds, offsets = zip(*fields, strict=True) if fields else ((), (), ())
    formats = [_dtype_of(inner) for inner in kinds]
    return np.dtype(
        {
            "names": list(names),
            "formats": formats,
            "offsets": list(offsets),
            "itemsize": cast("int", parts["itemsize"]),
        }
    )


def padding_of(dtype: Dtype) -> NDArray[np.bool_]:
    """Return a mask of the bytes of an item that are padding of a long double, (itemsize,) bool."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.tile(padding_of(base), int(np.prod(shape)))
    found = np.zeros(dtype.itemsize, bool)
    if dtype.fields is not None:
        for inner, at in (dtype.fields[name][:2] for name in dtype.names or ()):
            found[at : at + inner.itemsize] = padding_of(inner)
    elif dtype.char in "gG" and np.finfo(np.longdouble).nmant == EXTENDED_BITS:
        parts = found.reshape(-1, np.dtype("g").itemsize)
        unused = parts.shape[1] - EXTENDED_BYTES
        parts[:, slice(unused) if dtype.str.startswith(">") else slice(-unused, None)] = True
    return found


def _parts(kind: object) -> Mapping[str, object]:
    if not isinstance(kind, Mapping):
        raise TypeError("a type is a text or an object")
    return kind


def is_ragged(kind: object) -> bool:
    """Return True if an item type, described by `describe_kind`, has parts of variable length."""
    if isinstance(kind, str):
        return kind in ("text", "bytes")
    if not isinstance(kind, Mapping):
        return False
    inner = [field[1] for field in cast("list[list[object]]", kind.get("fields", []))]
    return "vlen" in kind or any(map(is_ragged, [*inner, kind.get("base", "")]))


def enum_of(kind: object) -> Mapping[str, int] | None:
    """Return names and values of an enumeration, described by `describe_kind`; else None."""
    return kind.get("enum") if isinstance(kind, Mapping) else None


def pack_item(item: object, kind: object) -> bytes:
    """Serialize one item to bytes.

    Parameters
    ----------
    kind : JSON description of the item type by `describe_kind`
    """
    if kind in ("text", "bytes"):
        data = item.encode() if isinstance(item, str) else bytes(cast("bytes", item))
        return LENGTH.pack(len(data)) + data
    if not is_ragged(kind):
        return np.ascontiguousarray(item, dtype_of(kind)).tobytes()
    parts = _parts(kind)
    if "vlen" in parts:
        items = list(cast("Iterable[object]", item))
        packed = b"".join(pack_item(one, parts["vlen"]) for one in items)
        return LENGTH.pack(len(items)) + packed
    if "shape" in parts:
        return b"".join(pack_item(one, parts["base"]) for one in np.asarray(item, object).ravel())
    fields = cast("list[tuple[str, object, int]]", parts["fields"])
    record = cast("Mapping[str, object]", item)
    return b"".join(pack_item(record[name], inner) for name, inner, _ in fields)


def unpack_item(data: bytes, kind: object) -> object:
    """Return the item that `pack_item` serialized, strings as bytes; raise BadParams if damaged."""
    try:
        item, end = _unpack(data, 0, kind)
    except (struct.error, ValueError, OverflowError) as error:
        raise BadParams(f"the bytes of an item are damaged: {error}") from None
    if end != len(data):
        raise BadParams(f"an item of {len(data)} bytes has {end} by its type")
    return item


def _unpack(data: bytes, at: int, kind: object) -> tuple[object, int]:
    if not is_ragged(kind):
        dtype = dtype_of(kind)
        return np.frombuffer(data, dtype, 1, at)[0], at + dtype.itemsize
    if isinstance(kind, str):
        (length,) = LENGTH.unpack_from(data, at)
        at += LENGTH.size
        return data[at : at + length], at + length
    parts = _parts(kind)
    if "vlen" in parts:
        (length,) = LENGTH.unpack_from(data, at)
        return _several(data, at + LENGTH.size, parts["vlen"], length)
    if "shape" in parts:
        shape = cast("list[int]", parts["shape"])
        items, at = _several(data, at, parts["base"], int(np.prod(shape)))
        return items.reshape(shape), at
    found: list[object] = []
    for _, inner, _ in cast("list[tuple[str, object, int]]", parts["fields"]):
        item, at = _unpack(data, at, inner)
        found.append(item)
    return tuple(found), at


def _several(data: bytes, at: int, kind: object, number: int) -> tuple[NumpyArray, int]:
    if not is_ragged(kind):
        dtype = dtype_of(kind)
        if number * dtype.itemsize > len(data):
            raise ValueError(f"{number} items in {len(data)} bytes")
        return np.frombuffer(data, dtype, number, at).copy(), at + number * dtype.itemsize
    if number > len(data):
        raise ValueError(f"{number} items in {len(data)} bytes")
    items = np.empty(number, object)
    for i in range(number):
        items[i], at = _unpack(data, at, kind)
    return items, at
