"""The job that makes the indexes of a store: their arrays as a source, an index for each chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from zarr.codecs import ZstdCodec

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.progress import OnProgress
from gangsaw.tasks.engine.tally import job_of
from gangsaw.tasks.index.stored.data import StoredText, letters_of
from gangsaw.tasks.index.stored.info import IndexedArray, attrs_of, beside
from gangsaw.tasks.index.text.kinds import MOST_LETTERS, RATES, WORKING, made, room_for
from gangsaw.tasks.index.text.samples import MOST_RATE
from gangsaw.tasks.jobs.compress import Summary, compress
from gangsaw.tasks.source import Coordinate, Described, Region
from gangsaw.tasks.store.source import ZarrSource
from gangsaw.tasks.store.stamps import Stamps
from gangsaw.tasks.store.stores import as_address

if TYPE_CHECKING:
    from distributed import Client

# 4 to 8 bits a letter that hardly shrink, and zeros behind: the last index is of fewer letters, and
# text of fewer bits than its room
CODEC = ZstdCodec(level=1)


@dataclass(frozen=True, kw_only=True)
class IndexArray(Described):
    """The indexes of an array, a row of bytes each, made where they are read.

    Attributes
    ----------
    of : the array
    how : it is indexed
    """

    of: StoredText
    how: IndexedArray

    @property
    def working_bytes(self) -> int:
        """Memory that making an index takes besides its bytes."""
        return WORKING * self.how.chunk

    def read(self, region: Region) -> NumpyArray:
        """Return some rows; BadParams where an index is too long."""
        rows, columns = region
        out = np.zeros((rows.stop - rows.start, self.shape[1]), np.uint8)
        for row, number in zip(out, range(rows.start, rows.stop), strict=True):
            packed = self._made(number)
            if packed.size > row.size:
                raise BadParams(
                    f"letters {self.how.window(number)[0]:,} and on of {self.name} have too many "
                    "breaks for an index of bases: letters other than ACGT, or borders of records"
                )
            row[: packed.size] = packed
        return out[:, columns]

    def _made(self, number: int) -> NumpyArray:
        begin, end = self.how.window(number)
        letters = self.of.read(begin, end)
        borders = self.of.borders_in(begin, end)
        return made(self.how.kind, letters, borders, self.how.rate).packed()


@dataclass(frozen=True)
class IndexSource:
    """The indexes of a store; it follows `gangsaw.tasks.source.Source`."""

    name: str
    arrays: tuple[IndexArray, ...]
    data: ZarrSource
    attrs: Mapping[str, object] = field(compare=False)
    coords: tuple[Coordinate, ...] = ()

    def identity(self) -> str:
        """Of the content that is indexed."""
        return " ".join(array.how.identity for array in self.arrays)

    def stamps(self) -> Stamps:
        """What changes with the store."""
        return self.data.stamps()


@job_of("index", "store")
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
    """Index the text or the bases of a store, so that `open` finds patterns in it.

    Parameters
    ----------
    store : path or address
    target : where the indexes go; None is beside the store, as logs.index.zarr of logs.zarr
    variables : arrays, of (n,) uint8; none for the sequences of a genome or of reads, else for all
        that hold text
    rate : places of which one is kept; None is 64, of bases 32. Fewer take less room, and longer to
        be located
    client : Dask client; None works in this thread
    resume : finish what an earlier run began
    overwrite : replace an existing index, which stays until the new one is complete
    storage_options : of the file systems of addresses, as of `gangsaw.compress`
    on_progress : called after each batch of chunks

    Raises
    ------
    BadParams : the store holds no such text, has too large chunks, or the target may not be touched
    JobFailed : the job stopped, and `resume` goes on from there; or the store changed meanwhile
    """
    store = as_address(store, storage_options)
    source, texts = letters_of(store, variables)
    how = {name: _plan(letters, rate) for name, letters in texts.items()}
    arrays = tuple(_described(texts[name], how[name]) for name in texts)
    return compress(
        IndexSource(store, arrays, source, attrs_of(how)),
        beside(store) if target is None else as_address(target, storage_options),
        codec=CODEC,
        chunks={"index": 1, "byte": -1},
        client=client,
        resume=resume,
        overwrite=overwrite,
        on_progress=on_progress,
    )


def _plan(letters: StoredText, rate: int | None) -> IndexedArray:
    chunk = max(1, min(letters.size, (letters.array.chunks or letters.array.shape)[0]))
    if chunk > MOST_LETTERS:
        raise BadParams(
            f"{letters.array.name} has chunks of {chunk:,} letters, more than {MOST_LETTERS:,}: "
            "compress it with smaller ones"
        )
    rate = RATES[letters.kind] if rate is None else rate
    if not 1 <= rate <= MOST_RATE:
        raise BadParams(f"rate must be 1 to {MOST_RATE:,}, got {rate}")
    return IndexedArray(letters.kind, letters.size, chunk, rate, letters.identity)


def _described(letters: StoredText, how: IndexedArray) -> IndexArray:
    room = room_for(how.kind, how.chunk, how.rate)
    name = letters.array.name
    return IndexArray(
        name=name,
        shape=(len(how.starts), room),
        dtype=np.dtype(np.uint8),
        dims=("index", "byte"),
        chunks=None,
        of=letters,
        how=how,
    )
