"""Independent reader of MeasurementSets by `getcol` of casacore.tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.radio.independent_readers.row_numbers import RowNumbers, find_row_numbers
from gangsaw.tasks.radio.independent_readers.selection import select_arrays
from gangsaw.tasks.radio.libraries.casacore_lock import CASACORE, UNLOCKED
from gangsaw.tasks.sources.open_files import cache_open_files
from gangsaw.tasks.sources.source import Described, Region, SourceArray
from gangsaw.tasks.store.objects.versions import version_of

if TYPE_CHECKING:
    from casacore import tables

WHICH = "DATA_DESC_ID"
IN_STORES = {  # columns with other names in stores
    "DATA": "VISIBILITY",
    "CORRECTED_DATA": "VISIBILITY_CORRECTED",
    "MODEL_DATA": "VISIBILITY_MODEL",
    "TIME": "time",
}
EXACT = {  # casacore's managers that return the values that were written
    *("StandardStMan", "IncrementalStMan", "StManAipsIO", "MemoryStMan"),
    *("TiledColumnStMan", "TiledCellStMan", "TiledShapeStMan", "TiledDataStMan"),
}
NUMBERS = {"boolean", "uchar", "short", "ushort", "int", "uint", "int64"}
NUMBERS |= {"float", "double", "complex", "dcomplex"}


@dataclass(frozen=True, kw_only=True)
class TableColumn(Described):
    """A column of the main table, or of the rows of one data description.

    Attributes
    ----------
    path, version : path and version of the table
    item : name of the column
    description : DATA_DESC_ID of its rows; -1 selects all rows
    row_numbers : mapping of times and baselines to rows
    """

    path: str
    version: str
    item: str
    description: int
    row_numbers: RowNumbers

    def read(self, region: Region) -> NumpyArray:
        """Return the values of a region of the array."""
        n = len(self.row_numbers.shape)
        with CASACORE:
            table = _opened(self.path, self.description, self.version)
            values = self.row_numbers.read(lambda *run: _cells(table, self.item, *run), region[:n])
        return values[(slice(None),) * n + region[n:]]


@cache_open_files(8)
def _opened(path: str, description: int, version: str) -> tables.table:
    """Return the table, or its rows of one data description; `version` only distinguishes sets."""
    from casacore.tables import table

    main = table(path, ack=False, lockoptions=UNLOCKED)
    return main if description < 0 else main.query(f"{WHICH} == {description}")


def _cells(table: tables.table, name: str, first: int, n: int) -> NumpyArray:
    """Return cells of a column; bytes, which casacore returns wider, become uint8."""
    cells = np.asarray(table.getcol(name, first, n))
    return cells.astype(np.uint8) if table.coldatatype(name) == "uchar" else cells


def open_ms_reader(path: str, group: str, variables: Sequence[str]) -> IndependentReader:
    """Return an independent reader of the columns of a set whose cells have one shape.

    Arrays have the axes time and baseline. A complete store has the files of managers that round,
    instead of their columns.
    """
    absolute = str(Path(path).absolute())
    with CASACORE:
        found = [*_arrays(absolute, version_of(absolute), group, is_whole=not variables)]
    return IndependentReader(library("python-casacore"), select_arrays(found, variables))


def _arrays(path: str, version: str, group: str, *, is_whole: bool) -> Iterator[SourceArray]:
    main = _opened(path, -1, version)
    there = np.unique(main.getcol(WHICH)).tolist()
    taken = [int(group)] if group else there
    files = [*_files(path, main)] if is_whole and taken == there else []
    numbers = taken if there[1:] else [-1]
    parts = {number: _opened(path, number, version) for number in numbers}
    alike = {number: _find_cell_shapes(part) for number, part in parts.items()}
    without = {column for file in files for column in file.columns}
    without |= {c for found in alike.values() for c, cell in found.items() if cell is None}
    yield from files
    if numbers[1:]:
        without.add(WHICH)
        rows = RowNumbers((main.nrows(),), (1,))
        yield _column(_RowsOfTable(path, version, -1, main), WHICH, (), rows)
    for number, found in alike.items():
        cells = {c: cell for c, cell in found.items() if c not in without and cell is not None}
        before = f"data_description_{number}/" if numbers[1:] else ""
        yield from _of_rows(_RowsOfTable(path, version, number, parts[number], before), cells)


@dataclass(frozen=True)
class _RowsOfTable:
    """Rows of a MeasurementSet's main table with one data description, or all rows.

    `before` is the prefix of the names of their arrays.
    """

    path: str
    version: str
    description: int
    table: tables.table
    before: str = ""


def _of_rows(rows: _RowsOfTable, cells: dict[str, tuple[int, ...]]) -> Iterator[TableColumn]:
    places = find_row_numbers(*map(rows.table.getcol, ("TIME", "ANTENNA1", "ANTENNA2")))
    if places is None:
        return
    times, baselines = places.keys()
    of_keys = {"TIME": times, "ANTENNA1": baselines, "ANTENNA2": baselines}
    for name, cell in cells.items():
        yield _column(rows, name, cell, of_keys.get(name, places))


def _column(
    rows: _RowsOfTable, name: str, cell: tuple[int, ...], row_numbers: RowNumbers
) -> TableColumn:
    shape = row_numbers.shape + cell
    return TableColumn(
        name=rows.before + IN_STORES.get(name, name),
        shape=shape,
        dtype=_cells(rows.table, name, 0, 1).dtype,
        dims=("",) * len(shape),
        chunks=(1,) * len(row_numbers.shape) + cell,
        path=rows.path,
        version=rows.version,
        item=name,
        description=rows.description,
        row_numbers=row_numbers,
    )


def _find_cell_shapes(table: tables.table) -> dict[str, tuple[int, ...] | None]:
    """Return the shape of the cells of each column; None if the shapes differ or are not numbers.

    A column without any cell is left out.
    """
    found: dict[str, tuple[int, ...] | None] = {}
    for name in table.colnames():
        is_number = table.coldatatype(name) in NUMBERS
        if table.isscalarcol(name):
            found[name] = () if is_number else None
            continue
        shapes = set(_shapes(table, name))
        if shapes - {None}:
            found[name] = shapes.pop() if len(shapes) == 1 and is_number else None
    return found


def _shapes(table: tables.table, name: str) -> Iterable[tuple[int, ...] | None]:
    """Return the shapes of all cells; None for a row without a cell."""
    try:
        texts = set(table.getcolshapestring(name))
    except RuntimeError:  # a row without a cell
        rows = range(table.nrows())
        return {
            np.shape(table.getcell(name, row)) if table.iscelldefined(name, row) else None
            for row in rows
        }
    return {tuple(int(n) for n in text.strip("[]").split(",") if n) for text in texts}


@dataclass(frozen=True, kw_only=True)
class FileOfManager(Described):
    """Bytes of a file of a casacore storage manager, as an array.

    Attributes
    ----------
    path : path of the file
    columns : names of the columns in the file
    """

    path: str
    columns: tuple[str, ...]

    def read(self, region: Region) -> NumpyArray:
        """Return the bytes of a region."""
        return np.asarray(np.memmap(self.path, np.uint8, "r")[region])


def _files(path: str, table: tables.table) -> Iterator[FileOfManager]:
    """Yield the files of storage managers that compress by rounding values."""
    for manager in table.getdminfo().values():
        file = Path(path) / f"table.f{manager['SEQNR']}"
        if manager["TYPE"] in EXACT or not file.is_file():
            continue
        columns = tuple(manager["COLUMNS"])
        yield FileOfManager(
            name=f"{'_'.join(columns)}.{manager['TYPE']}",
            shape=(file.stat().st_size,),
            dtype=np.dtype("u1"),
            dims=("",),
            chunks=None,
            path=str(file),
            columns=columns,
        )
