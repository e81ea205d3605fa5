"""Files of a MeasurementSet that a store contains as chunked arrays of bytes.

The template is in memory, so it excludes large files of a subtable, such as POINTING of a long
observation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.radio.radio import ColumnArray, suggest_remedy
from gangsaw.tasks.radio.rows import Rows, Run
from gangsaw.tasks.sources.source import Region, Source, SourceArray
from gangsaw.tasks.store.dataset.variables import SMALL

FILE = "file"  # attribute of its array: path relative to the set


@dataclass(frozen=True)
class FileBytes(ColumnArray):
    """A file as an array of bytes; its rows are bytes."""

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Read the bytes of a slice: (bytes,) uint8."""
        found = np.fromfile(self.path, np.uint8, run.stop - run.start, offset=run.start)
        if len(found) < run.stop - run.start:
            raise CorruptChunk(f"the file ends before byte {run.stop}", store=self.path)
        return found


def file_bytes(name: str, file: Path, version: str, attrs: Mapping[str, object]) -> FileBytes:
    """Return a file as an array of bytes."""
    dim = f"{name.replace('/', '_')}_byte"
    rows = Rows((dim,), (file.stat().st_size,), (dim,))
    return FileBytes(
        name=name,
        shape=rows.shape,
        dtype=np.dtype("u1"),
        dims=rows.dims,
        chunks=None,
        attrs=attrs,
        path=str(file),
        item=name,
        rows=rows,
        version=version,
    )


def large_files(folders: Mapping[str, Path], version: str) -> Iterator[FileBytes]:
    """Yield the files of subtables that are too large to be copied whole."""
    for name, folder in folders.items():
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.stat().st_size > SMALL:
                place = f"{name}/{file.relative_to(folder).as_posix()}"
                yield file_bytes(place, file, version, {FILE: place})


def put_files(
    source: Source,
    names: Collection[str],
    path: Path,
    write: Callable[[SourceArray, Path], None],
) -> None:
    """Write the files of a set to the folder `path`, by `write`.

    Raises BadParams if an array of these names is missing, and CorruptChunk for a path outside of
    the folder.
    """
    found = {str(array.attrs[FILE]): array for array in source.arrays if FILE in array.attrs}
    if missing := sorted(set(names) - found.keys()):
        raise BadParams(
            f"{source.name}: {', '.join(missing)} of the source must be there to write it again: "
            f"{suggest_remedy(source)}"
        )
    for name, array in found.items():
        file = (path / name).resolve()
        if not file.is_relative_to(path.resolve()):
            raise CorruptChunk(
                f"{array.name} would be written outside of the set", store=source.name
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        write(array, file)
