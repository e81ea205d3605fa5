"""Keys of the chunks of an array, and a bitmap of the chunks that a store has.

A listing may have a million keys, so they are not collected in a set. Each is converted to its
chunk number as it arrives, in any order. Object stores list in sorted order, where "c/10" comes
before "c/2"; file systems do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gangsaw.tasks.store.arrays.chunks import ChunkGrid, ZarrArray


class ChunkKeys:
    """Keys of the chunks of an array.

    Parameters
    ----------
    array : array of Zarr format 2 or 3
    grid : grid of its chunks, or of its shards if it has shards
    """

    def __init__(self, array: ZarrArray, grid: ChunkGrid) -> None:
        self.grid, self.counts = grid, grid.counts
        encode = array.metadata.encode_chunk_key
        first, second = encode((0,) * len(self.counts)), encode((1,) * len(self.counts))
        self.only = first if not self.counts else None
        self.prefix = first[: first.index("0")] if self.counts else first
        joint = first.removeprefix(self.prefix)[1:2]
        self.separator = joint or "/"
        assert self.only is not None or second == self._joined((1,) * len(self.counts))

    def key(self, number: int) -> str:
        """Return the key of a chunk, relative to the array."""
        return self._joined(self.grid.position(number)) if self.only is None else self.only

    def number(self, key: str) -> int | None:
        """Return the number of the chunk with this key, or None if no chunk has it."""
        if self.only is not None:
            return 0 if key == self.only else None
        if not key.startswith(self.prefix):
            return None
        names = key[len(self.prefix) :].split(self.separator)
        if len(names) != len(self.counts):
            return None
        number = 0
        for name, count in zip(names, self.counts, strict=True):
            if not (name.isdecimal() and name.isascii()) or (name[0] == "0" and name != "0"):
                return None
            if (at := int(name)) >= count:
                return None
            number = number * count + at
        return number

    def missing(self, keys: Iterable[str]) -> Iterator[range]:
        """Yield ranges of consecutive chunk numbers whose keys are not among the listed ones.

        Parameters
        ----------
        keys : keys of the objects in the store
        """
        there = np.zeros(self.grid.n_chunks, np.bool_)
        for key in keys:
            if (number := self.number(key)) is not None:
                there[number] = True
        edges = np.flatnonzero(np.diff(there.view(np.int8), prepend=1, append=1))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            yield range(start, stop)

    def _joined(self, position: tuple[int, ...]) -> str:
        return self.prefix + self.separator.join(map(str, position))
