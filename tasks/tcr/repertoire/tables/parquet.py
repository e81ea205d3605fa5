"""Streams of requested columns from Parquet tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named

with extras_named():
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

from gangsaw.tasks.tcr.repertoire.tables.text import BLOCK_ROWS, Fields


class ParquetTable:
    """Parquet file as a table; its `lines` are 1-based row numbers."""

    failure = ""

    def __init__(self, path: Path, wanted: list[str]) -> None:
        self._path, self._wanted = path, wanted

    def __iter__(self) -> Iterator[Fields]:
        """Yield the rows in blocks.

        Raises
        ------
        BadParams : the file is damaged, or a column's type has no text form
        """
        done = 0
        with (
            _errors(self._path),
            pq.ParquetFile(self._path, page_checksum_verification=True) as file,
        ):
            for batch in file.iter_batches(BLOCK_ROWS, columns=self._wanted, use_threads=False):
                rows = batch.num_rows
                columns = {name: _texts(batch.column(name)) for name in self._wanted}
                nothing = pa.repeat("", rows)
                yield Fields(np.arange(done + 1, done + rows + 1), columns, nothing, nothing)
                done += rows


def parquet_names(path: Path) -> tuple[str, ...]:
    """Return the names of a Parquet file's columns.

    Raises
    ------
    BadParams : the file is damaged
    """
    with _errors(path):
        return tuple(pq.read_schema(path).names)


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")  # like calls in text
    texts = column.cast(pa.string()).fill_null("")
    texts.validate(full=True)  # the file may declare strings that are not UTF-8
    return texts


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        why = (str(error).splitlines() or ["unreadable"])[0]
        raise BadParams(f"{path} cannot be read as Parquet: {why}") from None
