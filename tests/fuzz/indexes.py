"""Damage to indexes of texts, with checksums that are right again: opened, then searched."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzz.codecs import Attempt
from fuzz.damage import Rng, damaged
from fuzz.fence import Fence
from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.search.fm_index.base_index import BaseIndex
from gangsaw.tasks.search.fm_index.base_runs import split_at_breaks
from gangsaw.tasks.search.fm_index.byte_index import ByteIndex
from gangsaw.tasks.search.fm_index.kinds import TextIndex, open_index
from gangsaw.tasks.search.fm_index.packed import CRC_AT, FIELDS, SUMMED, Bytes
from gangsaw.tasks.search.fm_index.repeat_index import RepeatIndex

PATTERNS, LENGTH = 12, 3


def targets() -> dict[str, Callable[[], Attempt]]:
    """Return what makes an attempt at each, by name."""
    rng = np.random.default_rng(0)
    bases = rng.choice(np.frombuffer(b"ACGTN", np.uint8), 900, p=[0.3, 0.2, 0.2, 0.29, 0.01])
    text = rng.choice(np.frombuffer(b"abcdefgh", np.uint8), 900)
    return {
        "index-bases": lambda: _of(BaseIndex.build(bases), bases),
        "index-bytes": lambda: _of(ByteIndex.build(text), text),
        "index-runs": lambda: _of(_by_runs(text), text),
        "index-runs-of-bases": lambda: _of(_by_runs(bases, of_bases=True), bases),
    }


def _by_runs(text: Bytes, *, of_bases: bool = False) -> RepeatIndex:
    letters = np.tile(text[:90], 10)
    own, runs = split_at_breaks(letters, np.arange(90, 900, 90)) if of_bases else (letters, None)
    return RepeatIndex.build(own, suffix_array(own), runs, letters.size)


def _of(index: TextIndex, text: Bytes) -> Attempt:
    good = index.pack()
    fence = Fence(2 * good.size + 4096)

    def attempt(rng: Rng) -> object:
        wrong = damaged(good, rng)
        if wrong.size >= 8 * FIELDS and rng.random() < 0.95:
            wrong = wrong.copy()
            wrong[: 8 * FIELDS].view("<u8")[CRC_AT] = crc32c(wrong[SUMMED:])
        found = open_index(fence.hold(wrong, at_end=bool(rng.integers(2))))
        _search(found, text, rng)
        return None

    return attempt


def _search(index: TextIndex, text: Bytes, rng: Rng) -> None:
    letters = rng.choice(text if rng.random() < 0.5 else np.arange(8, dtype=np.uint8), 36)
    patterns = RaggedArray(letters, np.arange(0, PATTERNS * LENGTH + 1, LENGTH))
    counts = index.counts(patterns)
    which, places = index.locate(patterns)
    assert counts.sum() == which.size
    assert not places.size or int(places.min()) >= 0
    index.seeds(letters, 2 * LENGTH)
