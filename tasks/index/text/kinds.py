"""The kinds of indexes: what opens each, and how many bytes one takes."""

from __future__ import annotations

from typing import Literal

from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.index.kernels import bases, bits
from gangsaw.tasks.index.text import base_index, byte_index, repeat_index
from gangsaw.tasks.index.text.base_index import BaseIndex
from gangsaw.tasks.index.text.base_runs import split
from gangsaw.tasks.index.text.byte_index import ByteIndex
from gangsaw.tasks.index.text.packed import FIELDS, Bytes, Section, room_of, unpack
from gangsaw.tasks.index.text.repeat_index import RUN_BYTES, RepeatIndex, count_runs
from gangsaw.tasks.index.text.samples import Places

Kind = Literal["bases", "bytes"]
TextIndex = BaseIndex | ByteIndex | RepeatIndex
RATES: dict[Kind, int] = {"bases": base_index.RATE, "bytes": byte_index.RATE}
PER_RUN = 16  # letters of a run on the average, at least, for an index that is stored
SPARE_RUNS = 64
MOST_LETTERS = 1 << 28  # of a text: counts of bits have 32
WORKING = 10  # bytes of memory for each letter while an index is made


def made(kind: Kind, letters: Bytes, borders: Places, rate: int) -> TextIndex:
    """Return the index of (n,) uint8: of runs where that takes less than half a byte a letter.

    borders : (b,) int64, ascending, where records of bases meet
    """
    text, runs = split(letters, borders) if kind == "bases" else (letters, None)
    suffixes = suffix_array(text)
    if text.size and 2 * RUN_BYTES * count_runs(text, suffixes) < text.size:
        return RepeatIndex.made(text, suffixes, runs, letters.size)
    if runs is None:
        return ByteIndex.of_text(text, suffixes, rate)
    return BaseIndex.of_runs(text, suffixes, runs, letters.size, rate)


def is_of(index: TextIndex, kind: Kind) -> bool:
    """Whether it finds bases, or bytes."""
    if isinstance(index, RepeatIndex):
        return (index.runs is not None) == (kind == "bases")
    return isinstance(index, BaseIndex) == (kind == "bases")


def opened(data: Bytes) -> TextIndex:
    """Return the index of packed bytes; CorruptChunk for those of none, or damaged."""
    found = unpack(data)
    if found.kind == base_index.KIND:
        return BaseIndex.opened(found)
    if found.kind == byte_index.KIND:
        return ByteIndex.opened(found)
    if found.kind == repeat_index.KIND:
        return RepeatIndex.opened(found)
    raise CorruptChunk(f"an index of kind {found.kind}")


def room_for(kind: Kind, n: int, rate: int) -> int:
    """Return the bytes of an index of n letters at most, with the runs that are allowed."""
    if kind == "bytes":
        own = [Section(256, "u4"), Section(256, "u1"), Section(bits.n_words(8 * n), "u8")]
        samples = n // rate + 2
        text = n
    else:
        runs = n // PER_RUN + SPARE_RUNS
        text, samples = n + runs, (n + runs) // rate + 2 + runs
        own = [Section(bases.n_words(text + 1), "u8"), *3 * [Section(runs + 1, "u4")]]
    marks = [Section(bits.n_words(text + 1), "u8"), Section(samples, "u4")]
    return 8 * FIELDS + room_of([*own, *marks])
