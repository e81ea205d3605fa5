"""RNA takes what DNA takes: T and U are exchanged where U prevails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.nucleotides.uracil import PIECE
from gangsaw.codecs.dna.codec import Dna
from gangsaw.codecs.dna.head import HEAD
from gangsaw.codecs.dna.memory import likely_bytes
from gangsaw.codecs.dna.params import MODES, Params
from gangsaw.codecs.dna.payload import EXCHANGED, parse_payload, write_payload
from gangsaw.codecs.dna.samples import genome

AS_RNA = bytes.maketrans(b"Tt", b"Uu")
MODE = pytest.mark.parametrize("mode", MODES)


@MODE
@pytest.mark.parametrize("n", [20_000, PIECE + 3])
def test_rna_takes_what_dna_takes(mode: Any, n: int) -> None:
    dna = genome(np.random.default_rng(8), n)
    dna[3000:3300] |= 32
    rna = np.frombuffer(dna.tobytes().translate(AS_RNA), np.uint8)
    codec = Dna(mode=mode)
    data = codec.encode_chunk(rna)
    assert len(data) == len(codec.encode_chunk(dna))
    out = np.empty_like(rna)
    codec.decode_chunk(data, out)
    assert out.tobytes() == rna.tobytes()


@MODE
@pytest.mark.parametrize(
    ("text", "is_exchanged"),
    [
        (b"ACGTU" * 99, False),
        (b"ACGTU" * 99 + b"u", True),
        (b"ACGTu" * 99 + b"t", False),
        (b"T" * 99, False),
        (b"U" * 99, True),
    ],
)
def test_one_letter_more_decides(mode: Any, text: bytes, is_exchanged: bool) -> None:
    block = np.frombuffer(text, np.uint8)
    payload = write_payload(
        block, Params(mode=mode), np.empty(likely_bytes(block.size), np.uint8)
    ).payload
    assert bool(payload[0] & EXCHANGED) == is_exchanged


@pytest.mark.parametrize("form", [8, 11, 13, 24, 264])
def test_what_no_encoder_exchanges_is_corrupt(form: int) -> None:
    with pytest.raises(CorruptChunk, match=f"form {form} with"):
        parse_payload(np.frombuffer(HEAD.pack(form, 0, 0) + bytes(4), np.uint8))
