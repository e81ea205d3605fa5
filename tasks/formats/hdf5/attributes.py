"""Attributes of HDF5 as plain JSON values, with notes that restore their types and bytes.

Values that the NetCDF library writes with the right type by default need no note: 64-bit integers,
doubles, a text of fixed length, a list of texts.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.dataset.attribute_types import (
    ATTRIBUTE_TYPES,
    USUAL,
    recorded_types,
    typed_numbers,
)
from gangsaw.tasks.store.dataset.kinds import describe_kind, is_ragged, pack_item, unpack_item
from gangsaw.tasks.store.dataset.variables import plain_value

if TYPE_CHECKING:
    import h5py

# attributes that the libraries manage themselves and write again
HIDDEN = frozenset({"REFERENCE_LIST", "CLASS", "DIMENSION_LIST", "NAME", "_NCProperties"})
HIDDEN |= {"_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict"}
FILL = "_FillValue"
TEXT = "text"  # note of a text of variable length; a text without a note has a fixed length


class Attribute(NamedTuple):
    """Value of an attribute as JSON, with the note that restores its type in a file.

    Attributes
    ----------
    value : JSON value
    note : None if the value alone restores the attribute. Else a type, or an object with a type
        ("dtype" for numbers, "hdf5" in base64 for others), "shape" (None for a null data space),
        and "data" or "paths"
    """

    value: object
    note: object = None


def read_attributes(item: h5py.Group | h5py.Dataset) -> tuple[dict[str, object], list[str]]:
    """Return the attributes of an item with their notes, and the names of unsupported ones."""
    found: dict[str, Attribute] = {}
    lost = []
    for name in item.attrs:
        if name not in HIDDEN and (one := _attribute(item, name)) is not None:
            found[name] = one
        elif name not in HIDDEN:
            lost.append(name)
    notes = {name: one.note for name, one in found.items() if one.note and not _is_fill(item, name)}
    values = {name: one.value for name, one in found.items()}
    return values | ({ATTRIBUTE_TYPES: notes} if notes else {}), lost


def _is_fill(item: h5py.Group | h5py.Dataset, name: str) -> bool:
    """Return True for a fill value with the type of the item's samples."""
    own = getattr(item, "dtype", None)
    return name == FILL and own is not None and item.attrs.get_id(name).dtype == own


def _attribute(item: h5py.Group | h5py.Dataset, name: str) -> Attribute | None:
    """Return an attribute's value as JSON with its note; None for lost references.

    These are region references and those to objects that do not exist.
    """
    import h5py

    held = item.attrs.get_id(name)
    kind, shape = held.get_type(), _shape(held)
    if isinstance(kind, h5py.h5t.TypeReferenceID):
        return _reference(item, held, shape)
    if shape is None:
        is_text = isinstance(kind, h5py.h5t.TypeStringID)
        return Attribute("" if is_text else [], {"hdf5": _describe_kind(kind), "shape": None})
    if isinstance(kind, h5py.h5t.TypeStringID):
        return _text(held, kind, shape)
    if isinstance(kind, h5py.h5t.TypeIntegerID | h5py.h5t.TypeFloatID) and kind.get_size() <= 8:
        return _numbers(held, shape)
    return _read_other_type(item, name, shape)


def _shape(attribute: h5py.h5a.AttrID) -> tuple[int, ...] | None:
    import h5py

    space = attribute.get_space()
    is_null = space.get_simple_extent_type() == h5py.h5s.NULL
    return None if is_null else tuple(space.get_simple_extent_dims())


def _describe_kind(kind: h5py.h5t.TypeID) -> str:
    return base64.b64encode(kind.encode()).decode()


def _json(values: NumpyArray) -> object:
    """Return the values of an attribute as JSON: a scalar for one value, else a list."""
    return plain_value(values.reshape(-1)[0] if values.size == 1 else values)


def _numbers(attribute: h5py.h5a.AttrID, shape: tuple[int, ...]) -> Attribute:
    values = np.empty(shape, attribute.dtype)
    attribute.read(values)
    dtype = values.dtype
    if shape == (values.size,) and values.size:
        note: object = None if dtype == USUAL.get(dtype.kind) else dtype.str
    else:
        note = {"dtype": dtype.str, "shape": list(shape)}
    return Attribute(_json(values), note)


def _text(
    attribute: h5py.h5a.AttrID, kind: h5py.h5t.TypeStringID, shape: tuple[int, ...]
) -> Attribute:
    """Return an attribute of texts as JSON; bytes that are no UTF-8 are decoded as Latin-1."""
    raw = _texts(attribute, kind, shape)
    texts = [_shown(item) for item in raw]
    value = texts[0] if len(texts) == 1 else texts
    is_plain = all(text.encode() == item for text, item in zip(texts, raw, strict=True))
    if kind.is_variable_str():
        if is_plain and (shape == () or (shape == (len(raw),) and len(raw) > 1)):
            return Attribute(value, TEXT if shape == () else None)
        data = [base64.b64encode(item).decode() for item in raw]
        return Attribute(value, {"hdf5": _describe_kind(kind), "shape": list(shape), "data": data})
    if is_plain and shape == () and raw[0].isascii() and raw[0] == raw[0].rstrip():
        return Attribute(value)
    return Attribute(value, _read_exactly(attribute, kind, shape))


def _shown(item: bytes) -> str:
    try:
        return item.decode()
    except UnicodeDecodeError:
        return item.decode("latin-1")


def _texts(
    attribute: h5py.h5a.AttrID, kind: h5py.h5t.TypeStringID, shape: tuple[int, ...]
) -> list[bytes]:
    if kind.is_variable_str():
        values = np.empty(
            shape, attribute.dtype
        )  # h5py crashes without the text metadata of this dtype
        attribute.read(values)
        return [
            item if isinstance(item, bytes) else str(item or "").encode() for item in values.flat
        ]
    return [item.tobytes().rstrip(b"\0") for item in _raw(attribute, kind, shape).flat]


def _raw(attribute: h5py.h5a.AttrID, kind: h5py.h5t.TypeID, shape: tuple[int, ...]) -> NumpyArray:
    """Return items of fixed size as their bytes in the file, a void array of this shape."""
    values = np.zeros(shape, f"V{kind.get_size()}")
    if values.size:
        attribute.read(values, mtype=kind)
    return values


def _read_exactly(
    attribute: h5py.h5a.AttrID, kind: h5py.h5t.TypeID, shape: tuple[int, ...]
) -> dict[str, object]:
    data = base64.b64encode(_raw(attribute, kind, shape).tobytes()).decode()
    return {"hdf5": _describe_kind(kind), "shape": list(shape), "data": data}


def _read_other_type(
    item: h5py.Group | h5py.Dataset, name: str, shape: tuple[int, ...]
) -> Attribute | None:
    """Return an attribute of any other type, such as compounds, enumerations and complex numbers.

    None if the type holds references.
    """
    held = item.attrs.get_id(name)
    kind = held.get_type()
    try:
        of = describe_kind(held.dtype)
    except (BadParams, TypeError):
        return None  # the type holds references
    if not is_ragged(of):
        return Attribute(_approximate(item.attrs[name]), _read_exactly(held, kind, shape))
    values = np.asarray(item.attrs[name], held.dtype) if shape else _one(item.attrs[name])
    data = [base64.b64encode(pack_item(one, of)).decode() for one in values.flat]
    note = {"hdf5": _describe_kind(kind), "shape": list(shape), "data": data, "of": of}
    return Attribute(_approximate(item.attrs[name]), note)


def _one(item: object) -> NumpyArray:
    values = np.empty(1, object)
    values[0] = item
    return values


def _approximate(value: object) -> object:
    """Return an approximate JSON value for readers; complex numbers become text."""
    values = np.asarray(value)
    return _json(values) if values.dtype.kind != "O" else plain_value(values)


def _reference(
    item: h5py.Group | h5py.Dataset, attribute: h5py.h5a.AttrID, shape: tuple[int, ...] | None
) -> Attribute | None:
    """Return the target paths of object references; None for region and dangling references."""
    import h5py

    if shape is None or attribute.get_type() != h5py.h5t.STD_REF_OBJ:
        return None
    values = np.empty(shape, h5py.ref_dtype)
    attribute.read(values)
    try:
        paths = [item.file[one].name for one in values.flat]
    except (ValueError, KeyError, RuntimeError):
        return None
    if None in paths:
        return None
    value = paths[0] if len(paths) == 1 else paths
    return Attribute(value, {"paths": paths, "shape": list(shape)})


def write_attributes(item: h5py.Group | h5py.Dataset, attrs: Mapping[str, object]) -> None:
    """Write attributes with their recorded types; others as the NetCDF library would.

    `attrs` contains texts, numbers, lists of them, and the notes. A note that does not match its
    value, because the value was edited, is ignored.
    """
    notes = recorded_types(attrs)
    for name, value in attrs.items():
        if name != ATTRIBUTE_TYPES and not _write_by_note(item, name, value, notes.get(name)):
            _write_usual(item, name, value)


def _write_usual(item: h5py.Group | h5py.Dataset, name: str, value: object) -> None:
    if isinstance(value, str) and value and value.isascii() and "\0" not in value:
        item.attrs[name] = np.bytes_(value)
    elif isinstance(value, str):
        item.attrs[name] = value
    elif isinstance(value, list) and value and isinstance(value[0], str):
        item.attrs[name] = np.array(value, object)
    else:
        item.attrs[name] = np.atleast_1d(np.asarray(value))


def _write_by_note(item: h5py.Group | h5py.Dataset, name: str, value: object, note: object) -> bool:
    """Write an attribute by its note; return False if the note is missing or does not match."""
    if note == TEXT and isinstance(value, str):
        item.attrs[name] = value
        return True
    if isinstance(note, str):
        found = typed_numbers(value, note)
        if found is None:
            return False
        item.attrs[name] = np.atleast_1d(found)
        return True
    if not isinstance(note, Mapping):
        return False
    try:
        return _write_whole(item, name, value, note)
    except (ValueError, TypeError, KeyError, BadParams):  # the note was edited
        return False


def _write_whole(
    item: h5py.Group | h5py.Dataset, name: str, value: object, note: Mapping[str, object]
) -> bool:
    import h5py

    shape = note["shape"]
    if "paths" in note:
        refs = [item.file[str(path)].ref for path in _listed(note["paths"])]
        item.attrs.create(name, np.array(refs, h5py.ref_dtype).reshape(_extents(shape)))
        return True
    if "dtype" in note:
        found = typed_numbers(value, note["dtype"])
        if found is None or (found.size and found.size != np.prod(_extents(shape), dtype=int)):
            return False
        item.attrs.create(name, found.reshape(_extents(shape)))
        return True
    kind = h5py.h5t.decode(base64.b64decode(str(note["hdf5"])))
    if shape is None:
        h5py.h5a.create(item.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.NULL))
        return True
    _write_typed(item, name, kind, note)
    is_same = _is_same(item, name, value)
    if not is_same:
        del item.attrs[name]
    return is_same


def _is_same(item: h5py.Group | h5py.Dataset, name: str, value: object) -> bool:
    made = _attribute(item, name)
    return made is not None and repr(made.value) == repr(value)  # repr: NaN equals NaN


def _extents(shape: object) -> tuple[int, ...]:
    return tuple(int(str(n)) for n in _listed(shape))


def _listed(values: object) -> list[object]:
    if not isinstance(values, list):
        raise TypeError("a list is due")
    return values


def _write_typed(
    item: h5py.Group | h5py.Dataset, name: str, kind: h5py.h5t.TypeID, note: Mapping[str, object]
) -> None:
    import h5py

    shape = _extents(note["shape"])
    space = h5py.h5s.create_simple(shape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
    made = h5py.h5a.create(item.id, name.encode(), kind, space)
    if isinstance(note["data"], list):
        values = np.empty(shape, made.dtype)
        for i, one in enumerate(_items(note)):
            values.reshape(-1)[i] = one
        made.write(values)
        return
    data = base64.b64decode(str(note["data"]))
    if data:
        made.write(np.frombuffer(data, f"V{kind.get_size()}").reshape(shape).copy(), mtype=kind)


def _items(note: Mapping[str, object]) -> Iterator[object]:
    for text in _listed(note["data"]):
        data = base64.b64decode(str(text))
        yield unpack_item(data, note["of"]) if "of" in note else data
