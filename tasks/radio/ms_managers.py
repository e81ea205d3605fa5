"""Columns whose storage manager rounds as it writes: its file is carried as it is.

What such a column gives back is a number that was rounded; written again it would be rounded again.
So a store holds the bytes of the manager, and not the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.radio.radio import ColumnArray
from gangsaw.tasks.radio.rows import Rows, Run
from gangsaw.tasks.source import Region, SourceArray

if TYPE_CHECKING:
    from casacore import tables

LOSSY = {"DyscoStMan"}  # LOFAR's, which quantises visibilities and weights
MANAGER = "storage_manager"  # the attribute of its array


class Manager(TypedDict):
    """The attribute of an array: what makes the manager again."""

    TYPE: str
    NAME: str
    SPEC: Mapping[str, object]
    COLUMNS: list[str]


class StoredManager(Manager):
    """What casacore says of a manager; its file has the number."""

    SEQNR: int


@dataclass(frozen=True)
class ManagerFile(ColumnArray):
    """The file of a manager; its rows are bytes."""

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Return some bytes."""
        found = np.fromfile(self.path, np.uint8, run.stop - run.start, offset=run.start)
        if len(found) < run.stop - run.start:
            raise CorruptChunk(f"the file ends before byte {run.stop}", store=self.path)
        return found


def manager_files(path: str, version: str, table: tables.table) -> Iterator[ManagerFile]:
    """Yield the files of the lossy managers of a main table."""
    for manager in _lossy(table):
        file = _file(path, manager)
        name = f"{'_'.join(manager['COLUMNS'])}.{manager['TYPE']}"
        rows = Rows((f"{name}_byte",), (file.stat().st_size,), (f"{name}_byte",))
        about = {key: value for key, value in manager.items() if key != "SEQNR"}
        yield ManagerFile(
            name=name,
            shape=rows.shape,
            dtype=np.dtype("u1"),
            dims=rows.dims,
            chunks=None,
            attrs={MANAGER: about},
            path=str(file),
            item=name,
            rows=rows,
            version=version,
        )


def columns_of(files: tuple[ManagerFile, ...]) -> set[str]:
    """Return the columns that these files hold."""
    return {column for file in files for column in _manager(file)["COLUMNS"]}


def put_manager(path: Path, array: SourceArray, write: Callable[[Path], None]) -> None:
    """Give the columns of a whole set their manager again; `write` writes its file.

    The columns are there, empty, in a manager of the template's.
    """
    from casacore import tables

    manager = _manager(array)
    columns = manager["COLUMNS"]
    with tables.table(str(path), ack=False, readonly=False) as main:
        described = [tables.makecoldesc(name, main.getcoldesc(name)) for name in columns]
        main.removecols(columns)
        info = {"TYPE": manager["TYPE"], "NAME": manager["NAME"], "SPEC": manager["SPEC"]}
        main.addcols(tables.maketabdesc(described), info)
        (made,) = (m for m in _lossy(main) if set(m["COLUMNS"]) == set(columns))
        file = _file(str(path), made)
    write(file)


def _manager(array: SourceArray) -> Manager:
    return cast("Manager", array.attrs[MANAGER])


def _lossy(table: tables.table) -> list[StoredManager]:
    return [m for m in table.getdminfo().values() if m["TYPE"] in LOSSY]


def _file(path: str, manager: StoredManager) -> Path:
    return Path(path) / f"table.f{manager['SEQNR']}"
