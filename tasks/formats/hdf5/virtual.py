"""HDF5 samples in other files: virtual datasets, external raw files and external links.

If a source file of a virtual dataset is missing, HDF5 returns fill values and no error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams

if TYPE_CHECKING:
    import h5py

SAME = "."  # source in the same file as the virtual dataset
PATTERN = "%"  # marks a name with a block number; the existing files define the number of blocks


def check_virtual_file(path: str) -> None:
    """Open a file and run `check_virtual`; a damaged file passes and is reported elsewhere."""
    import h5py

    with suppress(OSError, RuntimeError, KeyError), h5py.File(path, "r") as file:
        check_virtual(path, file)


def check_virtual(path: str, file: h5py.File) -> None:
    """Raise BadParams if a source file or source dataset of a virtual dataset is missing."""
    for name, source, inner in _sources(file):
        if source == SAME or PATTERN in source:
            continue
        if not any(_holds(place, inner) for place in _list_paths(path, source)):
            raise BadParams(
                f"{path}: {name} is virtual, and {source} with its {inner} is not there: "
                "HDF5 would give fill values"
            )


def _sources(file: h5py.File) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each virtual dataset with the file name and dataset name of each source."""
    import h5py

    found: list[h5py.Dataset] = []

    def note(_: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and item.is_virtual:
            found.append(item)

    file.visititems(note)
    for dataset in found:
        for source in dataset.virtual_sources():
            yield str(dataset.name), source.file_name, source.dset_name


def other_files(path: str) -> tuple[str, ...]:
    """Return the absolute paths of the other files that contain samples of an HDF5 file."""
    import h5py

    if not h5py.is_hdf5(path):
        return ()
    with h5py.File(path, "r") as file:
        named = [*_linked(file), *(source for _, source, _ in _sources(file) if source != SAME)]
    found = (next((p for p in _list_paths(path, name) if p.is_file()), None) for name in named)
    return tuple(dict.fromkeys(str(place.absolute()) for place in found if place is not None))


def _linked(file: h5py.File) -> Iterator[str]:
    """Yield the names of external raw files and of the target files of external links."""
    import h5py

    groups: list[h5py.Group] = [file]
    raw: list[str] = []

    def note(_: str, item: object) -> None:
        if isinstance(item, h5py.Group):
            groups.append(item)
        elif isinstance(item, h5py.Dataset) and item.external:
            raw.extend(str(name) for name, _, _ in item.external)

    file.visititems(note)
    yield from raw
    for group in groups:
        links = (group.get(name, getlink=True) for name in group)
        yield from (link.filename for link in links if isinstance(link, h5py.ExternalLink))


def _list_paths(path: str, source: str) -> Iterator[Path]:
    """Yield the paths that HDF5 tries for a source name, with and without its folder."""
    yield Path(path).parent / source
    yield Path(path).parent / Path(source).name
    yield Path(source)


def _holds(place: Path, name: str) -> bool:
    import h5py

    try:
        with h5py.File(place, "r") as file:
            return name in file
    except OSError:
        return False
