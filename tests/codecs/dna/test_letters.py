"""Packed letters and marks at the borders of vectors and pieces, against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.vectors.byte_lanes import VECTOR_BYTES
from gangsaw.codecs.dna.head import HEAD
from gangsaw.codecs.dna.letters.coding import FEW, PackedText, join_text, packed_size
from gangsaw.codecs.dna.letters.marks import Marks
from gangsaw.codecs.dna.letters.pack import PIECE
from gangsaw.codecs.dna.memory import likely_bytes
from gangsaw.codecs.dna.params import Params
from gangsaw.codecs.dna.payload import NO_LANES, read_payload, write_payload
from tests.reference import dna as reference

PACK = Params(mode="pack")
LENGTHS = (
    1,
    2,
    3,
    5,
    VECTOR_BYTES - 1,
    VECTOR_BYTES,
    VECTOR_BYTES + 1,
    200,
    PIECE - 1,
    PIECE,
    PIECE + 1,
)
parts = st.tuples(
    st.sampled_from([b"ACGT", b"acgt", b"N", b"n", b"aCNn-", b"\x80\xff\x00", b"TTtAN"]),
    st.sampled_from(LENGTHS),
)
texts = st.lists(parts, max_size=6).map(lambda found: b"".join((a * n)[:n] for a, n in found))


def payload_of(text: bytes, params: Params = PACK, spare: int = 0) -> bytes:
    letters = np.frombuffer(text, np.uint8)
    place = np.empty(likely_bytes(letters.size) + spare, np.uint8)
    return write_payload(letters, params, place).payload.tobytes()


def text_of(payload: bytes, n: int) -> bytes:
    text = np.empty(n, np.uint8)
    read_payload(np.frombuffer(payload, np.uint8), NO_LANES, text)
    return text.tobytes()


@given(texts)
@example(b"C" * PIECE + b"c" * PIECE + b"C" * PIECE)
@example(b"c" * (PIECE + 1) + b"C" * 2 * PIECE + b"c" * PIECE)
@example(b"A" * (PIECE - 1) + b"N" * 2 + b"A" * 2 * PIECE + b"N" * (VECTOR_BYTES + 1))
@example(b"G" * VECTOR_BYTES + b"g" * VECTOR_BYTES * 2 + b"G")
def test_a_payload_is_as_specified(text: bytes) -> None:
    payload = payload_of(text)
    assert payload == reference.encoded(text, "pack")
    assert text_of(payload, len(text)) == text


@pytest.mark.parametrize("every", [1, 2, 9, 10, 30, 100])
def test_many_marks_are_found_again_with_more_memory(every: int) -> None:
    """Of a text of few marks in its first part: what was written then is written anew."""
    n = 3 * PIECE
    text = np.frombuffer(b"ACGT" * (n // 4), np.uint8).copy()
    text[n // 4 :: every] |= 32
    text[n // 2 :: every] = ord("N")
    payload = payload_of(text.tobytes())
    assert payload == reference.encoded(text.tobytes(), "pack")
    if every == 30:
        assert (n // 4) + (n // FEW) < len(payload) < n  # the first memory was too short
    assert text_of(payload, n) == text.tobytes()


@given(texts, st.integers(0, 99))
def test_a_payload_is_the_same_whatever_memory_there_is(text: bytes, spare: int) -> None:
    assert payload_of(text, spare=spare) == payload_of(text)


@pytest.mark.parametrize("n", [VECTOR_BYTES // 2, VECTOR_BYTES, 3 * VECTOR_BYTES + 5])
@pytest.mark.parametrize("at", [0, 7, -1])
def test_lower_case_of_what_is_no_letter_is_refused(n: int, at: int) -> None:
    exception = bytes([at % n, 0, ord("-")])
    cases = bytes([0]) + (bytes([n - 1]) if n <= 128 else bytes([n - 1 & 127 | 128, n - 1 >> 7]))
    found = Marks(*(np.frombuffer(part, np.uint8) for part in (exception, cases)))
    if at < 0 and n > 128:  # a place above 127 has two bytes
        exception = bytes([(n - 1) & 127 | 128, (n - 1) >> 7, 0, ord("-")])
        found = found._replace(exceptions=np.frombuffer(exception, np.uint8))
    with pytest.raises(CorruptChunk, match="lower case"):
        join_text(PackedText(np.zeros(packed_size(n), np.uint8), found), np.empty(n, np.uint8))


@given(st.lists(st.tuples(st.integers(0, 255), st.sampled_from([1, 1, 1, 2, 3, 8, 254, 600]))))
def test_runs_are_as_specified(found: list[tuple[int, int]]) -> None:
    """Where they are shorter by a single byte as well."""
    packed = b"".join(bytes([value]) * count for value, count in found)
    text = bytes(b"ACGT"[byte >> shift & 3] for byte in packed for shift in (6, 4, 2, 0))
    payload = payload_of(text, Params("gencodex"))
    assert payload == reference.encoded(text, "gencodex")
    assert text_of(payload, len(text)) == text


def test_runs_that_save_one_byte_are_kept() -> None:
    packed = bytes([*range(7), *range(7), 9, 9, 9, 9, 9])  # groups of 9 + 9: a byte less
    text = bytes(b"ACGT"[byte >> shift & 3] for byte in packed for shift in (6, 4, 2, 0))
    payload = payload_of(text, Params("gencodex"))
    assert len(payload) == HEAD.size + len(packed) - 1
    assert payload[0] == 2
