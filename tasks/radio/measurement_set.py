"""MeasurementSets, read by casacore itself: every column of the main table, run by run of rows.

pyuvdata reads them, too, but not to the bit: it conjugates, turns times into another scale, makes
autocorrelations real, knows one data column, and looks sites up on the Internet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.radio.ms_template import make_template
from gangsaw.tasks.radio.radio import (
    FREQUENCY,
    POLARIZATION,
    ColumnArray,
    RadioSource,
    first_line,
    key_coordinates,
    make_source,
    radio_needed,
)
from gangsaw.tasks.radio.rows import BASELINE, TIME, Rows, Run, find_rows
from gangsaw.tasks.source import Coordinate, Region
from gangsaw.tasks.store.stamps import version_of

if TYPE_CHECKING:
    from casacore import tables

NAMES = {  # xradio's; other columns keep theirs
    "DATA": "VISIBILITY",
    "CORRECTED_DATA": "VISIBILITY_CORRECTED",
    "MODEL_DATA": "VISIBILITY_MODEL",
}
KEYS = {
    "TIME": (TIME, TIME),
    "ANTENNA1": ("ANTENNA1", BASELINE),
    "ANTENNA2": ("ANTENNA2", BASELINE),
}
TYPES = {
    "boolean": "?",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "int64": "i8",
    "float": "f4",
    "double": "f8",
    "complex": "c8",
    "dcomplex": "c16",
}
# numbers of the Stokes enumeration of CASA
POLARIZATIONS = dict(
    enumerate(["I", "Q", "U", "V", "RR", "RL", "LR", "LL", "XX", "XY", "YX", "YY"], start=1)
)
UNITS = {TIME: {"units": "s", "format": "mjd"}}
UNLOCKED = {"option": "usernoread"}  # a lock is a write, and the folder may not be writable
CASACORE = RLock()  # it is not safe to call from several threads


@dataclass(frozen=True)
class MsColumn(ColumnArray):
    """A column of the main table.

    Attributes
    ----------
    description : DATA_DESC_ID of its rows; -1 takes all
    """

    description: int

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Return a run of rows."""
        with CASACORE:
            table = opened(self.path, self.description, self.version)
            n = run.stop - run.start
            if not rest:
                found = table.getcol(self.item, run.start, n)
            else:  # both ends count
                first, last = [s.start for s in rest], [s.stop - 1 for s in rest]
                found = table.getcolslice(self.item, first, last, [], run.start, n)
        return np.asarray(found, self.dtype)


def is_measurement_set(path: Path) -> bool:
    """Whether a folder is a table of casacore's."""
    return (path / "table.dat").is_file()


def open_measurement_set(path: str, description: str = "") -> RadioSource:
    """Describe a MeasurementSet; BadParams where there is none, or casacore is missing.

    `description` is the DATA_DESC_ID whose rows are taken, needed where there are several: their
    numbers of channels differ, and a store has one axis of frequencies.
    """
    absolute = str(Path(path).absolute())
    with radio_needed(path):
        from casacore.tables import table  # noqa: F401
    try:
        with CASACORE:
            return _open(path, absolute, description)
    except (RuntimeError, OSError) as error:
        raise BadParams(f"{path} cannot be read: {first_line(error)}") from error


@lru_cache(maxsize=8)
def opened(path: str, description: int, version: str) -> tables.table:
    """Return the main table or one description of it; `version` distinguishes copies."""
    from casacore.tables import table

    main = table(path, ack=False, lockoptions=UNLOCKED)
    return main if description < 0 else main.query(f"DATA_DESC_ID == {description}")


def _open(path: str, absolute: str, wanted: str) -> RadioSource:
    version = version_of(absolute)
    table = opened(absolute, -1, version)
    if missing := {*KEYS, "DATA_DESC_ID"} - set(table.colnames()):
        raise BadParams(
            f"{path} is no MeasurementSet: its table has no {', '.join(sorted(missing))}"
        )
    if not table.nrows():
        raise BadParams(f"{path} holds no rows")
    _check_rows(path, absolute, table.nrows())
    description = _description(path, table, wanted)
    table = opened(absolute, description, version)
    keys = {item: table.getcol(item) for item in KEYS}
    rows = find_rows(*keys.values())
    columns = [
        _column(name, shape, dtype, rows, absolute, description, version)
        for name, shape, dtype in _columns(path, table)
    ]
    coords = [*key_coordinates(KEYS, keys, rows, UNITS), *_channels(table)]
    return make_source(path, absolute, columns, coords, ("ms", make_template(table)))


def _check_rows(path: str, absolute: str, rows: int) -> None:
    """Raise BadParams for more rows than there can be: times and antennas are read at once."""
    stored = sum(file.stat().st_size for file in Path(absolute).rglob("*") if file.is_file())
    if rows > stored:  # a row has visibilities, of more than a byte
        raise BadParams(
            f"{path}: its table claims {rows:,} rows, and all files of the folder have "
            f"{stored:,} bytes: it is damaged; copy it again"
        )


def _description(path: str, table: tables.table, wanted: str) -> int:
    """Return the DATA_DESC_ID to take, or -1 where all rows have the same."""
    found = np.unique(table.getcol("DATA_DESC_ID")).tolist()
    if wanted:
        if wanted not in map(str, found):
            raise BadParams(f"{path} has no data description {wanted}; there are: {found}")
        return int(wanted) if len(found) > 1 else -1
    if len(found) > 1:
        raise BadParams(
            f"{path} holds several data descriptions (spectral windows and polarizations): "
            f"say which by --group, one of {', '.join(map(str, found))}"
        )
    return -1


def _columns(path: str, table: tables.table) -> Iterator[tuple[str, tuple[int, ...], Dtype]]:
    """Yield name, extents of a cell and type of the columns that hold values."""
    for name in table.colnames():
        if name in KEYS or _is_undefined(table, name):
            continue
        kind = table.coldatatype(name)
        if kind not in TYPES:
            raise BadParams(f"{path}: column {name} holds {kind}; only numbers can be compressed")
        shape = () if table.isscalarcol(name) else _cell_shape(path, table, name)
        yield name, shape, np.dtype(TYPES[kind])


def _is_undefined(table: tables.table, name: str) -> bool:
    """Whether no row has a value, as is usual for FLAG_CATEGORY."""
    if table.isscalarcol(name):
        return False
    return not any(table.iscelldefined(name, row) for row in range(table.nrows()))


def _cell_shape(path: str, table: tables.table, name: str) -> tuple[int, ...]:
    try:
        found = set(table.getcolshapestring(name))
    except RuntimeError:
        raise BadParams(f"{path}: column {name} has values in some rows only") from None
    if len(found) > 1:
        raise BadParams(f"{path}: the extents of column {name} differ: {', '.join(sorted(found))}")
    return tuple(int(n) for n in found.pop().strip("[]").split(","))


def _column(
    item: str,
    shape: tuple[int, ...],
    dtype: Dtype,
    rows: Rows,
    path: str,
    description: int,
    version: str,
) -> MsColumn:
    return MsColumn(
        name=NAMES.get(item, item),
        shape=rows.shape + shape,
        dtype=dtype,
        dims=rows.dims + _cell_dims(item, shape),
        chunks=None,
        attrs={"item": item},
        path=path,
        item=item,
        rows=rows,
        version=version,
        description=description,
    )


def _cell_dims(item: str, shape: Sequence[int]) -> tuple[str, ...]:
    if item == "UVW":
        return ("uvw_label",)
    known = {1: (POLARIZATION,), 2: (FREQUENCY, POLARIZATION)}
    return known.get(len(shape), tuple(f"{item}_{i}" for i in range(len(shape))))


def _channels(table: tables.table) -> Iterator[Coordinate]:
    """Frequencies and polarizations, for readers; the template holds them, too."""
    row = int(table.getcell("DATA_DESC_ID", 0))
    described = _subtable(table, "DATA_DESCRIPTION")
    window = int(described.getcell("SPECTRAL_WINDOW_ID", row))
    frequencies = _subtable(table, "SPECTRAL_WINDOW").getcell("CHAN_FREQ", window)
    yield Coordinate(FREQUENCY, (FREQUENCY,), np.asarray(frequencies), {"units": "Hz"})
    kind = int(described.getcell("POLARIZATION_ID", row))
    codes = np.asarray(_subtable(table, "POLARIZATION").getcell("CORR_TYPE", kind)).tolist()
    names = [POLARIZATIONS.get(code, str(code)) for code in codes]
    yield Coordinate(POLARIZATION, (POLARIZATION,), np.array(names, np.dtypes.StringDType()))


def _subtable(table: tables.table, name: str) -> tables.table:
    from casacore.tables import table as open_table

    return open_table(
        table.getkeyword(name).removeprefix("Table: "), ack=False, lockoptions=UNLOCKED
    )
