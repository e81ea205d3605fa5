"""Reads of RNA take what reads of DNA take: T and U are exchanged where U prevails."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.backends import encoded_block, fill_block
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.reads.codec import Reads
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import MODE_BITS
from gangsaw.codecs.reads.sequence.coding import SEQUENCE
from gangsaw.codecs.reads.sequence.syntax import EXCHANGED

AS_RNA = bytes.maketrans(b"Tt", b"Uu")
LANE = 1 << 10


def reads(n: int, seed: int = 4) -> bytes:
    """Reads of 90 from a genome of 4,000, some with N."""
    rng = np.random.default_rng(seed)
    genome = LETTER_OF_CODE[rng.integers(0, 4, 4000)]
    lines = genome[rng.integers(0, 3900, n)[:, None] + np.arange(90)]
    lines[rng.random(lines.shape) < 0.002] = ord("N")
    return b"".join(bytes(line) + b"\n" for line in lines)


def payload_of(text: bytes, lane: int = LANE) -> Text:
    """The payload of a text that comes back."""
    block, params = np.frombuffer(text, np.uint8), Params(kind="sequence", lane=lane)
    data, bits = encoded_block(SEQUENCE, block, params)
    out = np.full_like(block, 7)
    fill_block(SEQUENCE, data, bits, out, params)
    assert out.tobytes() == text
    return data


@pytest.mark.parametrize("lane", [64, LANE, 1 << 16])
def test_rna_takes_what_dna_takes(lane: int) -> None:
    text = reads(500)
    dna, rna = payload_of(text, lane), payload_of(text.translate(AS_RNA), lane)
    assert rna[0] == dna[0] | EXCHANGED << MODE_BITS
    np.testing.assert_array_equal(rna[1:], dna[1:])


@pytest.mark.parametrize(
    ("more", "is_exchanged"),
    [(b"", False), (b"U", True), (b"UT", False), (b"UUT", True), (b"UUtT", False), (b"Uu", True)],
)
def test_one_letter_more_decides(more: bytes, is_exchanged: bool) -> None:
    text = b"ACGTU" * 99 + b"\n" + reads(90).replace(b"T", b"A") + more + b"\n"
    assert bool(payload_of(text)[0] & EXCHANGED << MODE_BITS) == is_exchanged


@given(st.lists(st.text("ACGTUNtu", max_size=90).map(str.encode), max_size=30), st.booleans())
@settings(max_examples=80)
def test_t_and_u_in_one_block_come_back(lines: list[bytes], is_open: bool) -> None:
    text = b"".join(line + b"\n" for line in lines) * 3
    payload_of(text[: len(text) - is_open], 64)


def test_some_reads_of_rna_come_back_without_the_others() -> None:
    """Bytes of windows that were not asked for are nobody's."""
    text = np.frombuffer(reads(4000).translate(AS_RNA), np.uint8)
    codec = Reads(kind="sequence", block=1 << 20, lane=LANE)
    whole, out = codec.encode_chunk(text), np.zeros_like(text)
    codec.decode_chunk(whole, out)
    np.testing.assert_array_equal(out, text)
