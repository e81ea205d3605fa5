"""How parts of an array are read: few items alone, many by whole chunks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.genomics.sequences.cached_chunks import SMALL_READS, CachedChunks
from gangsaw.tasks.sources.source import Described, Region

CHUNK, N = 1000, 2500


@dataclass(frozen=True)
class Watched(Described):
    """An array that notes what is read of it."""

    asked: list[tuple[int, int]] = field(default_factory=list)

    def read(self, region: Region) -> NumpyArray:
        (part,) = region
        self.asked.append((part.start, part.stop))
        return np.arange(N)[part]


def test_few_items_are_read_alone_until_all_are_wanted() -> None:
    dtype: Dtype = np.dtype("i8")
    array = Watched(name="a", shape=(N,), dtype=dtype, dims=("x",), chunks=(CHUNK,))
    held = CachedChunks(array)
    for begin in (5, 995, 40):  # the second one ends in the next chunk
        assert held.read(begin, begin + 10).tolist() == list(range(begin, begin + 10))
    assert array.asked == [(5, 15), (995, 1005), (40, 50)]
    array.asked.clear()
    for begin in range(0, 600, 100):
        assert held.read(begin, begin + 100)[0] == begin
    small = [(begin, begin + 100) for begin in range(0, 100 * (SMALL_READS - 1), 100)]
    assert array.asked == [*small, (0, CHUNK)]
    array.asked.clear()
    assert held.read(900, 1500).size == 600
    assert held.read(1400, 1402).tolist() == [1400, 1401]
    assert array.asked == [(CHUNK, 2 * CHUNK)]
