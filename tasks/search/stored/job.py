"""Job that builds the indexes of a store: arrays as a source, one index per chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from zarr.codecs import ZstdCodec

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.counters import count_as_job
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.jobs.compress import Summary, compress
from gangsaw.tasks.search.fm_index.kinds import (
    MAX_TEXT_SIZE,
    RATES,
    WORKING,
    bound_index_bytes,
    build_text_index,
)
from gangsaw.tasks.search.fm_index.samples import MOST_RATE
from gangsaw.tasks.search.stored.data import StoredText, open_texts
from gangsaw.tasks.search.stored.info import IndexedArray, default_location, make_index_attribute
from gangsaw.tasks.sources.source import Coordinate, Described, Region
from gangsaw.tasks.store.objects.stores import as_address
from gangsaw.tasks.store.objects.versions import FileVersions
from gangsaw.tasks.store.source import ZarrSource

if TYPE_CHECKING:
    from distributed import Client

# Indexes have 4 to 8 bits per letter that hardly compress, and zero padding: the last index has
# fewer letters, and a text may have fewer bits than its row.
CODEC = ZstdCodec(level=1)


@dataclass(frozen=True, kw_only=True)
class IndexArray(Described):
    """Packed indexes of an array, one row of bytes per chunk, built when they are read.

    Attributes
    ----------
    of : the indexed array
    how : its index parameters
    """

    of: StoredText
    how: IndexedArray

    @property
    def working_bytes(self) -> int:
        """Memory to build an index, in bytes, besides the index itself."""
        return WORKING * self.how.chunk

    def read(self, region: Region) -> NumpyArray:
        """Build and return some rows; raise BadParams if an index is longer than a row."""
        rows, columns = region
        out = np.zeros((rows.stop - rows.start, self.shape[1]), np.uint8)
        for row, number in zip(out, range(rows.start, rows.stop), strict=True):
            packed = self._build(number)
            if packed.size > row.size:
                raise BadParams(
                    f"positions {self.how.window(number)[0]:,} and on of {self.name} have too many "
                    "breaks for an index of bases: bytes other than ACGT, or borders of records"
                )
            row[: packed.size] = packed
        return out[:, columns]

    def _build(self, number: int) -> NumpyArray:
        begin, end = self.how.window(number)
        letters = self.of.read(begin, end)
        borders = self.of.borders_in(begin, end)
        return build_text_index(self.how.kind, letters, borders, self.how.rate).pack()


@dataclass(frozen=True)
class IndexSource:
    """Source of the indexes of a store's arrays, for a job that writes them.

    It implements `gangsaw.tasks.sources.source.Source`.
    """

    name: str
    arrays: tuple[IndexArray, ...]
    data: ZarrSource
    attrs: Mapping[str, object] = field(compare=False)
    coords: tuple[Coordinate, ...] = ()

    def identity(self) -> str:
        """Return the fingerprint of the content that is indexed."""
        return " ".join(array.how.identity for array in self.arrays)

    def versions(self) -> FileVersions:
        """Return the change stamps of the store that is indexed."""
        return self.data.versions()


@count_as_job("index", "store")
def index_job(
    store: str | Path,
    target: str | Path | None = None,
    *,
    variables: Sequence[str] = (),
    rate: int | None = None,
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
    storage_options: Mapping[str, object] | None = None,
    on_progress: OnProgress | None = None,
) -> Summary:
    r"""Index the text or the bases of a store, so that a search finds patterns in it.

    Each chunk gets an FM index [1]_; one of repetitive content is an r-index [2]_.

    Parameters
    ----------
    store : path or address
        Store of the text.
    target : path or address, optional
        Store of the indexes. None is next to the store, as logs.index.zarr for logs.zarr.
    variables : list of str, default ()
        Arrays to index, of (n,) uint8. If empty, the sequences of a genome or of reads, else all
        that hold text.
    rate : int, optional
        Step between sampled positions; None is 64, for bases 32. A larger step takes less space,
        and more time to locate.
    client : distributed.Client, optional
        Dask client. None works in this thread.
    resume : bool, default False
        True finishes what an earlier run began.
    overwrite : bool, default False
        True replaces an existing index, which stays until the new one is complete.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `gangsaw.compress`.
    on_progress : callable, optional
        Function that is called after each batch of chunks with the state of the job.

    Returns
    -------
    Summary
        Numbers and sizes of what was written.

    Raises
    ------
    BadParams
        The store holds no such text or has too large chunks, or the target may not be changed.
    JobFailed
        The job stopped, and `resume` continues it. Or the store changed meanwhile.

    See Also
    --------
    open : Open an indexed array for search.

    References
    ----------
    .. [1] P. Ferragina and G. Manzini, "Opportunistic data structures with applications", FOCS
       2000.
    .. [2] T. Gagie, G. Navarro and N. Prezza, "Fully functional suffix trees and optimal text
       searching in BWT-runs bounded space", Journal of the ACM 67(1), 2020.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.search
    >>> size = Path("log.txt").write_text("one error\nno line\nan error, an error\n")
    >>> summary = gangsaw.compress("log.txt", "log.zarr")
    >>> summary = gangsaw.search.index("log.zarr")
    >>> summary.arrays
    ('text',)
    >>> gangsaw.search.open("log.zarr").count("error")
    3
    """
    store = as_address(store, storage_options)
    source, texts = open_texts(store, variables)
    how = {name: _plan(letters, rate) for name, letters in texts.items()}
    arrays = tuple(_described(texts[name], how[name]) for name in texts)
    return compress(
        IndexSource(store, arrays, source, make_index_attribute(how)),
        default_location(store) if target is None else as_address(target, storage_options),
        codec=CODEC,
        chunks={"index": 1, "byte": -1},
        client=client,
        resume=resume,
        overwrite=overwrite,
        on_progress=on_progress,
    )


def _plan(text: StoredText, rate: int | None) -> IndexedArray:
    chunk = max(1, min(text.size, (text.array.chunks or text.array.shape)[0]))
    if chunk > MAX_TEXT_SIZE:
        raise BadParams(
            f"{text.array.name} has chunks of {chunk:,} bytes, more than {MAX_TEXT_SIZE:,}: "
            "compress it with smaller ones"
        )
    rate = RATES[text.kind] if rate is None else rate
    if not 1 <= rate <= MOST_RATE:
        raise BadParams(f"rate must be 1 to {MOST_RATE:,}, got {rate}")
    return IndexedArray(text.kind, text.size, chunk, rate, text.identity)


def _described(text: StoredText, how: IndexedArray) -> IndexArray:
    room = bound_index_bytes(how.kind, how.chunk, how.rate)
    name = text.array.name
    return IndexArray(
        name=name,
        shape=(len(how.starts), room),
        dtype=np.dtype(np.uint8),
        dims=("index", "byte"),
        chunks=None,
        of=text,
        how=how,
    )
