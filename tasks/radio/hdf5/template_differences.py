"""Differences between two HDF5 templates."""

from __future__ import annotations

import io
from collections.abc import Iterator

import h5py
import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.radio.template_differences import list_item_differences, make_comparable


def compare_hdf5_templates(stored: NumpyArray, wanted: NumpyArray) -> list[str]:
    """Return a line for each difference between two HDF5 templates, each (bytes,) uint8."""
    return [] if np.array_equal(stored, wanted) else list(_items(stored, wanted))


def _items(stored: NumpyArray, wanted: NumpyArray) -> Iterator[str]:
    """Yield a line for each attribute and dataset that differs."""
    with (
        h5py.File(io.BytesIO(stored.tobytes()), "r") as a,
        h5py.File(io.BytesIO(wanted.tobytes()), "r") as b,
    ):
        found, source = _contents(a), _contents(b)
    yield from list_item_differences(found, source)


def _contents(file: h5py.File) -> dict[str, object]:
    found: dict[str, object] = {}

    def visit(name: str, item: h5py.HLObject) -> None:
        for key, value in item.attrs.items():
            found[f"attribute {key} of {name or '/'}"] = make_comparable(value)
        if isinstance(item, h5py.Dataset):
            value = item[()] if item.shape is not None and item.id.get_storage_size() else None
            found[name] = (item.shape, str(item.dtype), item.chunks, make_comparable(value))

    visit("", file)
    file.visititems(visit)
    return found
