"""CRC-32C by folding: every length around the steps, every width that the processor has."""

from __future__ import annotations

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.container import folding
from gangsaw.codecs.core.container.checksum import SHORT, crc32c
from gangsaw.codecs.core.container.folding import ALL_ONES, VECTORS
from gangsaw.codecs.core.numba import jit
from gangsaw.codecs.core.numba.vectors.integers import static

RANDOM = np.random.default_rng(5).integers(0, 256, 1 << 16, np.uint8)


def test_the_published_values() -> None:
    """RFC 3720, B.4; the bytes of the check value of the catalogue of CRCs."""
    assert crc32c(b"") == 0
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


@pytest.mark.parametrize("first", [0, 1, 7])
def test_every_length_around_a_step(first: int) -> None:
    for n in [*range(SHORT - 9, SHORT + 520), 40000, 65521]:
        data = RANDOM[first : first + n]
        assert crc32c(data) == google_crc32c.value(data), n


@given(st.integers(0, 1 << 16), st.integers(0, 1 << 16), st.integers(0, ALL_ONES))
def test_bytes_that_stand_before(first: int, end: int, before: int) -> None:
    data = RANDOM[first:end].tobytes()
    expected = google_crc32c.extend(before, data)
    for kind in (bytes, bytearray, memoryview):
        assert crc32c(kind(data), before) == expected


@pytest.mark.parametrize("words", [2, 4, 8])
def test_every_width_gives_the_same(words: int) -> None:
    if words > jit.folding_words():
        pytest.skip(f"this processor multiplies no {words} words at once")
    step = 8 * words * VECTORS
    for n in (step, 2 * step, 31 * step):
        state = folding._folded(RANDOM, n, ALL_ONES, static(words))
        assert state ^ ALL_ONES == google_crc32c.value(RANDOM[:n])


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ({"crc32", "sse4.2", "avx2"}, 0),
        ({"crc32", "pclmul"}, 2),
        ({"crc32", "pclmul", "vpclmulqdq"}, 2),
        ({"crc32", "pclmul", "avx2", "vpclmulqdq"}, 4),
        ({"sse4.2", "pclmul", "vpclmulqdq", "avx2"}, 0),
    ],
)
def test_the_width_follows_from_the_processor(
    features: set[str], words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "features", lambda: features)
    monkeypatch.setattr(jit, "HAS_AVX512", False)
    assert jit.folding_words() == words


def test_a_processor_that_folds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "CAN_FOLD", False)
    monkeypatch.delattr(folding, "fold_bytes")
    assert crc32c(RANDOM) == google_crc32c.value(RANDOM)
