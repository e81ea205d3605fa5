"""Letters that are compared by words, beside the same letter by letter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.genomes.related.runs import count_matches
from gangsaw.tasks.genomics.genomes.related.seeds import NEAR, equal_of


@jit
def compared(text: Any, i: int, known: Any, n: int, place: int, strand: int) -> Any:
    """What kernels of these parts see: the parts themselves are none."""
    score = equal_of(text, i, text.size, known, n, place, strand)
    return score, count_matches(text, i, known, n, place, strand)


def is_equal(text: np.ndarray, i: int, known: np.ndarray, n: int, place: int) -> bool:
    return bool(text[i] == NOT_A_BASE or (0 <= place < n and text[i] == known[place]))


@pytest.mark.parametrize("strand", [1, -1])
@pytest.mark.parametrize("seed", range(8))
def test_words_say_what_letters_say(seed: int, strand: int) -> None:
    rng = np.random.default_rng(seed)
    text = rng.integers(0, 4, 90).astype(np.uint8)
    n, first = 100, int(rng.integers(0, 12))
    own = text if strand > 0 else 3 - text[::-1]
    known = np.concatenate((rng.integers(0, 4, first), own, rng.integers(0, 4, 60))).astype(
        np.uint8
    )
    text[rng.integers(0, text.size, 5)] = rng.integers(0, 5, 5)
    turned = known if strand > 0 else 3 - known
    for i in range(text.size + 1):
        start = first + i if strand > 0 else first + text.size - 1 - i
        for place in range(start - 3, start + 4):
            same = [
                is_equal(text, i + q, turned, n, place + q * strand)
                for q in range(min(NEAR, text.size - i))
            ]
            wanted = sum(same) * NEAR // len(same) if same else 0
            score, long = compared(text, i, known, n, place, strand)
            assert score == wanted
            assert all(is_equal(text, i + q, turned, n, place + q * strand) for q in range(long))
            if 0 <= place < n and i < text.size and not same[0]:
                assert long == 0
