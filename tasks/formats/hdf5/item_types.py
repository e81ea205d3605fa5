"""HDF5 and NetCDF data sets with items other than plain numbers: their types and their reader.

xarray reads some of them, returns others without their names or bytes, and refuses a whole file
for the rest. h5py reads all of them: items of fixed size as the bytes that are in the file.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.hdf5.attributes import read_attributes
from gangsaw.tasks.formats.hdf5.filters import missing_filter, open_hdf5
from gangsaw.tasks.formats.netcdf.groups import NAMELESS, OTHER
from gangsaw.tasks.formats.netcdf.layout import max_shape
from gangsaw.tasks.formats.netcdf.records import item_beyond, ragged_beyond, read_records
from gangsaw.tasks.sources.source import Described, Region
from gangsaw.tasks.store.dataset.attribute_types import HDF5
from gangsaw.tasks.store.dataset.carried import DTYPE
from gangsaw.tasks.store.dataset.kinds import describe_kind, enum_of, is_ragged
from gangsaw.tasks.store.dataset.losses import Refused
from gangsaw.tasks.store.dataset.variables import SMALL, TEXT_BYTES, json_attrs

if TYPE_CHECKING:
    import h5netcdf
    import h5py

LONGEST_CHARS = 1 << 16  # longest axis of characters that is joined into one text
PIECE = 1024  # items of variable length that are measured at a time


@dataclass(frozen=True, kw_only=True)
class Hdf5Items(Described):
    """HDF5 data set that is read on the worker by h5py.

    Attributes
    ----------
    path : absolute path of the file
    key : path of the data set in the file
    joined : number of characters of the last axis that form one item; 0 if none are joined
    is_ragged : whether items have variable length
    """

    path: str
    key: str
    joined: int = 0
    is_ragged: bool = False

    def read(self, region: Region) -> NumpyArray:
        """Return the items of the region."""
        with open_hdf5(self.path) as file:
            data = file[self.key]
            if self.is_ragged:
                return _texts(_ragged(data, region))
            if self.joined:
                region = (*region, slice(0, self.joined))
            items = _raw_records(data, region)
            shape = items.shape[:-1] if self.joined else items.shape
            return items.reshape(-1).view(self.dtype).reshape(shape)


def _ragged(data: h5py.Dataset, region: Region) -> object:
    """Return a region of items of variable length; empty items where no record was written."""
    if all(part.stop <= n for part, n in zip(region, data.shape, strict=True)):
        return data[region]
    beyond = np.empty((), object)
    beyond[()] = ragged_beyond(data.dtype)
    return read_records(data.__getitem__, region, data.shape, beyond)


def _raw_records(data: h5py.Dataset, region: Region) -> NumpyArray:
    """Return the items of a region as void bytes, the fill value beyond the written records."""
    dtype = np.dtype(f"V{data.id.get_type().get_size()}")

    def read(part: Region) -> NumpyArray:
        shape = tuple(one.stop - one.start for one in part)
        return _raw(data, part, shape).view(dtype).reshape(shape)

    if all(part.stop <= n for part, n in zip(region, data.shape, strict=True)):
        return read(region)
    beyond = np.frombuffer(item_beyond(data), dtype)[0]
    return read_records(read, region, data.shape, np.asarray(beyond))


def _raw(data: h5py.Dataset, region: Region, shape: tuple[int, ...]) -> NumpyArray:
    """Return the bytes of the items of a region as stored in the file, (n,) uint8."""
    import h5py

    kind = data.id.get_type()
    out = np.zeros(int(np.prod(shape)) * kind.get_size(), np.uint8)
    if not out.size:
        return out
    space = data.id.get_space()
    if shape:
        space.select_hyperslab(tuple(part.start for part in region), shape)
    memory = h5py.h5s.create_simple(shape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
    data.id.read(memory, space, out, mtype=kind)
    return out


def _texts(values: object) -> NumpyArray:
    """Return texts of variable length as str if all are UTF-8; other items unchanged."""
    items = np.asarray(values, object) if isinstance(values, bytes | str) else np.asarray(values)
    if items.dtype.kind != "O" or not all(isinstance(item, bytes) for item in items.ravel()):
        return items
    try:
        texts = [item.decode() for item in items.ravel()]
    except UnicodeDecodeError:
        return items
    decoded = np.empty(len(texts), object)
    decoded[:] = texts
    return decoded.reshape(items.shape)


def special_names(path: str, group: str) -> list[str]:
    """Return the names of the data sets of a group for which `is_special` is true.

    They are hidden from xarray.
    """
    import h5py

    with open_hdf5(path) as file:
        own = file[group or "/"]
        found = ((name, own.get(name)) for name in own)  # None for a dangling link
        special = (n for n, item in found if isinstance(item, h5py.Dataset) and is_special(item))
        return [name.removeprefix(OTHER) for name in special]  # h5netcdf's names


def is_special(data: h5py.Dataset) -> bool:
    """Return True if the items of a data set are no numbers, complex numbers or booleans."""
    import h5py

    kind = data.id.get_type()
    if data.shape is None:
        return True
    if isinstance(kind, h5py.h5t.TypeIntegerID | h5py.h5t.TypeFloatID):
        return bool(data.dtype.itemsize > np.dtype("f8").itemsize)  # long double
    if isinstance(kind, h5py.h5t.TypeEnumID | h5py.h5t.TypeCompoundID):
        return data.dtype.kind not in "bc"
    return True


def find_special(path: str, group: str, prefix: str) -> tuple[list[Hdf5Items], list[Refused]]:
    """Return the data sets of a group that xarray cannot read as variables, and unsupported items.

    These are data sets for which `is_special` is true. `prefix` is put before their names.
    """
    from gangsaw.tasks.formats.hdf5.open import lost_links, open_h5netcdf

    lost = [Refused(prefix + name, told) for name, told in lost_links(path, group).items()]
    names = special_names(path, group)
    if not names:
        return [], lost
    with open_h5netcdf(path) as file:
        own = file[group] if group else file
        judged = [one for n in names if n in own.variables for one in _judge(path, own, n, prefix)]
    found = [one for one in judged if isinstance(one, Hdf5Items)]
    return found, [*lost, *(one for one in judged if isinstance(one, Refused))]


def lost_attribute(name: str, of: str) -> Refused:
    """Return the report of an attribute whose references have no meaning outside its file."""
    return Refused(f"attribute {name} of {of}", "holds references into its file")


def _judge(
    path: str, group: h5netcdf.Group, name: str, prefix: str
) -> Iterator[Hdf5Items | Refused]:
    from gangsaw.tasks.formats.hdf5.open import get_axis_names, get_extents

    variable, name = group.variables[name], prefix + name
    data = variable._h5ds
    kind = _kind_or_refusal(name, data)
    shape = () if data.shape is None else get_extents(variable)
    if shape and shape != data.shape and is_ragged(kind) and ragged_beyond(data.dtype) is None:
        has = f"has {data.shape} items of {shape}, whose fill value has no form in a store"
        kind = Refused(name, has)
    if isinstance(kind, Refused):
        yield kind
        return
    attrs, lost = read_attributes(data)
    found = _described(path, name, data, shape, kind, get_axis_names(variable), attrs)
    yield replace(found, key=variable._h5path)  # a link may point to the data set
    yield from (lost_attribute(one, name) for one in lost)


def _kind_or_refusal(name: str, data: h5py.Dataset) -> object:
    if data.shape is None:
        return Refused(name, "has no samples (a null data space)")
    if reason := missing_filter(data):
        return Refused(name, reason)
    try:
        kind = describe_kind(data.dtype)
    except (BadParams, TypeError) as error:
        return Refused(name, f"holds {_class_name(data)}: {error}")
    is_many = data.size * TEXT_BYTES > SMALL  # too many to decode all of them here
    if kind == "text" or (kind == "bytes" and (is_many or _are_texts(data))):
        return "text"
    if is_ragged(kind) and (too_much := _explain_size(data)):
        return Refused(name, too_much)
    return kind


def _are_texts(data: h5py.Dataset) -> bool:
    """Return True if all items of variable-length bytes are valid UTF-8."""
    try:
        for items in _pieces(data):
            for item in items.ravel():
                cast("bytes", item).decode()
    except UnicodeDecodeError:
        return False
    return True


def _class_name(data: h5py.Dataset) -> str:
    kind = type(data.id.get_type()).__name__.removeprefix("Type").removesuffix("ID")
    return f"items of the HDF5 class {kind.lower()}"


def _explain_size(data: h5py.Dataset) -> str:
    """Return a clause if items of variable length exceed the limit for a whole copy, else ""."""
    says = f"holds {data.size} items of any length, which are copied whole, but no more than "
    says += f"{SMALL >> 20} MiB"
    if data.size * TEXT_BYTES > SMALL:
        return says
    total = 0
    for items in _pieces(data):
        total += sum(_length(item) for item in items.ravel())
        if total > SMALL:
            return says
    return ""


def _pieces(data: h5py.Dataset) -> Iterator[NumpyArray]:
    if not data.shape:
        yield np.asarray(data[()], object)
        return
    row = max(1, int(np.prod(data.shape[1:])))
    step = max(1, PIECE // row)
    for start in range(0, data.shape[0], step):
        yield np.asarray(data[start : start + step])


def _length(item: object) -> int:
    """Return the approximate size of an item of variable length, in bytes."""
    if isinstance(item, bytes | str):
        return len(item)
    if isinstance(item, np.void):
        return sum(_length(item[name]) for name in item.dtype.names or ())
    values = np.asarray(item)
    return sum(map(_length, values.ravel())) if values.dtype.hasobject else values.nbytes


def _described(
    path: str,
    name: str,
    data: h5py.Dataset,
    shape: tuple[int, ...],
    kind: object,
    dims: tuple[str, ...],
    attrs: Mapping[str, object],
) -> Hdf5Items:
    dtype = _stored_dtype(data, kind)
    joined = _joined(data, shape, dims)
    n = len(shape) - bool(joined)
    notes: dict[str, object] = {HDF5: type_of(data)}
    if joined:
        dtype, notes[DTYPE] = np.dtype(f"S{joined}"), {"char": dims[-1], "length": joined}
    elif kind == "text" and _is_usual_text(data):
        notes = {}
    elif (dtype.kind in "OV" and kind != "text") or enum_of(kind):
        notes[DTYPE] = kind
    own = json_attrs(attrs, dtype)
    return Hdf5Items(
        name=name,
        shape=shape[:n],
        dtype=dtype,
        dims=tuple(map(str, dims[:n])),
        chunks=None if data.chunks is None else data.chunks[:n],
        attrs={**own, **notes, **max_shape(data, dims)},
        fill_value=own.get("_FillValue") if enum_of(kind) else _fill_of(data),
        path=path,
        key=data.name,
        joined=joined,
        is_ragged=is_ragged(kind),
    )


def _fill_of(data: h5py.Dataset) -> object:
    """Return the fill value as an item of the data set, or None."""
    found = data.attrs.get("_FillValue")
    return found.reshape(-1)[0] if isinstance(found, np.ndarray) and found.size == 1 else found


def _stored_dtype(data: h5py.Dataset, kind: object) -> Dtype:
    """Return the stored dtype: object if ragged, numbers or bytes if plain, else void bytes."""
    if is_ragged(kind):
        return np.dtype("O")
    if data.dtype.kind in "iuS" and data.dtype.subdtype is None:
        return np.dtype(str(data.dtype.str))
    return np.dtype(f"V{data.id.get_type().get_size()}")


def _joined(data: h5py.Dataset, shape: tuple[int, ...], dims: tuple[str, ...]) -> int:
    """Return the length of the last axis if its characters form one NetCDF text, else 0."""
    is_char = data.dtype.str == "|S1" and shape and not dims[-1].startswith(NAMELESS)
    length = shape[-1] if is_char else 0
    return int(length) if length <= LONGEST_CHARS else 0


def _is_usual_text(data: h5py.Dataset) -> bool:
    """Return True for the default text type of NetCDF and h5py: UTF-8, padded with NUL."""
    import h5py

    kind = data.id.get_type()
    return bool(kind.get_cset() == h5py.h5t.CSET_UTF8 and kind.get_strpad() == 0)


def type_of(data: h5py.Dataset) -> dict[str, str]:
    """Return the encoded type of a data set and its committed name, to restore it in a file."""

    kind = data.id.get_type()
    text = base64.b64encode(kind.encode()).decode()
    return {"type": text, **({"name": name} if (name := _name_of(data, kind)) else {})}


def _name_of(data: h5py.Dataset, kind: h5py.h5t.TypeID) -> str | None:
    """Return the name of an equal committed type in the data set's group or above, or None.

    The NetCDF library commits named types, and gives its data sets equal copies of them.
    """
    import h5py

    group = data.parent
    while True:
        for name in group:
            own = group.get(name)
            if isinstance(own, h5py.Datatype) and own.id == kind:
                return str(name)
        if group.name == "/":
            return None
        group = group.parent
