"""Export of a counts store as a table with a row per reference, for programs without Zarr."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import EllipsisType
from typing import Literal

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.formats.exporting.atomic import check_before_publishing, write_whole_files
from gangsaw.tasks.store.objects.files import is_within
from gangsaw.tasks.store.objects.versions import Watch
from gangsaw.tasks.tcr.counting.paths.dataset import N_DIM, P_DIM, TOTAL_DIM
from gangsaw.tasks.tcr.model.nucleotides import NUCLEOTIDES
from gangsaw.tasks.tcr.store.counts_store import ROW_DIM, CountsStore, open_counts

with extras_named():
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

NAMED = {"v_index": "v_gene", "d_index": "d_gene", "j_index": "j_gene", "sample_index": "sample"}
NAMES = ("v_call", "d_call", "j_call", "sample_id")  # names per row, only on request
FIRST = ("sample_index", "id", "cdr3", "v_index", "d_index", "j_index", "copies", "line")
OPTIONS = {N_DIM: "nu", P_DIM: "pi", TOTAL_DIM: "total_n"}  # fields of ExportChoice
PREFIX = {N_DIM: "nu", P_DIM: "pi", TOTAL_DIM: "n"}  # prefix of a number in a column's name
BATCH_BYTES = 64 << 20  # bytes of values read at once
TYPES = {"int64": pa.int64(), "float64": pa.float64(), "text": pa.string()}
WriteTable = Callable[[pa.Table], None]
CountType = Literal["int64", "float64", "text"]
FORMATS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz")
MOST = 2**63 - 1


@dataclass(frozen=True)
class ExportChoice:
    """Selection of a store's variables for export, and the type of counts.

    Attributes
    ----------
    variables : names of variables along `reference`; () is all
    nu, pi, total_n : selected labels of the sweep; () is all
    counts : type of path counts, since R has no unsigned integers of 64 bits. "int64" rejects
        counts beyond 2^63 - 1, "float64" rounds those beyond 2^53, "text" is exact
    """

    variables: tuple[str, ...] = ()
    nu: tuple[int, ...] = ()
    pi: tuple[int, ...] = ()
    total_n: tuple[int, ...] = ()
    counts: CountType = "int64"

    def __post_init__(self) -> None:
        """Raise `BadParams` for unknown types."""
        if self.counts not in TYPES:
            raise none_of("counts", TYPES, self.counts)


@dataclass(frozen=True)
class Exported:
    """Summary of an export: the file, its number of rows, and the names of its columns."""

    target: str
    rows: int
    columns: tuple[str, ...]


def export(
    store: str | Path,
    target: Path,
    choice: ExportChoice | None = None,
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> Exported:
    """Write the references of a store as a table: Parquet, CSV or TSV by the target's suffix.

    A variable with more dimensions becomes a column for each combination of their labels, such as
    paths_full_TRBD1_01_nu3_pi2. Genes and samples are written as names.

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
        The store or variable does not exist, the suffix is unknown, the target may not be replaced,
        or a count does not fit the type for counts.

    See Also
    --------
    export_airr : Write the columns of AIRR tables, too.

    Examples
    --------
    >>> from pathlib import Path
    >>> from gangsaw import tcr
    >>> made = tcr.simulate("donor.tsv", tcr.ModelChoice(species="human"), tcr.Wanted(n=20))
    >>> germline = tcr.open_germline("olga", locus="TRB", species="human")
    >>> setup = tcr.Setup(germline, tcr.Model(max_n=2, max_p=1))
    >>> summary = tcr.count_repertoires(tcr.open_inputs(["donor.tsv"]), "donor.zarr", setup)
    >>> tcr.export("donor.zarr", Path("donor.csv")).rows
    20
    """
    opened, choice = open_counts(str(store)), choice or ExportChoice()
    watch = Watch.of_sources(opened)
    if is_within(target.parent, Path(store)):
        raise BadParams(f"{target} is in the store that is read: write to another path")
    columns = select_columns(opened, choice)
    schema = pa.schema([(column.name, column.type) for column in columns])
    step = max(1, BATCH_BYTES // max(1, 8 * len(columns)))
    meter = Meter(opened.rows, on_progress)
    with (
        check_before_publishing(watch.check),
        write_whole_files([target], overwrite=overwrite) as (part,),
        table_writer(target, part, schema) as write,
    ):
        for first in range(0, opened.rows, step):
            rows = range(first, min(first + step, opened.rows))
            write(build_table(opened, columns, rows, schema))
            meter.add(len(rows), 0, 0)
    return Exported(str(target), opened.rows, tuple(schema.names))


@dataclass(frozen=True)
class Column:
    """Column of the table: its variable, and its index along the dimensions after the first."""

    name: str
    variable: str
    place: tuple[int, ...]
    type: pa.DataType


def select_columns(store: CountsStore, choice: ExportChoice) -> list[Column]:
    """Return the columns of a choice; raise `BadParams` if a variable does not exist."""
    along = [name for name, dims in store.shapes.items() if next(iter(dims), "") == ROW_DIM]
    for name in choice.variables:
        if name not in along:
            raise BadParams(f"{store} has no variable {name!r}; it has {', '.join(sorted(along))}")
    rest = sorted(set(along) - {*FIRST, *NAMES})
    wanted = choice.variables or [*(name for name in FIRST if name in along), *rest]
    found = [column for name in wanted for column in _of_variable(store, name, choice)]
    if len({column.name for column in found}) < len(found):
        raise BadParams(f"{store}: two columns would have one name")
    return found


def _of_variable(store: CountsStore, name: str, choice: ExportChoice) -> Iterator[Column]:
    dims = list(store.shapes[name].items())[1:]
    kind = _type(store.kinds[name], choice.counts)
    if name in NAMED:
        yield Column(NAMED[name], name, (), pa.string())
        return
    for place in product(*(_find_indices(store, dim, extent, choice) for dim, extent in dims)):
        labels = (_label(store, dim, i) for (dim, _), i in zip(dims, place, strict=True))
        yield Column("_".join([name, *labels]), name, place, kind)


def _find_indices(store: CountsStore, dim: str, extent: int, choice: ExportChoice) -> list[int]:
    option = OPTIONS.get(dim, dim)
    wanted: tuple[int, ...] = getattr(choice, option, ())
    found = [store.place(option, dim, limit) for limit in wanted]
    return sorted(set(found)) or list(range(extent))


def _label(store: CountsStore, dim: str, place: int) -> str:
    if dim in PREFIX:
        return f"{PREFIX[dim]}{store.limits[dim][place]}"
    names = NUCLEOTIDES if dim == "nucleotide" else store.names[dim]
    return re.sub(r"[^0-9A-Za-z]+", "_", names[place])


def _type(kind: Dtype, counts: str) -> pa.DataType:
    if kind.kind == "T":
        return pa.string()
    return TYPES[counts] if kind == np.uint64 else pa.from_numpy_dtype(kind)


def build_table(
    store: CountsStore, columns: list[Column], rows: range, schema: pa.Schema
) -> pa.Table:
    """Return some rows as a table of these columns."""
    values: dict[str, NumpyArray] = {}
    found = []
    for column in columns:
        if column.variable not in values:  # one variable at a time: they are large
            values = {column.variable: store.read(column.variable, rows)}
        found.append(_array(store, column, values[column.variable], rows))
    return pa.Table.from_arrays(found, schema=schema)


def _array(store: CountsStore, column: Column, values: NumpyArray, rows: range) -> pa.Array:
    if column.variable in NAMED:
        names = pa.array([*store.names[NAMED[column.variable]], ""], pa.string())
        places = store.index(column.variable, rows)
        return names.take(pa.array(np.where(places < 0, len(names) - 1, places)))
    place: tuple[EllipsisType | int, ...] = (..., *column.place)
    own = np.ascontiguousarray(values[place])
    if own.dtype.kind == "T":
        return pa.array(own.tolist(), pa.string())
    if own.dtype != np.uint64 or column.type != pa.int64():
        return pa.array(own).cast(column.type, safe=False)
    counts = own.view(np.uint64)
    if wrong := np.flatnonzero(counts > MOST)[:1].tolist():
        raise BadParams(
            f"{column.name} of reference {rows[wrong[0]]} is {counts[wrong[0]]}, more than int64 "
            f"holds: write counts as float64 or text"
        )
    return pa.array(counts.view(np.int64))


@contextmanager
def table_writer(target: Path, part: Path, schema: pa.Schema) -> Iterator[WriteTable]:
    """Yield a function that writes rows of a table; the file is complete at the end."""
    name = target.name.lower()
    if name.endswith((".parquet", ".pq")):
        with pa.parquet.ParquetWriter(part, schema, compression="zstd") as parquet:
            yield parquet.write_table
        return
    packed, plain = name.endswith(".gz"), name.removesuffix(".gz")
    if not plain.endswith((".csv", ".tsv")):
        raise BadParams(f"the suffix of {target} is of no format: {', '.join(FORMATS)}")
    delimiter = "\t" if plain.endswith(".tsv") else ","
    with pa.output_stream(str(part), compression="gzip" if packed else None) as file:
        file.write(f"{delimiter.join(schema.names)}\n".encode())  # Arrow's header quotes every name
        yield lambda table: file.write(_lines(table, delimiter))


def _lines(table: pa.Table, delimiter: str) -> pa.Buffer:
    """Return rows as text; TSV without quotes, as in AIRR, unless a value needs them."""
    for quotes in ("none", "needed") if delimiter == "\t" else ("needed",):
        text = pa.BufferOutputStream()
        how = pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quotes)
        try:
            pa.csv.write_csv(table, text, how)
        except pa.ArrowInvalid:  # a value has a quote, a tab or a line end
            if quotes == "needed":
                raise
        else:
            break
    return text.getvalue()
