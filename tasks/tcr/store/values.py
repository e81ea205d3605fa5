"""Conversion of rows to the values of every variable of the store, on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.nucleotides.codes import SET_OF_LETTER
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr.counting.kernels import gpu
from gangsaw.tasks.tcr.counting.kernels.batch import Batch, Counts
from gangsaw.tasks.tcr.counting.paths.count import count_batch, count_distinct
from gangsaw.tasks.tcr.counting.paths.dataset import arrays
from gangsaw.tasks.tcr.counting.paths.lacking import forget_lacking
from gangsaw.tasks.tcr.counting.paths.totals import DGenes, total_arrays
from gangsaw.tasks.tcr.germline import Part, d_pairs_with_j
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.model.nucleotides import encoded
from gangsaw.tasks.tcr.pgen.olga import PgenBatch, pgens_of_rows
from gangsaw.tasks.tcr.repertoire.tables.strings import buffers
from gangsaw.tasks.tcr.store.setup import Setup


def count_on_device(batch: Batch, model: Model) -> Counts:
    """Count on the GPU of this process, or on the CPU if there is no kernel."""
    has_kernel = gpu.has_kernel(batch) and not model.is_wide
    return gpu.count_hosted(batch, model) if has_kernel else count_batch(batch, model)


COUNT_FUNCTIONS = {"cpu": count_batch, "gpu": count_on_device}
TEXT = np.dtypes.StringDType()
Columns = Mapping[str, NumpyArray]  # values of each variable for some references
AT_ONCE_BYTES = 256 << 20  # bytes of counts of single D genes that are not stored


@dataclass(frozen=True)
class CountTables:
    """Function that counts the paths of staged rows.

    It is frozen and small, as it is pickled with every batch.

    Attributes
    ----------
    setup : germline, model and row filter
    samples : names, indexed by the samples of rows
    """

    setup: Setup
    samples: tuple[str, ...]

    def __call__(self, tables: Sequence[pa.Table], device: str) -> list[Columns]:
        """Return the values of each variable for each table of staged rows."""
        (rows,) = pa.concat_tables(tables).combine_chunks().to_batches()
        columns = {**row_columns(rows), **self._counted(rows, device)}
        columns |= self._names(columns)
        ends = np.cumsum([len(table) for table in tables])[:-1]
        cut = {name: np.split(values, ends) for name, values in columns.items()}
        return [{name: parts[i] for name, parts in cut.items()} for i in range(len(tables))]

    def _counted(self, rows: pa.RecordBatch, device: str) -> Columns:
        """Count the paths of rows; return the stored variables of counts."""
        batch, has = batch_of(rows, self.setup), self._has_d(rows)
        step = len(rows) if self.setup.has_by_d else rows_at_once(self.setup)
        runs = [slice(i, min(i + step, len(rows))) for i in range(0, len(rows), step)]
        parts = [
            self._of_run(gpu.run_of(batch, run), None if has is None else has[run], device)
            for run in runs
        ]
        found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return {**found, **(_pgens(rows, self.setup) if self.setup.pgen else {})}

    def _has_d(self, rows: pa.RecordBatch) -> NDArray[np.bool_] | None:
        """Return a mask (n, D genes) of genes that each row's donor has; None without genotypes."""
        genotypes, n_d = self.setup.genotypes, len(self.setup.germline.d)
        if genotypes is None or not n_d:
            return None
        found: NDArray[np.bool_] = genotypes.has(self.samples, "D", n_d)[rows["sample"].to_numpy()]
        return found

    def _of_run(self, batch: Batch, has: NDArray[np.bool_] | None, device: str) -> Columns:
        setup, germline = self.setup, self.setup.germline
        counts = count_distinct(batch, setup.model, COUNT_FUNCTIONS[device])
        found = arrays(counts, setup.model, [len(part.sequence) for part in germline.d])
        if has is not None:
            forget_lacking(found, has, setup.model)
        names = [[part.name for part in parts] for parts in (germline.d, germline.j)]
        genes = DGenes(setup.d_choices, d_pairs_with_j(*names))
        found |= total_arrays(found, batch, setup.model, genes)
        return {v.name: found[v.name] for v in setup.variables if v.name in found}

    def _names(self, columns: Columns) -> Columns:
        """Return the names of genes and samples of each row, from the index variables."""
        germline = self.setup.germline
        of_rows: dict[str, tuple[Sequence[str], NumpyArray]] = {
            "v_call": ([part.name for part in germline.v], columns["v_index"]),
            "j_call": ([part.name for part in germline.j], columns["j_index"]),
            "sample_id": (self.samples, columns["sample_index"]),
        }
        if germline.d:  # -1, a row without D, selects the last item
            of_rows["d_call"] = ([*(part.name for part in germline.d), ""], columns["d_index"])
        # not by indexing StringDType: NumPy 2.0 frees strings that several rows share
        return {
            name: text(np.array(names, object)[places].tolist())
            for name, (names, places) in of_rows.items()
        }


def rows_at_once(setup: Setup) -> int:
    """Return the number of rows whose counts fit AT_ONCE_BYTES, at most a chunk."""
    return max(1, min(setup.chunk_rows, AT_ONCE_BYTES // counted_bytes(setup, 1)))


def counted_bytes(setup: Setup, rows: int) -> int:
    """Return the bytes of all counts of the given number of rows, stored or not."""
    return gpu.counts_bytes(rows, len(setup.germline.d), setup.model)


def _pgens(rows: pa.RecordBatch, setup: Setup) -> Columns:
    """Return the variables PGEN; equal nucleotypes are computed once."""
    assert setup.pgen is not None, "who calls asks whether there is a model"
    v, j = ([part.name for part in parts] for parts in (setup.germline.v, setup.germline.j))
    texts = rows["cdr3"].to_pylist(), rows["v"].to_pylist(), rows["j"].to_pylist()
    keys = list(zip(*texts, strict=True))
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    own = [(cdr3, v[of_v], j[of_j]) for cdr3, of_v, of_j in number]
    batch = PgenBatch(*(tuple(column) for column in zip(*own, strict=True)))
    pgen, reason = pgens_of_rows(batch, setup.pgen)
    at = np.array([number[key] for key in keys])
    return {"pgen": pgen[at], "pgen_reason": reason[at]}


def batch_of(rows: pa.RecordBatch, setup: Setup) -> Batch:
    """Return rows as a `Batch` of references; they were checked when they were read."""
    offsets, letters = buffers(rows["cdr3"])
    first = int(offsets[0])
    codes = SET_OF_LETTER[np.asarray(letters)[first : int(offsets[-1])]]
    germline = setup.germline
    return Batch(
        references=RaggedArray(codes, offsets.astype(np.int64) - first),
        v=_sequences(germline.v),
        j=_sequences(germline.j),
        v_of=rows["v"].to_numpy(),
        j_of=rows["j"].to_numpy(),
        d=_sequences(germline.d),
    )


def _sequences(parts: Sequence[Part]) -> RaggedArray:
    return RaggedArray.from_rows([encoded(part.sequence) for part in parts])


def row_columns(rows: pa.RecordBatch) -> Columns:
    """Return the variables of references that are not counted: CDR3, name, genes, sample, line."""
    return {
        "cdr3": text(rows["cdr3"].to_pylist()),
        "id": text(rows["id"].to_pylist()),
        "v_index": rows["v"].to_numpy(),
        "j_index": rows["j"].to_numpy(),
        "sample_index": rows["sample"].to_numpy(),
        "copies": rows["copies"].to_numpy(),
        "line": rows["line"].to_numpy(),
    }


def text(strings: Sequence[str]) -> NumpyArray:
    """Return strings as an array of NumPy's StringDType."""
    return np.array(strings, TEXT)
