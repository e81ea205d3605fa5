"""From rows to the values of every variable of the store, on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.nucleotides.codes import SET_OF_LETTER
from gangsaw.tasks.tcr.germline import Part
from gangsaw.tasks.tcr.kernels import gpu
from gangsaw.tasks.tcr.kernels.batch import Batch, Sequences
from gangsaw.tasks.tcr.model.nucleotides import encoded, ragged
from gangsaw.tasks.tcr.paths.count import count, count_distinct
from gangsaw.tasks.tcr.paths.dataset import arrays
from gangsaw.tasks.tcr.repertoire.tables.strings import buffers
from gangsaw.tasks.tcr.store.setup import Setup

COUNT_FUNCTIONS = {"cpu": count, "gpu": gpu.count_hosted}
TEXT = np.dtypes.StringDType()
Columns = Mapping[str, NumpyArray]  # values of each variable for some references


@dataclass(frozen=True)
class CountTables:
    """Counts rows; frozen and small, so that it travels with every batch."""

    setup: Setup

    def __call__(self, tables: Sequence[pa.Table], device: str) -> list[Columns]:
        """Return the values of each variable for each table of staged rows."""
        (rows,) = pa.concat_tables(tables).combine_chunks().to_batches()
        batch = batch_of(rows, self.setup)
        counts = count_distinct(batch, self.setup.model, COUNT_FUNCTIONS[device])
        d_lengths = [len(part.sequence) for part in self.setup.germline.d]
        columns = {**row_columns(rows), **arrays(counts, self.setup.model, d_lengths)}
        ends = np.cumsum([len(table) for table in tables])[:-1]
        cut = {name: np.split(values, ends) for name, values in columns.items()}
        return [{name: parts[i] for name, parts in cut.items()} for i in range(len(tables))]


def batch_of(rows: pa.RecordBatch, setup: Setup) -> Batch:
    """Return what the kernels take; the rows were checked when they were read."""
    offsets, letters = buffers(rows["cdr3"])
    first = int(offsets[0])
    codes = SET_OF_LETTER[np.asarray(letters)[first : int(offsets[-1])]]
    germline = setup.germline
    return Batch(
        references=Sequences(codes, offsets.astype(np.int64) - first),
        v=_sequences(germline.v),
        j=_sequences(germline.j),
        v_of=rows["v"].to_numpy(),
        j_of=rows["j"].to_numpy(),
        d=_sequences(germline.d),
    )


def _sequences(parts: Sequence[Part]) -> Sequences:
    return Sequences(*ragged([encoded(part.sequence) for part in parts]))


def row_columns(rows: pa.RecordBatch) -> Columns:
    """Return the variables that say which row a reference is."""
    return {
        "cdr3": text(rows["cdr3"]),
        "id": text(rows["id"]),
        "v_index": rows["v"].to_numpy(),
        "j_index": rows["j"].to_numpy(),
        "sample_index": rows["sample"].to_numpy(),
        "copies": rows["copies"].to_numpy(),
        "line": rows["line"].to_numpy(),
    }


def text(column: pa.Array) -> NumpyArray:
    """Return strings as NumPy's StringDType."""
    return np.array(column.to_pylist(), TEXT)
