"""Effort dense against its reference, on corner cases and on hostile bytes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.bwt_strings import corner_cases, runs, strings
from helpers.fenced_memory import fenced, needs_fences
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import bwt_dense as reference
from reference.bwt_lanes import Wrong

from gangsaw.codecs.bwt.dense import cpu
from gangsaw.codecs.bwt.dense.weights import weights
from gangsaw.codecs.core.errors import CorruptChunk

Octets = npt.NDArray[np.uint8]
CASES = corner_cases()
SHORT = [name for name, bwt in CASES.items() if bwt.size < 100000]


def coded(bwt: Octets) -> Octets:
    return np.concatenate(list(cpu.coded(bwt)))


def decoded(data: Octets, n: int) -> bytes:
    out = np.full(n + 16, 173, np.uint8)
    cpu.decode(data, out[:n])
    assert (out[n:] == 173).all()
    return out[:n].tobytes()


def many_decisions() -> Octets:
    """More than a segment has steps, in one lane."""
    return np.random.default_rng(5).integers(0, 256, 20500, np.uint8)


@pytest.mark.parametrize("name", CASES)
def test_strings_come_back(name: str) -> None:
    assert decoded(coded(CASES[name]), CASES[name].size) == CASES[name].tobytes()


def test_segments_follow_one_another() -> None:
    bwt = many_decisions()
    parts = list(cpu.coded(bwt))
    assert len(parts) == 3  # heads and two
    assert decoded(np.concatenate(parts), bwt.size) == bwt.tobytes()


@pytest.mark.slow
def test_segments_are_those_of_the_reference() -> None:
    bwt = many_decisions()
    assert reference.encode(bwt.tobytes()) == coded(bwt).tobytes()


@pytest.mark.parametrize("name", SHORT)
def test_the_reference_reads_and_writes_the_same_bytes(name: str) -> None:
    bwt = CASES[name][:4000] if name != "just two lanes" else CASES[name]
    data = coded(bwt).tobytes()
    assert reference.encode(bwt.tobytes()) == data
    assert reference.decode(data, bwt.size) == bwt.tobytes()


@settings(max_examples=60, deadline=None)
@given(strings(), st.integers(1, 300))
def test_any_string_comes_back(bwt: Octets, times: int) -> None:
    bwt = np.repeat(bwt, times)
    assert decoded(coded(bwt), bwt.size) == bwt.tobytes()


@settings(max_examples=30, deadline=None)
@given(strings(60))
def test_any_string_has_the_bytes_of_the_reference(bwt: Octets) -> None:
    assert reference.encode(bwt.tobytes()) == coded(bwt).tobytes()


def test_weights_are_those_of_the_specification() -> None:
    assert weights().tolist() == reference.WEIGHTS


def test_what_gets_no_shorter_is_none() -> None:
    assert cpu.encode(CASES["random"], None) is None
    assert cpu.encode(CASES["one byte"], None) is None
    assert cpu.encode(CASES["two bytes"], None) is None
    assert cpu.encode(np.random.default_rng(1).integers(0, 256, 1 << 18, np.uint8), None) is None


def test_bytes_are_put_where_there_is_room() -> None:
    room = np.zeros(CASES["text"].size, np.uint8)
    found = cpu.encode(CASES["text"], room)
    assert found is not None
    assert np.shares_memory(found, room)
    alone = cpu.encode(CASES["text"], room[:100])
    assert alone is not None
    assert not np.shares_memory(alone, room)
    assert (alone == found).all()
    assert (found == coded(CASES["text"])).all()


def check(data: Octets, n: int) -> None:
    """What is wrong by the specification is corrupt; the rest is what it says."""
    try:
        expected = reference.decode(data.tobytes(), n)
    except Wrong:
        with pytest.raises(CorruptChunk):
            decoded(data, n)
        return
    assert decoded(data, n) == expected


@pytest.mark.parametrize("name", ["sorted and back", "text", "period 2", "just two lanes"])
def test_damaged_bytes_are_other_strings_or_corrupt(name: str) -> None:
    rng = np.random.default_rng(3)
    bwt = CASES[name][: 1 << 15 if name == "just two lanes" else 700]
    data = coded(bwt)
    for _ in range(2 if name == "just two lanes" else 60):
        wrong = data.copy()
        wrong[rng.integers(wrong.size, size=rng.integers(1, 3))] ^= np.uint8(1 << rng.integers(8))
        check(wrong, bwt.size)
    for size in rng.integers(0, data.size, 20):
        with pytest.raises(CorruptChunk):
            decoded(data[:size], bwt.size)
    for more in (1, 2, 4):
        with pytest.raises(CorruptChunk):
            decoded(np.append(data, [0] * more).astype(np.uint8), bwt.size)


@needs_fences
@pytest.mark.parametrize("at_end", [False, True])
def test_damaged_bytes_never_touch_other_memory(at_end: bool) -> None:
    rng = np.random.default_rng(4)
    bwt = runs(rng, 1 << 18, 200, 2.0)
    data = coded(bwt)
    place, out = fenced(data, at_end), fenced(bwt, at_end)
    cpu.decode(place, out)
    np.testing.assert_array_equal(out, bwt)
    for _ in range(150):
        at = rng.integers(data.size if rng.integers(2) else 900, size=rng.integers(1, 9))
        place[at] ^= rng.integers(1, 256, at.size, np.uint8)
        with suppress(CorruptChunk):
            cpu.decode(place, out)
        place[:] = data


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120), st.sampled_from([1, 5, 700, 40000]))
def test_any_bytes_decode_or_are_corrupt(data: bytes, n: int) -> None:
    check(np.frombuffer(data, np.uint8), n)


@pytest.mark.parametrize("n", [1, 2, 699, 701, 40000])
def test_strings_of_another_length_are_corrupt(n: int) -> None:
    with pytest.raises(CorruptChunk):
        decoded(coded(CASES["text"][:700]), n)


def forged(monkeypatch: pytest.MonkeyPatch, bwt: bytes, change: Any) -> Octets:
    """Bytes as the reference writes them, of runs that were changed."""
    plain = reference.runs_of
    monkeypatch.setattr(reference, "runs_of", lambda lane: change(plain(lane)))
    return np.frombuffer(reference.encode(bwt), np.uint8)


CHANGES = {
    "a rank beyond the list": lambda found: [found[0]._replace(rank=3), *found[1:]],
    "a run beyond the lane": lambda found: [*found[:-1], found[-1]._replace(length=5)],
    "the longest run": lambda found: [found[0]._replace(length=(1 << 24) - 1), *found[1:]],
}


def test_unchanged_runs_are_no_forgery(monkeypatch: pytest.MonkeyPatch) -> None:
    bwt = b"aabaccab" * 3
    assert decoded(forged(monkeypatch, bwt, lambda found: found), len(bwt)) == bwt


@pytest.mark.parametrize("change", CHANGES)
def test_runs_that_are_wrong_are_corrupt(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    bwt = b"aabaccab" * 3
    data = forged(monkeypatch, bwt, CHANGES[change])
    with pytest.raises(CorruptChunk):
        decoded(data, len(bwt))


def test_scratch_is_as_promised() -> None:
    assert cpu.room(1 << 22) < 16 * (1 << 22)
    assert cpu.room(1) < 4 << 20
