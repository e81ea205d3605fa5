"""Export of counts next to the AIRR rows that were counted: all AIRR columns, then the counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.formats.exporting.atomic import check_before_publishing, write_whole_files
from gangsaw.tasks.store.objects.files import is_same_file
from gangsaw.tasks.store.objects.versions import Watch
from gangsaw.tasks.tcr.counting.paths.dataset import N_DIM, P_DIM
from gangsaw.tasks.tcr.repertoire.formats.airr import AIRR
from gangsaw.tasks.tcr.repertoire.opening import whole_table
from gangsaw.tasks.tcr.repertoire.tables.text import Fields
from gangsaw.tasks.tcr.store.counts_store import CountsStore, open_counts
from gangsaw.tasks.tcr.store.tables.export import (
    Column,
    ExportChoice,
    Exported,
    build_table,
    select_columns,
    table_writer,
)

with extras_named():
    import pyarrow as pa

ID = "sequence_id"
OURS = "counted_"  # prefix of names that the tables have, too
# default columns, as far as the store has them
USUAL = (
    *("paths_total", "dp1_total", "d_index", "n1_length", "n2_length", "n_length"),
    *("v_erosion", "d5_erosion", "d3_erosion", "j_erosion", "pgen", "pgen_reason"),
)


def export_airr(
    store: str | Path,
    target: Path,
    choice: ExportChoice | None = None,
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> Exported:
    """Write the counted rows of the AIRR tables of a store, with their counts.

    The original columns come first, unchanged. Those of the choice follow, by default USUAL at the
    maximum of n- and p-nucleotides. A name that the table already has gets the prefix OURS. Dropped
    rows are omitted.

    Parameters
    ----------
    store : path or address
        Store of counts.
    target : pathlib.Path
        File to write.
    choice : `ExportChoice`, optional
        Selection of variables, and the type of counts.
    overwrite : bool, default False
        True replaces an existing file.
    on_progress : callable, optional
        Function that is called after each batch of rows with the state of the job.

    Returns
    -------
    Exported
        The file, its number of rows, and the names of its columns.

    Raises
    ------
    BadParams
        As for `export`. Or a file is missing, has changed, is no AIRR table, or also has a column
        of the same name with the prefix OURS.

    See Also
    --------
    export : Write the counts alone.

    Examples
    --------
    >>> from pathlib import Path
    >>> from gangsaw import tcr
    >>> made = tcr.simulate("donor.tsv", tcr.ModelChoice(species="human"), tcr.Wanted(n=20))
    >>> germline = tcr.open_germline("olga", locus="TRB", species="human")
    >>> setup = tcr.Setup(germline, tcr.Model(max_n=2, max_p=1))
    >>> summary = tcr.count_repertoires(tcr.open_inputs(["donor.tsv"]), "donor.zarr", setup)
    >>> found = tcr.export_airr("donor.zarr", Path("counted.tsv"))
    >>> found.rows, found.columns[0]
    (20, 'sequence_id')
    """
    opened = open_counts(str(store))
    files = _files(opened)
    theirs = tuple(dict.fromkeys(name for file in files for name in file.names))
    ours = _apart(select_columns(opened, _chosen(opened, choice or ExportChoice())), theirs, files)
    own_schema = pa.schema([(column.name, column.type) for column in ours])
    schema = pa.schema([*((name, pa.string()) for name in theirs), *own_schema])
    paths = [Path(file.path) for file in files]
    if any(is_same_file(target, path) for path in paths):
        raise BadParams(f"{target} is to be read: write to another path")
    watch, meter = Watch.of_sources(opened), Meter(opened.rows, on_progress)
    with (
        check_before_publishing(watch.check),
        write_whole_files([target], overwrite=overwrite) as (part,),
        table_writer(target, part, schema) as write,
    ):
        for file in files:
            for fields, rows in file.counted(opened):
                own = [fields[name] for name in theirs]
                counts = build_table(opened, ours, rows, own_schema)
                write(pa.Table.from_arrays([*own, *counts.columns], schema=schema))
                meter.add(len(rows), 0, 0)
    return Exported(str(target), opened.rows, tuple(schema.names))


@dataclass(frozen=True)
class _File:
    """Counted AIRR table.

    Attributes
    ----------
    path, names : path of the file, and names of its columns
    rows : rows of the store
    """

    path: str
    names: tuple[str, ...]
    rows: range

    def counted(self, store: CountsStore) -> Iterator[tuple[dict[str, pa.Array], range]]:
        """Yield the columns of counted rows, "" for absent ones, with their row numbers."""
        lines = cast("NDArray[np.int64]", store.read("line", self.rows))
        done = 0
        for fields in whole_table(Path(self.path)):
            stop = int(np.searchsorted(lines, fields.lines.max(initial=0), side="right"))
            if stop <= done:
                continue
            columns = self._take_columns(fields, lines[done:stop])
            rows = range(self.rows.start + done, self.rows.start + stop)
            self._check(columns, store, rows)
            yield _Blank(columns, len(rows)), rows
            done = stop
        if done < len(lines):
            raise self._changed()

    def _take_columns(self, fields: Fields, lines: NDArray[np.int64]) -> dict[str, pa.Array]:
        at = np.searchsorted(fields.lines, lines)
        if (fields.lines[at] != lines).any():
            raise self._changed()
        return {name: column.take(pa.array(at)) for name, column in fields.columns.items()}

    def _check(self, columns: dict[str, pa.Array], store: CountsStore, rows: range) -> None:
        known = np.asarray(store.read("id", rows), object)
        ids = columns[ID].to_pylist() if ID in columns else known
        there = np.array([name.strip() for name in ids], object)
        if ((known != "") & (known != there)).any():
            raise self._changed()

    def _changed(self) -> BadParams:
        return BadParams(f"{self.path} is not as it was when it was counted: count it again")


class _Blank(dict[str, pa.Array]):
    """Columns of one of several files by name; columns that only other files have are blank."""

    def __init__(self, columns: dict[str, pa.Array], rows: int) -> None:
        super().__init__(columns)
        self._blank = pa.repeat("", rows)

    def __missing__(self, name: str) -> pa.Array:
        return self._blank


def _files(store: CountsStore) -> list[_File]:
    """Return the tables of a store; raise `BadParams` for other formats, and missing files."""
    names, formats, kept = (
        cast("Sequence[str]", store.attrs.get(f"input_{what}", ()))
        for what in ("files", "formats", "kept")
    )
    for name, found in zip(names, formats, strict=True):
        if found != AIRR.name:
            raise BadParams(f"{name} is a table of {found or 'no known format'}, not of AIRR")
        if not Path(name).is_file():
            raise BadParams(f"{name} does not exist any more: its columns cannot be copied")
    bounds = pairwise(accumulate((int(n) for n in kept), initial=0))
    return [
        _File(name, whole_table(Path(name)).names, range(*bound))
        for name, bound in zip(names, bounds, strict=True)
    ]


def _chosen(store: CountsStore, choice: ExportChoice) -> ExportChoice:
    """Return the selection of variables with defaults filled in: USUAL, the largest nu and pi."""
    return replace(
        choice,
        variables=choice.variables or tuple(name for name in USUAL if name in store.shapes),
        nu=choice.nu or store.limits[N_DIM][-1:],
        pi=choice.pi or store.limits[P_DIM][-1:],
    )


def _apart(ours: Sequence[Column], theirs: Sequence[str], files: Sequence[_File]) -> list[Column]:
    """Return our columns, renamed where the files have the name: AIRR has its own n1_length."""
    found = [
        replace(column, name=f"{OURS}{column.name}") if column.name in theirs else column
        for column in ours
    ]
    if twice := [column.name for column in found if column.name in theirs]:
        raise BadParams(f"{files[0].path} has a column {twice[0]}, too: choose another --variable")
    return found
