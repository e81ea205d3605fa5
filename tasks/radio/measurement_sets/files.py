"""Files of a MeasurementSet that a store has as arrays of bytes, each in chunks of its own.

The template is held in memory, so a large file of a subtable, such as the POINTING of a long
observation, is no part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.radio.radio import ColumnArray
from gangsaw.tasks.radio.rows import Rows, Run
from gangsaw.tasks.source import Region, SourceArray
from gangsaw.tasks.store.dataset.variables import SMALL

FILE = "file"  # the attribute of its array: where it lies in the set


@dataclass(frozen=True)
class FileBytes(ColumnArray):
    """A file; its rows are bytes."""

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Return some bytes."""
        found = np.fromfile(self.path, np.uint8, run.stop - run.start, offset=run.start)
        if len(found) < run.stop - run.start:
            raise CorruptChunk(f"the file ends before byte {run.stop}", store=self.path)
        return found


def file_bytes(name: str, file: Path, version: str, attrs: Mapping[str, object]) -> FileBytes:
    """Describe a file as an array of bytes."""
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
    store: str,
    names: Collection[str],
    arrays: Sequence[SourceArray],
    path: Path,
    write: Callable[[SourceArray, Path], None],
) -> None:
    """Write the files of a set in the folder `path`, by `write`.

    Raises BadParams where an array of these names is missing, CorruptChunk for a file elsewhere.
    """
    found = {str(array.attrs[FILE]): array for array in arrays if FILE in array.attrs}
    if missing := sorted(set(names) - found.keys()):
        raise BadParams(
            f"{store}: {', '.join(missing)} of the source must be there to write it again: "
            "leave --variable out"
        )
    for name, array in found.items():
        file = (path / name).resolve()
        if not file.is_relative_to(path.resolve()):
            raise CorruptChunk(f"{array.name} would be written outside of the set", store=store)
        file.parent.mkdir(parents=True, exist_ok=True)
        write(array, file)
