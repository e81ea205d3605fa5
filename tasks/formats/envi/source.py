"""ENVI sources: images and spectral libraries, each a text header and a flat data file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gangsaw.tasks.formats.contract.layouts import INTERLEAVES
from gangsaw.tasks.formats.envi.header import EnviHeader, read_header_file
from gangsaw.tasks.formats.envi.metadata import LIBRARY_DIMS, to_metadata
from gangsaw.tasks.formats.envi.pair import find_data
from gangsaw.tasks.formats.envi.surrounding_bytes import (
    AFTER,
    find_surrounding_bytes,
    is_small_array,
    to_coordinate,
)
from gangsaw.tasks.formats.flat.flat_array import FlatArray, check_size, file_identity
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.objects.versions import file_versions


@dataclass(frozen=True)
class EnviSource:
    """Source made of one ENVI image: an array in file order, and its coordinates."""

    name: str
    header_path: str
    arrays: tuple[FlatArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    notes: tuple[str, ...] = ()

    def identity(self) -> str:
        """Return the path, size and modification time of header and data file."""
        return file_identity(self.header_path, self.arrays[0].path)

    def versions(self) -> Mapping[str, str]:
        """Return the versions of header and data file."""
        return file_versions(self.header_path, self.arrays[0].path)


def open_envi(path: str, data: str | None = None) -> EnviSource:
    """Open an ENVI image by its header file; `data` is its data file, searched for if None.

    Raises BadParams for a header that is missing or malformed, has no data file or several, or
    describes more samples than the data file contains.
    """
    header_path = Path(path).absolute()
    header = read_header_file(header_path)
    data_path = find_data(header_path, header.nbytes) if data is None else Path(data).absolute()
    array = _samples(header, str(data_path))
    check_size(array)  # before memory is allocated for extents from the header
    parts = find_surrounding_bytes(array)
    small = [to_coordinate(part) for part in parts if is_small_array(part)]
    coords, attrs = to_metadata(header, small)
    arrays = (replace(array, attrs=attrs), *(part for part in parts if not is_small_array(part)))
    notes = tuple(
        f"{part.shape[0]} bytes after the last sample are stored as {AFTER}: are the header's "
        "extents right?"
        for part in parts
        if part.name == AFTER
    )
    return EnviSource(path, str(header_path), arrays, coords, notes=notes)


def _samples(header: EnviHeader, data: str) -> FlatArray:
    """Return the samples: (spectrum, band) for a library, else three axes in file order."""
    dtype, offset = header.dtype.str, header.offset
    if header.is_library:
        return FlatArray(
            data, header.shape[1:], dtype, LIBRARY_DIMS, offset=offset, is_rest_kept=True
        )
    dims = INTERLEAVES[header.interleave]
    extents = dict(zip(("band", "y", "x"), header.shape, strict=True))
    shape = tuple(extents[d] for d in dims)
    return FlatArray(data, shape, dtype, dims, offset=offset, is_rest_kept=True)
