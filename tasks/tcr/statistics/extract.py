"""The nucleotypes of a table of `share` with the counts of their first references. Counts are read
once, from all chunks of a store. Small files then hold what statistics read several times: a row
per nucleotype with only the chosen columns. The counts of a store are hundreds of numbers per
reference, so each pass over them would cost far more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.tcr.sharing.partitions import read_partition, write_partitions
from gangsaw.tasks.tcr.sharing.table import METADATA
from gangsaw.tasks.tcr.statistics.predictors import read_predictors
from gangsaw.tasks.tcr.store.counts_store import ROW_DIM, CountsStore, RowRun
from gangsaw.tasks.tcr.store.path_columns import COUNT_VARIABLES, PathColumn, read_columns

RUN_ROWS = 1 << 15  # of a store; 2 of the usual chunks. Fixed: sums are rounded run by run
COPIES = 8  # of what a run reads: two variables are held, and one is decoded from its chunks
KEPT_COPIES = 3  # of what a run keeps, where that is all path counts: as read, sorted, written
OUTCOMES = ("copies", "frequency", "individuals")
TEXTS = ("cdr3", "v", "j")
TAKEN = (*TEXTS, *OUTCOMES, "first_store", "first_reference", "owners")


@dataclass(frozen=True)
class Extract:
    """The task over a run of rows of a store.

    Attributes
    ----------
    stores : of counts
    shared : table of `share`
    columns : path counts to take
    folder : for the files
    """

    stores: tuple[CountsStore, ...]
    shared: Path
    columns: tuple[PathColumn, ...]
    folder: Path
    name: str = "associate-read"

    @property
    def peak_bytes(self) -> int:
        """What one run needs; most of it is for its counts."""
        counts = [
            s.shapes[name] for s in self.stores for name in COUNT_VARIABLES if name in s.shapes
        ]
        per_row = max(math.prod(extents.values()) // extents[ROW_DIM] for extents in counts)
        return RUN_ROWS * 8 * (COPIES * per_row + KEPT_COPIES * len(self.columns))

    def __call__(self, run: RowRun) -> int:
        """Return the number of nucleotypes whose first reference is in the run."""
        store = self.stores[run.store]
        with naming(run.of(store)):
            table = self._nucleotypes(run)
            keep = table["first_reference"].to_numpy() - run.rows.start
            if len(table):
                _same(table, store, run, keep)
            columns: dict[str, object] = {name: table[name] for name in OUTCOMES}
            columns |= read_columns(store, self.columns, run.rows, keep)
            columns |= read_predictors(store, run.rows, keep)
            found = pa.table({name: np.ascontiguousarray(c) for name, c in columns.items()})
            write_partitions(file_of(self.folder, run), found, np.zeros(len(found), np.int64), 1)
            return len(found)

    def _nucleotypes(self, run: RowRun) -> pa.Table:
        place = pd.field("first_reference")
        wanted = (pd.field("first_store") == run.store) & (place >= run.rows.start)
        found = pd.dataset(self.shared, format="parquet").to_table(
            columns=list(TAKEN), filter=wanted & (place < run.rows.stop), use_threads=False
        )
        return found.sort_by("first_reference")


def _same(table: pa.Table, store: CountsStore, run: RowRun, keep: NDArray[np.int64]) -> None:
    """Raise BadParams unless the table's nucleotypes are those of the store."""
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
    """Return the file of a run."""
    return folder / f"run-{run.place}"


def read_file(path: Path, columns: Sequence[str]) -> pa.Table:
    """Return columns of a run."""
    return read_partition([path], 0, columns)


def check_table(shared: Path, stores: Sequence[CountsStore]) -> int:
    """Return how many individuals a table of `share` counts with; 0 where it does not say.

    Raises
    ------
    BadParams : it is no such table, or was made from other stores
    """
    try:
        schema = pq.read_schema(shared)
    except (OSError, pa.ArrowInvalid):
        raise BadParams(f"{shared} is no Parquet table of gangsaw tcr share") from None
    if "cdr3_aa" in schema.names:
        raise BadParams(f"{shared} holds amino-acid clonotypes: associate takes nucleotypes")
    if absent := [name for name in TAKEN if name not in schema.names]:
        raise BadParams(f"{shared} was not written by gangsaw tcr share: no column {absent[0]}")
    for name in TAKEN:
        if not _is_kind(schema.field(name).type, name):
            raise BadParams(
                f"{shared} was not written by gangsaw tcr share: its {name} are "
                f"{schema.field(name).type}"
            )
    had, n_individuals = _share_metadata(shared, (schema.metadata or {}).get(METADATA, b"{}"))
    has = [store.rows for store in stores]
    if had and had != has:
        raise BadParams(
            f"{shared} was made from stores of {had} rows, these have {has}: name the same stores"
        )
    return n_individuals


def _is_kind(kind: pa.DataType, name: str) -> bool:
    if name == "owners":
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        return bool(is_list and pa.types.is_integer(kind.value_type))
    if name in TEXTS:
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    is_number = pa.types.is_floating if name == "frequency" else pa.types.is_integer
    return bool(is_number(kind))


def _share_metadata(shared: Path, metadata: bytes) -> tuple[list[int], int]:
    """Return the rows of the stores, and how many individuals; another tool drops both."""
    try:
        stated = json.loads(metadata)
        rows = [each["rows"] for each in stated.get("stores", [])]
        return rows, len(stated.get("individuals", []))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadParams(f"{shared} was not written by gangsaw tcr share: its metadata") from None
