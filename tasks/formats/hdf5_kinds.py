"""Data sets of HDF5 and NetCDF that hold no plain numbers: what they are, and how they are read.

xarray reads some of them, gives others without their names or bytes, and refuses a whole file for
the rest. h5py reads all: items of one size as the bytes that are in the file.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.hdf5_attributes import attributes_of
from gangsaw.tasks.formats.netcdf_groups import NAMELESS
from gangsaw.tasks.formats.netcdf_layout import max_shape
from gangsaw.tasks.source import Described, Region
from gangsaw.tasks.store.dataset.attribute_types import HDF5
from gangsaw.tasks.store.dataset.carried import DTYPE
from gangsaw.tasks.store.dataset.kinds import described, enum_of, is_ragged
from gangsaw.tasks.store.dataset.losses import Refused
from gangsaw.tasks.store.dataset.variables import SMALL, TEXT_BYTES, json_attrs

if TYPE_CHECKING:
    import h5netcdf
    import h5py

LONGEST_CHARS = 1 << 16  # of one text of characters: longer ones stay characters
PIECE = 1024  # items of any length that are measured at a time


@dataclass(frozen=True, kw_only=True)
class Hdf5Items(Described):
    """A data set of HDF5, read on the worker by h5py.

    Attributes
    ----------
    path : of the file, absolute
    key : of the data set in the file
    joined : characters of the last axis that are one item; 0 where items are the data set's
    is_ragged : whether items have any length
    """

    path: str
    key: str
    joined: int = 0
    is_ragged: bool = False

    def read(self, region: Region) -> NumpyArray:
        """Return the items of the region."""
        import h5py

        with h5py.File(self.path, "r") as file:
            data = file[self.key]
            if self.is_ragged:
                return _texts(data[region])
            if self.joined:
                region = (*region, slice(0, self.joined))
            shape = tuple(part.stop - part.start for part in region)
            flat = _raw(data, region, shape)
            return flat.view(self.dtype).reshape(shape[:-1] if self.joined else shape)


def _raw(data: h5py.Dataset, region: Region, shape: tuple[int, ...]) -> NumpyArray:
    """Return the bytes of the items of a region, as they are in the file."""
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
    """Return texts of any length as str where all are UTF-8; other items as they are."""
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
    """Return the names of the data sets of a group that xarray must not see."""
    import h5py

    with h5py.File(path, "r") as file:
        own = file[group or "/"]
        found = ((name, own.get(name)) for name in own)  # None where a link leads nowhere
        return [n for n, item in found if isinstance(item, h5py.Dataset) and is_special(item)]


def is_special(data: h5py.Dataset) -> bool:
    """Whether a data set holds other items than numbers, complex ones and booleans included."""
    import h5py

    kind = data.id.get_type()
    if data.shape is None:
        return True
    if isinstance(kind, h5py.h5t.TypeIntegerID | h5py.h5t.TypeFloatID):
        return bool(data.dtype.itemsize > np.dtype("f8").itemsize)  # a long double
    if isinstance(kind, h5py.h5t.TypeEnumID | h5py.h5t.TypeCompoundID):
        return data.dtype.kind not in "bc"
    return True


def special(path: str, group: str, prefix: str) -> tuple[list[Hdf5Items], list[Refused]]:
    """Return the special data sets of a group as variables, and those that cannot be carried.

    `prefix` goes before their names in the group.
    """
    from gangsaw.tasks.formats.hdf5_open import lost_links, opened

    lost = [Refused(prefix + name, told) for name, told in lost_links(path, group).items()]
    names = special_names(path, group)
    if not names:
        return [], lost
    with opened(path) as file:
        own = file[group] if group else file
        judged = [one for n in names if n in own.variables for one in _judged(path, own, n, prefix)]
    found = [one for one in judged if isinstance(one, Hdf5Items)]
    return found, [*lost, *(one for one in judged if isinstance(one, Refused))]


def lost_attribute(name: str, of: str) -> Refused:
    """Return what is told of an attribute that has no meaning outside its file."""
    return Refused(f"attribute {name} of {of}", "holds references into its file")


def _judged(
    path: str, group: h5netcdf.Group, name: str, prefix: str
) -> Iterator[Hdf5Items | Refused]:
    from gangsaw.tasks.formats.hdf5_open import axes_of

    variable, name = group.variables[name], prefix + name
    data = variable._h5ds
    kind = _kind_or_refusal(name, data)
    if isinstance(kind, Refused):
        yield kind
        return
    attrs, lost = attributes_of(data)
    found = _described(path, name, data, kind, axes_of(variable), attrs)
    yield replace(found, key=variable._h5path)  # a link may lead to it
    yield from (lost_attribute(one, name) for one in lost)


def _kind_or_refusal(name: str, data: h5py.Dataset) -> object:
    if data.shape is None:
        return Refused(name, "has no samples (a null data space)")
    try:
        kind = described(data.dtype)
    except (BadParams, TypeError) as error:
        return Refused(name, f"holds {_class_name(data)}: {error}")
    is_many = data.size * TEXT_BYTES > SMALL  # then a few are looked at, as of texts of any kind
    if kind == "text" or (kind == "bytes" and (is_many or _are_texts(data))):
        return "text"
    if is_ragged(kind) and (too_much := _too_much(data)):
        return Refused(name, too_much)
    return kind


def _are_texts(data: h5py.Dataset) -> bool:
    """Whether bytes of any length, which h5py makes of `bytes`, are UTF-8 throughout."""
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


def _too_much(data: h5py.Dataset) -> str:
    """Return why items of any length are too many to be copied whole, "" where they are not."""
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
    """Return about how many bytes an item of any length has."""
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
    kind: object,
    dims: tuple[str, ...],
    attrs: Mapping[str, object],
) -> Hdf5Items:
    dtype = _stored_dtype(data, kind)
    joined = _joined(data, dims)
    n = len(data.shape) - bool(joined)
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
        shape=data.shape[:n],
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
    """Return the fill value as an item of the data set, None where there is none."""
    found = data.attrs.get("_FillValue")
    return found.reshape(-1)[0] if isinstance(found, np.ndarray) and found.size == 1 else found


def _stored_dtype(data: h5py.Dataset, kind: object) -> Dtype:
    """Return the type of the samples: numbers of an enumeration, texts, or bytes of one size."""
    if is_ragged(kind):
        return np.dtype("O")
    if data.dtype.kind in "iuS" and data.dtype.subdtype is None:
        return np.dtype(str(data.dtype.str))
    return np.dtype(f"V{data.id.get_type().get_size()}")


def _joined(data: h5py.Dataset, dims: tuple[str, ...]) -> int:
    """Return how many characters of the last axis are one text of NetCDF, 0 of others."""
    is_char = data.dtype.str == "|S1" and data.shape and not dims[-1].startswith(NAMELESS)
    length = data.shape[-1] if is_char else 0
    return int(length) if length <= LONGEST_CHARS else 0


def _is_usual_text(data: h5py.Dataset) -> bool:
    """Whether the texts are those that NetCDF and h5py write where nothing else is said."""
    import h5py

    kind = data.id.get_type()
    return bool(kind.get_cset() == h5py.h5t.CSET_UTF8 and kind.get_strpad() == 0)


def type_of(data: h5py.Dataset) -> dict[str, str]:
    """Return what restores the type of a data set in another file."""

    kind = data.id.get_type()
    text = base64.b64encode(kind.encode()).decode()
    return {"type": text, **({"name": name} if (name := _name_of(data, kind)) else {})}


def _name_of(data: h5py.Dataset, kind: h5py.h5t.TypeID) -> str | None:
    """Return the name of a type that is kept in the data set's group or above.

    NetCDF's library names types, and gives its data sets copies that are equal.
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
