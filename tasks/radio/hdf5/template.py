"""Template of an HDF5 file: a copy of the file without the samples of some datasets.

These datasets keep type, extents, chunks, filters and attributes; their samples are written later.
All other objects are copied unchanged.
"""

from __future__ import annotations

from collections.abc import Collection

import h5py
import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.radio.radio import list_largest
from gangsaw.tasks.store.dataset.losses import Refused
from gangsaw.tasks.store.dataset.variables import MOST_WHOLE


def find_large_datasets(file: h5py.File, emptied: Collection[str]) -> list[Refused]:
    """Return the largest datasets that must be left out, so that the rest can be copied whole.

    The datasets `emptied` are not counted.
    """
    sizes: dict[str, int] = {}

    def visit(name: str, item: h5py.HLObject) -> None:
        if isinstance(item, h5py.Dataset) and name not in emptied:
            sizes[name] = item.id.get_storage_size()

    file.visititems(visit)
    reason = (
        "{} MiB besides the visibilities; such datasets are copied whole, but no more than "
        f"{MOST_WHOLE >> 20} MiB"
    )
    found = list_largest(sizes, MOST_WHOLE)
    return [Refused(name, f"has {reason.format(size >> 20)}") for name, size in found]


def make_hdf5_template(
    file: h5py.File, emptied: Collection[str], without: Collection[str] = ()
) -> NDArray[np.uint8]:
    """Return the bytes of a copy of `file` without the samples of the datasets `emptied`.

    The datasets `without` are left out completely.
    """
    with h5py.File("template", "w", driver="core", backing_store=False) as target:
        _copy_attributes(file, target)
        _copy_group(file, target, emptied, without)
        target.flush()
        return np.frombuffer(target.id.get_file_image(), np.uint8)


def _copy_group(
    source: h5py.Group, target: h5py.Group, emptied: Collection[str], without: Collection[str]
) -> None:
    for name in source:
        link = source.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            target[name] = link
            continue
        found = source[name]
        path = found.name.lstrip("/")
        if path in without:
            continue
        if path in emptied:
            _copy_empty(found, target, name)
        elif isinstance(found, h5py.Group) and any(
            e.startswith(f"{path}/") for e in (*emptied, *without)
        ):
            inner = target.create_group(name, track_order=_is_ordered(found))
            _copy_attributes(found, inner)
            _copy_group(found, inner, emptied, without)
        else:
            source.copy(found, target, name)


def _is_ordered(group: h5py.Group) -> bool:
    return bool(group.id.get_create_plist().get_link_creation_order())


def _copy_empty(source: h5py.Dataset, target: h5py.Group, name: str) -> None:
    """Create a dataset with the properties of another one, but without its samples.

    Late allocation: it takes no space until samples are written.
    """
    properties = source.id.get_create_plist().copy()
    if properties.get_external_count():
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if properties.get_layout() != h5py.h5d.COMPACT:
        properties.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
    properties.set_obj_track_times(False)  # equal files give equal templates
    space, kind = source.id.get_space(), source.id.get_type()
    made = h5py.h5d.create(target.id, name.encode(), kind, space, dcpl=properties)
    _copy_attributes(source, h5py.Dataset(made))


def _copy_attributes(source: h5py.HLObject, target: h5py.HLObject) -> None:
    for name in source.attrs:
        old = h5py.h5a.open(source.id, name.encode())
        new = h5py.h5a.create(target.id, name.encode(), old.get_type(), old.get_space())
        if old.get_space().get_simple_extent_type() == h5py.h5s.NULL:
            continue
        values = np.empty(old.shape, old.dtype)
        old.read(values)
        new.write(values)
