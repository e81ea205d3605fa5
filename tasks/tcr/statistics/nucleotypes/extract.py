"""Extraction of nucleotypes from a table of `share`, with the counts of their first references.

Counts are read once, from all chunks of a store. Small files then have what statistics read several
times: a row per nucleotype with only the selected columns. A store has hundreds of counts per
reference, so each pass over it would cost far more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.tcr.sharing.partitions import read_partition, write_partitions
from gangsaw.tasks.tcr.sharing.table import METADATA
from gangsaw.tasks.tcr.statistics.nucleotypes.background import Background
from gangsaw.tasks.tcr.statistics.nucleotypes.predictors import read_predictors
from gangsaw.tasks.tcr.store.counts_store import ROW_DIM, CountsStore, RowRun
from gangsaw.tasks.tcr.store.path_columns import COUNT_VARIABLES, PathColumn, read_columns

RUN_ROWS = 1 << 15  # rows of a store; 2 of the usual chunks. Fixed: sums are rounded run by run
COPIES = 8  # copies of a run's input: two variables, and one decoded from its chunks
OUTPUT_COPIES = 3  # copies of a run's output, if it is all path counts: as read, sorted, written
MORE = 12  # numbers of a row besides counts and calls: owners, usage, stratum, texts
OWNERS, LENGTH, STRATUM, PRODUCTIVE = "owners", "length", "stratum", "productive"
V_USAGE, J_USAGE = "v_usage", "j_usage"
LENGTHS = 1 << 10  # lengths of a pair of V and J in `stratum`: counted CDR3s are shorter
STOP = "^(...)*(TAA|TAG|TGA)"  # in the frame of the first nucleotide
OUTCOMES = ("copies", "frequency", "individuals")
TEXTS = ("cdr3", "v", "j")
COLUMNS_READ = (*TEXTS, *OUTCOMES, "first_store", "first_reference", OWNERS)


@dataclass(frozen=True)
class Extract:
    """Task that writes the predictors and path counts of a range of a store's rows to a file.

    Attributes
    ----------
    stores : counts stores
    shared : table of `share`
    columns : selected path counts
    folder : folder of the files
    background : usage of genes
    texts : True if the files also have cdr3, v and j
    """

    stores: tuple[CountsStore, ...]
    shared: Path
    columns: tuple[PathColumn, ...]
    folder: Path
    background: Background
    texts: bool = False
    name: str = "associate-read"

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one call, in bytes; counts need most of it."""
        counts = [
            s.shapes[name] for s in self.stores for name in COUNT_VARIABLES if name in s.shapes
        ]
        per_row = max(math.prod(extents.values()) // extents[ROW_DIM] for extents in counts)
        return RUN_ROWS * 8 * (COPIES * per_row + OUTPUT_COPIES * (MORE + len(self.columns)))

    def __call__(self, run: RowRun) -> int:
        """Write the file; return the number of nucleotypes that first occur in the range."""
        store = self.stores[run.store]
        with name_failed_chunk(run.of(store)):
            table = self._nucleotypes(run)
            keep = table["first_reference"].to_numpy() - run.rows.start
            if len(table):
                _same(table, store, run, keep)
            arrays: dict[str, NumpyArray] = {}
            arrays |= read_columns(store, self.columns, run.rows, keep)
            arrays |= read_predictors(store, run.rows, keep)
            arrays |= _lengths(table, store, run.rows, keep)
            columns = self._select_columns(table)
            columns |= {name: np.ascontiguousarray(array) for name, array in arrays.items()}
            found = pa.table(columns)
            write_partitions(file_of(self.folder, run), found, np.zeros(len(found), np.int64), 1)
            return len(found)

    def _select_columns(self, table: pa.Table) -> dict[str, object]:
        names = (*OUTCOMES, *(TEXTS if self.texts else ()))
        columns: dict[str, object] = {name: table[name] for name in names}
        columns[OWNERS] = table[OWNERS].cast(pa.list_(pa.int32()))
        for end, name in (("v", V_USAGE), ("j", J_USAGE)):
            columns[name] = self.background.log_usage(end, table[end])
        return columns

    def _nucleotypes(self, run: RowRun) -> pa.Table:
        place = pd.field("first_reference")
        wanted = (pd.field("first_store") == run.store) & (place >= run.rows.start)
        found = pd.dataset(self.shared, format="parquet").to_table(
            columns=list(COLUMNS_READ), filter=wanted & (place < run.rows.stop), use_threads=False
        )
        return found.sort_by("first_reference")


def _lengths(
    table: pa.Table, store: CountsStore, rows: range, keep: NDArray[np.int64]
) -> dict[str, NumpyArray]:
    """Return lengths, strata of equal V, J and length, and a mask of productive CDR3s."""
    length = pc.utf8_length(table["cdr3"]).to_numpy().astype(np.int64)
    v, j = (store.index(f"{end}_index", rows)[keep].astype(np.int64) for end in "vj")
    stops = pc.match_substring_regex(table["cdr3"], STOP).to_numpy()
    return {
        LENGTH: length,
        STRATUM: (v * len(store.names["j_gene"]) + j) * LENGTHS + length,
        PRODUCTIVE: (length % 3 == 0) & ~stops,
    }


def _same(table: pa.Table, store: CountsStore, run: RowRun, keep: NDArray[np.int64]) -> None:
    """Raise `BadParams` if the nucleotypes of the shared table differ from those of a store."""
    v, j = (np.array(store.names[f"{end}_gene"], object) for end in "vj")
    wanted = {
        "cdr3": store.read("cdr3", run.rows)[keep].astype(object),
        "v": v[store.index("v_index", run.rows)[keep]],
        "j": j[store.index("j_index", run.rows)[keep]],
    }
    for name, texts in wanted.items():
        stated = table[name].cast(pa.string()).combine_chunks()  # other tools write large_string
        if not pa.array(texts, pa.string()).equals(stated):
            raise BadParams("the table has other nucleotypes at these rows: share this store again")


def file_of(folder: Path, run: RowRun) -> Path:
    """Return the path of the file that `Extract` writes for a range of rows."""
    return folder / f"run-{run.place}"


def read_run_file(path: Path, columns: Sequence[str]) -> pa.Table:
    """Return columns of a file that `Extract` wrote."""
    return read_partition([path], 0, columns)


def check_table(shared: Path, stores: Sequence[CountsStore]) -> tuple[str, ...]:
    """Return the individuals in a table of `share`; () if its metadata are missing.

    Raises
    ------
    BadParams : the file is no such table, or was made from other stores
    """
    try:
        schema = pq.read_schema(shared)
    except (OSError, pa.ArrowInvalid):
        raise BadParams(f"{shared} is no Parquet table of gangsaw tcr share") from None
    if "cdr3_aa" in schema.names:
        raise BadParams(f"{shared} holds amino-acid clonotypes: associate needs nucleotypes")
    if absent := [name for name in COLUMNS_READ if name not in schema.names]:
        raise BadParams(f"{shared} was not written by gangsaw tcr share: no column {absent[0]}")
    for name in COLUMNS_READ:
        if not _is_kind(schema.field(name).type, name):
            raise BadParams(
                f"{shared} was not written by gangsaw tcr share: its {name} are "
                f"{schema.field(name).type}"
            )
    had, individuals = _share_metadata(shared, (schema.metadata or {}).get(METADATA, b"{}"))
    has = [store.rows for store in stores]
    if had and had != has:
        raise BadParams(
            f"{shared} was made from stores of {had} rows, these have {has}: name the same stores"
        )
    return individuals


def _is_kind(kind: pa.DataType, name: str) -> bool:
    if name == OWNERS:
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        return bool(is_list and pa.types.is_integer(kind.value_type))
    if name in TEXTS:
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    is_number = pa.types.is_floating if name == "frequency" else pa.types.is_integer
    return bool(is_number(kind))


def _share_metadata(shared: Path, metadata: bytes) -> tuple[list[int], tuple[str, ...]]:
    """Return the rows of the stores, and the individuals; empty if another tool dropped them."""
    try:
        stated = json.loads(metadata)
        rows = [each["rows"] for each in stated.get("stores", [])]
        return rows, tuple(map(str, stated.get("individuals", [])))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadParams(f"{shared} was not written by gangsaw tcr share: its metadata") from None
