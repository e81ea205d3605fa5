"""Partitioned tables: one task writes rows for many readers, and each reads from many writers.

An Arrow file has one record batch per partition, indexed by the file's footer. Parquet was
considered: its footer has a hundred bytes per column and partition, so reading footers would cost
more than reading rows. A file per partition would make tasks x partitions files.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

CODEC = "lz4"


def write_partitions(path: Path, table: pa.Table, part: NDArray[np.int64], n_parts: int) -> None:
    """Write a table to a file with one record batch per partition; `part[i]` is that of row i.

    The file appears only when complete, so that a task may run twice.
    """
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(n_parts + 1)).tolist()
    sorted_rows = table.take(pa.array(order)).combine_chunks()
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    options = ipc.IpcWriteOptions(compression=CODEC)
    with (
        pa.OSFile(str(partial), "wb") as file,
        ipc.new_file(file, table.schema, options=options) as writer,
    ):
        for begin, end in pairwise(ends):
            rows = sorted_rows.slice(begin, end - begin)
            writer.write_batch(rows.to_batches()[0] if len(rows) else _none(table.schema))
    partial.replace(path)


def read_partition(
    paths: Iterable[Path], part: int, columns: Sequence[str] | None = None
) -> pa.Table:
    """Return the rows of one partition of all files, in file order; None is all columns."""
    batches = []
    for path in paths:  # not mapped: thousands of maps would exceed the limit of open files
        with (
            pa.OSFile(str(path), "rb") as file,
            ipc.open_file(file, options=_only(file, columns)) as reader,
        ):
            batches.append(reader.get_batch(part))
    return pa.Table.from_batches(batches)


def _only(file: pa.NativeFile, columns: Sequence[str] | None) -> ipc.IpcReadOptions:
    if columns is None:
        return ipc.IpcReadOptions()
    with ipc.open_file(file) as reader:
        names = reader.schema.names
    return ipc.IpcReadOptions(included_fields=sorted({names.index(name) for name in columns}))


def _none(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=schema)


@contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder next to the file `target`, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".parts", dir=target.parent))
    try:
        yield folder.absolute()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
