"""Columns whose storage manager does not return the values that were written.

A manager that rounds on writing (LOFAR's DyscoStMan) would round its numbers once more when they
are written again: a store contains the bytes of its file. A manager without a file computes its
columns from others (CompressComplex, VirtualTaQLColumn): a store contains the numbers for readers,
and export does not write them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from gangsaw.tasks.radio.measurement_sets.files import FileBytes, file_bytes
from gangsaw.tasks.sources.source import SourceArray
from gangsaw.tasks.store.dataset.losses import Refused

if TYPE_CHECKING:
    from casacore import tables

EXACT = {  # casacore's managers that return the values that were written
    *("StandardStMan", "IncrementalStMan", "StManAipsIO", "MemoryStMan"),
    *("TiledColumnStMan", "TiledCellStMan", "TiledShapeStMan", "TiledDataStMan"),
}
FORWARD = {"ForwardColumnEngine", "ForwardColumnIndexedRowEngine"}  # columns of another table
MANAGER = "storage_manager"  # attribute of its array


class Manager(TypedDict):
    """Specification of a casacore storage manager, an attribute of the array of its file.

    It recreates the manager and its columns.
    """

    TYPE: str
    NAME: str
    SPEC: Mapping[str, object]
    COLUMNS: list[str]


class StoredManager(Manager):
    """Specification of a storage manager as casacore returns it; `SEQNR` numbers its file."""

    SEQNR: int


def manager_files(path: str, version: str, table: tables.table) -> Iterator[FileBytes]:
    """Yield the files of the main table's storage managers that compress by rounding values."""
    for manager in _inexact_managers(table):
        file = _file(path, manager)
        if file.is_file():
            name = f"{'_'.join(manager['COLUMNS'])}.{manager['TYPE']}"
            about = {key: value for key, value in manager.items() if key != "SEQNR"}
            yield file_bytes(name, file, version, {MANAGER: about})


def computed_columns(path: str, table: tables.table) -> set[str]:
    """Return the columns that a manager without files computes from others.

    If written again, their values would be rounded into those others once more.
    """
    found = (m for m in _inexact_managers(table) if not _files(path, m))
    return {column for manager in found for column in manager["COLUMNS"]}


def refused_columns(path: str, table: tables.table) -> Iterator[Refused]:
    """Yield the columns of managers with several files or a folder, which cannot be stored."""
    for manager in _inexact_managers(table):
        if _files(path, manager) and not _file(path, manager).is_file():
            reason = f"is stored by {manager['TYPE']}, whose files cannot be carried, as numbers"
            yield from (Refused(column, reason) for column in manager["COLUMNS"])


def replace_managers(
    path: str, managers: Mapping[str, StoredManager]
) -> dict[str, StoredManager | dict[str, object]]:
    """Replace storage managers that round values in files by tiled ones; return all managers.

    Managers that forward to another table are replaced, too: that table may not exist when the set
    is written again.
    """
    tiled = {"TYPE": "TiledShapeStMan", "SPEC": {}}

    def is_replaced(manager: StoredManager) -> bool:
        return manager["TYPE"] in FORWARD or (_is_rounding(manager) and bool(_files(path, manager)))

    return {key: {**m, **tiled} if is_replaced(m) else m for key, m in managers.items()}


def list_managed_columns(files: tuple[FileBytes, ...]) -> set[str]:
    """Return the names of the columns in these files of storage managers."""
    return {column for file in files for column in _manager(file)["COLUMNS"]}


def put_manager(path: Path, array: SourceArray, write: Callable[[Path], None]) -> None:
    """Restore a storage manager and its columns in a complete set; `write` writes its file.

    The columns exist already, empty, in a manager of the template.
    """
    from casacore import tables

    manager = _manager(array)
    columns = manager["COLUMNS"]
    with tables.table(str(path), ack=False, readonly=False) as main:
        described = [tables.makecoldesc(name, main.getcoldesc(name)) for name in columns]
        main.removecols(columns)
        info = {"TYPE": manager["TYPE"], "NAME": manager["NAME"], "SPEC": manager["SPEC"]}
        main.addcols(tables.maketabdesc(described), info)
        (made,) = (m for m in _inexact_managers(main) if set(m["COLUMNS"]) == set(columns))
        file = _file(str(path), made)
    write(file)


def _manager(array: SourceArray) -> Manager:
    return cast("Manager", array.attrs[MANAGER])


def _is_rounding(manager: StoredManager) -> bool:
    return manager["TYPE"] not in EXACT | FORWARD


def _inexact_managers(table: tables.table) -> list[StoredManager]:
    return [m for m in table.getdminfo().values() if _is_rounding(m)]


def _file(path: str, manager: StoredManager) -> Path:
    return Path(path) / f"table.f{manager['SEQNR']}"


def _files(path: str, manager: StoredManager) -> list[Path]:
    """Return all files and folders of a storage manager."""
    own = re.compile(rf"table\.f{manager['SEQNR']}(\D|$)")
    return [file for file in Path(path).glob("table.f*") if own.match(file.name)]
