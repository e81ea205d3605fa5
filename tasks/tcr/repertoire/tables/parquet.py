"""Parquet tables as a stream of their wanted columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.extras import extras_named

with extras_named():
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

from gangsaw.tasks.tcr.repertoire.tables.text import BLOCK_ROWS, Fields


class ParquetTable:
    """A Parquet file; its `lines` are rows, counted from 1."""

    failure = ""

    def __init__(self, path: Path, wanted: list[str]) -> None:
        self._path, self._wanted = path, wanted

    def __iter__(self) -> Iterator[Fields]:
        """Return the rows.

        Raises
        ------
        BadParams : the file is damaged, or a column is of a type that has no text
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
    """Return the names of the columns.

    Raises
    ------
    BadParams : the file is damaged
    """
    with _errors(path):
        return tuple(pq.read_schema(path).names)


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")  # as texts list calls
    texts = column.cast(pa.string()).fill_null("")
    texts.validate(full=True)  # the file's word that strings are UTF-8 is not enough
    return texts


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        why = (str(error).splitlines() or ["unreadable"])[0]
        raise BadParams(f"{path} cannot be read as Parquet: {why}") from None
