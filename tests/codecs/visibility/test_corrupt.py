"""Damaged payloads: CorruptChunk or other words, never a crash nor a byte outside the buffers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from helpers.fenced_memory import fenced, needs_fences
from helpers.visibility_words import any_words, block_of, constructions, name, random_words
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility import cpu
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.params import PACKINGS, PREDICTORS, Params
from gangsaw.codecs.visibility.words import construction

SHAPE = (2, 2, 2, 5)
WAYS = constructions()[:: len(PACKINGS) + 1]
every_way = pytest.mark.parametrize("params", WAYS, ids=name)
every_width = pytest.mark.parametrize("bits", [16, 32, 64])


def smooth(bits: int) -> Any:
    """Words that compress, so that no way falls back to raw."""
    words = random_words(np.random.default_rng(bits), SHAPE, bits)
    return words >> np.array(bits // 2, words.dtype)


def payload(words: Any, params: Params) -> Any:
    data = construction.encode_construction(words, params)
    assert data.size <= words.nbytes, "raw would be shorter: it tests nothing"
    return data


class Fenced:
    """A payload and the words that it is decoded to, between pages without access."""

    def __init__(self, data: Any, like: Any, at_end: bool) -> None:
        self.data, self.at_end = fenced(data, at_end), at_end
        self.words = fenced(np.zeros_like(like), at_end)

    def decode(self, data: Any, params: Params) -> Any:
        """Words of a payload as long as that one, or shorter."""
        place = self.data[self.data.size - data.size :] if self.at_end else self.data[: data.size]
        place[:] = data
        construction.decode_construction(place, self.words)
        return self.words


@needs_fences
@every_width
@every_way
def test_every_truncation_is_refused(params: Params, bits: int) -> None:
    words = smooth(bits)
    data = payload(words, params)
    longer = np.append(data, np.uint8(0))
    for at_end in (False, True):
        memory = Fenced(longer, words, at_end)
        np.testing.assert_array_equal(memory.decode(data, params), words)
        for wrong in [longer, *(data[:size] for size in range(data.size))]:
            with pytest.raises(CorruptChunk):
                memory.decode(wrong, params)


@needs_fences
@every_width
@every_way
def test_flipped_bits_never_crash(params: Params, bits: int) -> None:
    """Every single bit, then several at once: another block of words, or CorruptChunk."""
    words = smooth(bits)
    data = payload(words, params)
    rng = np.random.default_rng(bits)
    flips = [[bit] for bit in range(8 * data.size)]
    flips += [list(rng.integers(0, 8 * data.size, n)) for n in (2, 3, 9) for _ in range(100)]
    for at_end in (False, True):
        memory = Fenced(data, words, at_end)
        for places in flips:
            damaged = data.copy()
            for bit in places:
                damaged[bit // 8] ^= 1 << bit % 8
            with suppress(CorruptChunk):
                memory.decode(damaged, params)


@given(any_words(), st.binary(min_size=1, max_size=60), st.sampled_from([None, 0, 1, 2, 3, 4]))
@settings(max_examples=300)
def test_any_bytes_are_refused_or_decoded(words: Any, data: bytes, kind: int | None) -> None:
    octets = np.frombuffer(data, np.uint8).copy()
    octets[0] = octets[0] if kind is None else kind
    with suppress(CorruptChunk):
        cpu.BACKEND.decode(Runs((octets,)), [block_of(words)], Params())


PARAMS = Params(predictor="time", residual="xor", packing="bits")


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (0, 6, "no kind"),
        (0, 255, "no kind"),
        (1, len(PREDICTORS), "no construction"),
        (2, 3, "window"),
        (3, 2, "no construction"),
        (4, 2, "no construction"),
    ],
)
def test_unknown_codes_are_refused(place: int, value: int, reason: str) -> None:
    words = smooth(32)
    data = payload(words, PARAMS)
    data[place] = value
    with pytest.raises(CorruptChunk, match=reason):
        cpu.BACKEND.decode(Runs((data,)), [block_of(words)], PARAMS)


def one_word(*octets: int) -> Any:
    """Decode one 16-bit word from octets after the head: a count of 5 bits and what is left."""
    out = np.empty((1, 1, 1, 1), np.uint16)
    construction.decode_construction(np.array([1, 0, 0, 0, 0, *octets], np.uint8), out)
    return int(out[0, 0, 0, 0])


def test_only_what_an_encoder_writes_is_read() -> None:
    assert one_word(0b10000_000) == 0
    assert one_word(0b01111_000, 0b1_0000000) == 1
    for octets, reason in [
        ((0b10001_000,), "exceeds"),
        ((0b10000_001,), "exceeds|fill"),
        ((0b01111_000, 0b0_0000000), "not counted"),
        ((0b01111_000, 0b1_0000001), "fill"),
        ((0b01111_000,), "there are 6"),
        ((0b10000_000, 0), "there are 7"),
    ]:
        with pytest.raises(CorruptChunk, match=reason):
            one_word(*octets)


def test_a_window_that_is_missing_is_refused() -> None:
    params = Params(predictor="median", residual="xor", packing="bits")
    words = smooth(32)
    data = payload(words, params)
    data[2] = 0
    with pytest.raises(CorruptChunk, match="window"):
        construction.decode_construction(data, np.empty_like(words))


def test_the_block_is_named() -> None:
    from gangsaw.codecs.core.container import frame
    from gangsaw.codecs.visibility.codec import Visibility

    codec = Visibility(block=(4, 4, 4))
    cube = np.ones((8, 8, 8), np.complex64)
    layout = codec.coder(cube.shape, cube.dtype).layout
    parts = list(frame.unpack(codec.encode_chunk(cube), layout).payloads)
    parts[5] = parts[5][:-1]
    with pytest.raises(CorruptChunk, match="block 5"):
        codec.decode_chunk(frame.pack(Runs(tuple(parts)), layout), cube)


@pytest.mark.parametrize("can_fold", [False, True])
@pytest.mark.parametrize("effort", ["fast", "dense"])
def test_the_block_whose_bytes_changed_is_named(
    effort: str, can_fold: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where several blocks are taken at once, and where kernels cannot verify them."""
    if can_fold and not fast.CAN_FOLD:
        pytest.skip("this processor folds no checksums")
    monkeypatch.setattr(fast, "CAN_FOLD", can_fold)
    chunk = np.random.default_rng(4).normal(size=(4, 90, 4)).astype("f4")
    codec = Visibility(effort=effort, block=(4, 1, 4))
    coder = codec.coder(chunk.shape, chunk.dtype)
    data = bytearray(coder.encode(chunk))
    ends = np.cumsum(coder.whole(data).lengths) + coder.layout.index_size
    for block in (0, 41, 89):
        data[ends[block] - 1] ^= 4
        with pytest.raises(CorruptChunk, match="checksum") as raised:
            coder.decode(data, np.empty_like(chunk))
        assert raised.value.block == block
        data[ends[block] - 1] ^= 4
    out = np.empty_like(chunk)
    coder.decode(data, out)
    assert out.tobytes() == chunk.tobytes()


def test_the_first_wrong_block_is_named_where_forms_take_turns() -> None:
    """Blocks of one form are decoded together: later ones before those of another form."""
    chunk = np.random.default_rng(5).normal(size=(4, 8, 6)).astype("c8")
    coder = Visibility(effort="fast", block=(4, 2, 4)).coder(chunk.shape, chunk.dtype)
    data = bytearray(coder.encode(chunk))
    ends = np.cumsum(coder.whole(data).lengths) + coder.layout.index_size
    for wrong in [(1, 4), (4, 1), (3, 6), (2, 5)]:
        damaged = data.copy()
        for block in wrong:
            damaged[ends[block] - 1] ^= 4
        with pytest.raises(CorruptChunk, match="checksum") as raised:
            coder.decode(damaged, np.empty_like(chunk))
        assert raised.value.block == min(wrong)


@needs_fences
@pytest.mark.parametrize("effort", ["fast", "dense"])
@pytest.mark.parametrize("shape", [(4, 8, 6), (2, 3, 5), (70, 9, 40)], ids=str)
def test_no_byte_behind_a_chunk_is_read(effort: str, shape: tuple[int, ...]) -> None:
    """A block may be read too far, into the next one; the last one must not."""
    rng = np.random.default_rng(6)
    for chunk in (rng.normal(size=shape), rng.integers(0, 9, shape), np.zeros(shape)):
        values = chunk.astype("c8")
        coder = Visibility(effort=effort, block=(4, 2, 4)).coder(shape, values.dtype)
        frame = np.frombuffer(coder.encode(values), np.uint8)
        for at_end in (False, True):
            out = fenced(np.ones_like(values), at_end)
            coder.decode(fenced(frame, at_end), out)
            assert out.tobytes() == values.tobytes()
