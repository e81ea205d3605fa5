"""Opening of a store's indexes for search; indexes of other content are rejected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.search.fm_index.kinds import TextIndex, bound_index_bytes, is_of, open_index
from gangsaw.tasks.search.stored.data import StoredText, open_texts
from gangsaw.tasks.search.stored.info import IndexedArray, default_location, parse_index_attribute
from gangsaw.tasks.sources.source import SourceArray
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.source import open_zarr

CACHED_INDEXES = 4  # indexes cached per process


@dataclass(frozen=True)
class IndexedText:
    """Text with its indexes; it is sent to workers, which read from it.

    Attributes
    ----------
    store : path or address of the store
    name : name of the indexed array
    stored : the indexed array
    how : parameters of its indexes
    rows : array of the packed indexes, one row each
    """

    store: str
    name: str
    stored: StoredText
    how: IndexedArray
    rows: SourceArray

    def __len__(self) -> int:
        """Return the number of indexes, one per chunk."""
        return len(self.how.starts)

    def index(self, number: int) -> TextIndex:
        """Open the index of chunk `number`; raise CorruptChunk if its bytes are invalid."""
        return _index(self, number)


def open_indexed(store: str, index: str | None = None, variable: str | None = None) -> IndexedText:
    """Open an indexed array of a store, and its indexes.

    Raises
    ------
    BadParams : there is no index, one of other content, or several without a named one
    """
    where = index or default_location(store)
    make = f"make one by gangsaw index {store}"
    if open_prefix(where).is_empty:
        # raises if the store has nothing to index
        open_texts(store, [variable] if variable else [])
        raise BadParams(f"{store} has no index at {where}: {make}")
    found = open_zarr(where)
    try:
        arrays = parse_index_attribute(found.attrs)
    except BadParams as error:
        raise BadParams(f"{where}: {error}; {make} --overwrite") from error
    name = _choose(where, list(arrays), variable)
    how = arrays[name]
    letters = open_texts(store, [name])[1][name]
    if how.identity != letters.identity or how.size != letters.size or how.kind != letters.kind:
        raise BadParams(f"{where} describes other content than {store} has now: {make} --overwrite")
    rows = {array.name: array for array in found.arrays}.get(name)
    shape = (len(how.starts), bound_index_bytes(how.kind, how.chunk, how.rate))
    if rows is None or rows.dtype != np.uint8 or rows.shape != shape:
        raise CorruptChunk(f"{name} holds no indexes of {len(how.starts)} chunks", store=where)
    return IndexedText(store, name, letters, how, rows)


def _choose(where: str, names: list[str], wanted: str | None) -> str:
    if wanted is not None and wanted not in names:
        raise BadParams(f"{where} has no index of {wanted}; it has of {join_words(names)}")
    if wanted is None and len(names) != 1:
        raise BadParams(f"{where} has indexes of {join_words(names)}: name one by --variable")
    return wanted or names[0]


@lru_cache(maxsize=CACHED_INDEXES)
def _index(text: IndexedText, number: int) -> TextIndex:
    rows, how = text.rows, text.how
    data = np.asarray(rows.read((slice(number, number + 1), slice(0, rows.shape[1]))))
    where = f"{getattr(rows, 'address', '')}/{rows.name}"
    begin, end = how.window(number)
    try:
        found = open_index(np.ascontiguousarray(data[0]))
    except CorruptChunk as error:
        raise error.at(store=where, chunk=str(number)) from error
    if found.n != end - begin or not is_of(found, how.kind):
        raise CorruptChunk("an index of another text", store=where, chunk=str(number))
    return found
