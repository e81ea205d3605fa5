"""MeasurementSets, read by casacore: every column of the main table, in runs of rows.

pyuvdata reads them, too, but not bit for bit: it conjugates, converts times to another scale, makes
autocorrelations real, reads one data column, and looks sites up on the Internet.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.radio.libraries.casacore_lock import CASACORE, UNLOCKED
from gangsaw.tasks.radio.measurement_sets.columns import (
    TYPES,
    CellColumn,
    find_large_columns,
    measure_irregular_columns,
    regular_columns,
)
from gangsaw.tasks.radio.measurement_sets.files import FILE, large_files
from gangsaw.tasks.radio.measurement_sets.managers import (
    computed_columns,
    list_managed_columns,
    manager_files,
    refused_columns,
)
from gangsaw.tasks.radio.measurement_sets.template import (
    DESCRIPTION,
    PART,
    make_ms_template,
    subtables,
)
from gangsaw.tasks.radio.measurement_sets.template_differences import compare_ms_templates
from gangsaw.tasks.radio.radio import (
    ALL,
    FREQUENCY,
    POLARIZATION,
    ColumnArray,
    RadioSource,
    RowsPart,
    VariableSelection,
    add_left_out,
    describe_error,
    key_coordinates,
    make_source,
    select_variables,
)
from gangsaw.tasks.radio.rows import BASELINE, TIME, Rows, Run, map_rows_to_axes
from gangsaw.tasks.sources.open_files import cache_open_files
from gangsaw.tasks.sources.source import Coordinate, Region
from gangsaw.tasks.store.objects.versions import version_of

if TYPE_CHECKING:
    from casacore import tables

NAMES = {  # names of xradio; other columns keep their names
    "DATA": "VISIBILITY",
    "CORRECTED_DATA": "VISIBILITY_CORRECTED",
    "MODEL_DATA": "VISIBILITY_MODEL",
}
KEYS = {
    "TIME": (TIME, TIME),
    "ANTENNA1": ("ANTENNA1", BASELINE),
    "ANTENNA2": ("ANTENNA2", BASELINE),
}
# numbers of the Stokes enumeration of CASA
POLARIZATIONS = dict(
    enumerate(["I", "Q", "U", "V", "RR", "RL", "LR", "LL", "XX", "XY", "YX", "YY"], start=1)
)
UNITS = {TIME: {"units": "s", "format": "mjd"}}
ALL_ROWS = "table_row"  # axis of all rows of the table; a part has fewer rows


@dataclass(frozen=True)
class MsColumn(ColumnArray):
    """A column of the main table.

    Attributes
    ----------
    description : DATA_DESC_ID of its rows; -1 selects all rows
    """

    description: int

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Read the rows of a slice, with the slices `rest` of the other axes: (rows, ...)."""
        with CASACORE:
            table = open_main_table(self.path, self.description, self.version)
            n = run.stop - run.start
            if not rest:
                found = table.getcol(self.item, run.start, n)
            else:  # casacore includes both ends
                first, last = [s.start for s in rest], [s.stop - 1 for s in rest]
                found = table.getcolslice(self.item, first, last, [], run.start, n)
        return np.asarray(found, self.dtype)


def is_measurement_set(path: Path) -> bool:
    """Return True if the folder is a casacore table."""
    return (path / "table.dat").is_file()


def open_measurement_set(
    path: str, description: str = "", selection: VariableSelection = ALL
) -> RadioSource:
    """Open a MeasurementSet; raise BadParams if there is none, or casacore is missing.

    `description` is the DATA_DESC_ID whose rows are selected, "" selects all. Several data
    descriptions become one group each, as their numbers of channels differ. `selection` names the
    selected arrays. Without names, columns that are not regular arrays are stored, too.
    """
    absolute = str(Path(path).absolute())
    with extras_named(path):
        from casacore.tables import table  # noqa: F401
    try:
        with CASACORE:
            return select_variables(
                _open(path, absolute, description, selection), selection.variables
            )
    except (RuntimeError, OSError, MemoryError) as error:  # a damaged table claims any size
        raise BadParams(f"{path} cannot be read: {describe_error(error)}") from error


@cache_open_files(8)
def open_main_table(path: str, description: int, version: str) -> tables.table:
    """Return the main table, or its rows of one data description.

    `version` only distinguishes versions of the table in the cache.
    """
    from casacore.tables import table

    main = table(path, ack=False, lockoptions=UNLOCKED)
    return main if description < 0 else main.query(f"DATA_DESC_ID == {description}")


def _open(path: str, absolute: str, wanted: str, choice: VariableSelection) -> RadioSource:
    version = version_of(absolute)
    table = open_main_table(absolute, -1, version)
    if missing := {*KEYS, DESCRIPTION} - set(table.colnames()):
        raise BadParams(
            f"{path} is no MeasurementSet: its table has no {', '.join(sorted(missing))}"
        )
    if not table.nrows():
        raise BadParams(f"{path} holds no rows")
    _check_rows(path, absolute, table.nrows())
    descriptions = _descriptions(path, table, wanted)
    table = open_main_table(absolute, descriptions[0] if wanted else -1, version)
    tables = {d: open_main_table(absolute, d, version) for d in descriptions}
    odd, some = measure_irregular_columns(tables.values()), bool(choice.variables)
    lost = (
        ()
        if some
        else choice.without(path, [*find_large_columns(odd), *refused_columns(absolute, table)])
    )
    is_whole = not some and (len(tables) > 1 or -1 in tables)  # managers' files have all rows
    files = tuple(manager_files(absolute, version, table)) if is_whole else ()
    large = tuple(large_files(subtables(table), version))
    place = partial(_part, absolute, version, {*odd, *list_managed_columns(files)})
    if len(tables) == 1:
        ((number, rows),) = tables.items()
        parts = [place("", number, rows)]
    else:
        below = [place(f"{PART}{number}", number, rows) for number, rows in tables.items()]
        parts = [_root(absolute, version, table), *below]
    lacking = tuple(odd) if some else ()
    parts[0] = replace(parts[0], lacking=lacking, files=(*files, *large))
    left = [one.name for one in lost if one.name in odd]
    kept = () if some else tuple(name for name in odd if name not in left)
    apart = tuple(str(file.attrs[FILE]) for file in large)
    template = make_ms_template(absolute, table, kept, left, apart)
    return add_left_out(
        make_source(path, absolute, parts, ("ms", template), compare_ms_templates, apart), lost
    )


def _root(path: str, version: str, table: tables.table) -> RowsPart:
    """Return the root group: only the column DATA_DESC_ID, which assigns each row to its group."""
    rows = Rows((ALL_ROWS,), (table.nrows(),), (ALL_ROWS,))
    column = CellColumn(DESCRIPTION, (), np.dtype(TYPES[table.coldatatype(DESCRIPTION)]))
    return RowsPart("", [_array(column, (), rows, path, -1, version)], [])


def _part(
    path: str, version: str, irregular: Collection[str], name: str, number: int, table: tables.table
) -> RowsPart:
    """Return the rows of one data description as the group `name`."""
    keys = {item: table.getcol(item) for item in KEYS}
    computed = computed_columns(path, table)
    rows = map_rows_to_axes(*keys.values())
    channels = _channels(table)
    without = {*KEYS, *irregular, *([DESCRIPTION] if name else [])}
    columns = [
        _array(c, _cell_dims(c, channels), rows, path, number, version, c.name in computed)
        for c in regular_columns(table)
        if c.name not in without
    ]
    return RowsPart(name, columns, [*key_coordinates(KEYS, keys, rows, UNITS), *channels])


def _check_rows(path: str, absolute: str, rows: int) -> None:
    """Raise BadParams if the table claims more rows than the folder has bytes.

    Times and antennas of all rows are read at once.
    """
    stored = sum(file.stat().st_size for file in Path(absolute).rglob("*") if file.is_file())
    if rows > stored:  # each row has visibilities, of more than one byte
        raise BadParams(
            f"{path}: its table claims {rows:,} rows, and all files of the folder have "
            f"{stored:,} bytes: it is damaged; copy it again"
        )


def _descriptions(path: str, table: tables.table, wanted: str) -> list[int]:
    """Return the selected DATA_DESC_IDs; [-1] if all rows have the same one."""
    found = np.unique(table.getcol(DESCRIPTION)).tolist()
    if wanted and wanted not in map(str, found):
        raise BadParams(f"{path} has no data description {wanted}; there are: {found}")
    if len(found) == 1:
        return [-1]
    return [int(wanted)] if wanted else found


def _array(
    column: CellColumn,
    inner: tuple[str, ...],
    rows: Rows,
    path: str,
    description: int,
    version: str,
    is_computed: bool = False,
) -> MsColumn:
    return MsColumn(
        name=NAMES.get(column.name, column.name),
        shape=rows.shape + column.shape,
        dtype=column.dtype,
        dims=rows.dims + inner,
        chunks=None,
        attrs={} if is_computed else {"item": column.name},
        path=path,
        item=column.name,
        rows=rows,
        version=version,
        description=description,
    )


def _cell_dims(column: CellColumn, channels: Sequence[Coordinate]) -> tuple[str, ...]:
    """Return names of the axes of a cell: frequency and polarization if the extents match."""
    if column.name == "UVW":
        return ("uvw_label",)
    known = {c.name: len(c.values) for c in channels}
    for names in ((POLARIZATION,), (FREQUENCY,), (FREQUENCY, POLARIZATION)):
        if column.shape == tuple(known[name] for name in names):
            return names
    return tuple(f"{column.name}_{i}" for i in range(len(column.shape)))


def _channels(table: tables.table) -> list[Coordinate]:
    """Return frequencies and polarizations as coordinates; the template has them, too."""
    row = int(table.getcell("DATA_DESC_ID", 0))
    described = _subtable(table, "DATA_DESCRIPTION")
    window = int(described.getcell("SPECTRAL_WINDOW_ID", row))
    frequencies = _subtable(table, "SPECTRAL_WINDOW").getcell("CHAN_FREQ", window)
    kind = int(described.getcell("POLARIZATION_ID", row))
    codes = np.asarray(_subtable(table, "POLARIZATION").getcell("CORR_TYPE", kind)).tolist()
    names = [POLARIZATIONS.get(code, str(code)) for code in codes]
    return [
        Coordinate(FREQUENCY, (FREQUENCY,), np.asarray(frequencies), {"units": "Hz"}),
        Coordinate(POLARIZATION, (POLARIZATION,), np.array(names, np.dtypes.StringDType())),
    ]


def _subtable(table: tables.table, name: str) -> tables.table:
    from casacore.tables import table as open_table

    return open_table(
        table.getkeyword(name).removeprefix("Table: "), ack=False, lockoptions=UNLOCKED
    )
