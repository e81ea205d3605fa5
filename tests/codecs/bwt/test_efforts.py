"""The efforts dense and fast against their references, on corner cases and on hostile bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from helpers.bwt_strings import corner_cases, strings
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import bwt_dense, bwt_fast
from reference.bwt_lanes import Wrong

from gangsaw.codecs.bwt.dense import cpu as dense
from gangsaw.codecs.bwt.fast import cpu as fast
from gangsaw.codecs.core.errors import CorruptChunk

Octets = npt.NDArray[np.uint8]
Change = Callable[[list[Any]], list[Any]]
CASES = corner_cases()
SHORT = [name for name, bwt in CASES.items() if bwt.size < 100000]


class Effort(NamedTuple):
    """An effort beside its reference.

    Attributes
    ----------
    encode, decode : of the CPU
    coded : bytes of a string, even if they are more
    encoded, decoded : of the reference; what it writes has the encoder's own choices, if any
    lane : letters of a short case, which the reference takes its time for
    damaged : of two lanes, how often
    """

    encode: Callable[[Octets, Octets | None], Octets | None]
    decode: Callable[[Octets, Octets], None]
    coded: Callable[[Octets], Octets]
    encoded: Callable[[bytes, bytes], bytes]
    decoded: Callable[[bytes, int], bytes]
    lane: int
    damaged: int


def fast_coded(bwt: Octets) -> Octets:
    parts = fast.encode_fast_parts(bwt, 10 * bwt.size + 10000)
    assert parts is not None
    return np.concatenate(parts)


def fast_encoded(bwt: bytes, own: bytes) -> bytes:
    """With the encoder's tables: the format leaves their choice open."""
    return bwt_fast.encoded(bwt, bwt_fast.read_all(own, len(bwt))[1])


EFFORTS = {
    "dense": Effort(
        dense.encode_dense_string,
        dense.decode_dense_string,
        lambda bwt: np.concatenate(list(dense.encode_dense_parts(bwt))),
        lambda bwt, _: bwt_dense.encode(bwt),
        bwt_dense.decode,
        4000,
        2,
    ),
    "fast": Effort(
        fast.encode_fast_string,
        fast.decode_fast_string,
        fast_coded,
        fast_encoded,
        bwt_fast.decoded,
        6000,
        8,
    ),
}


@pytest.fixture(params=EFFORTS)
def effort(request: pytest.FixtureRequest) -> Effort:
    """Each effort."""
    return EFFORTS[request.param]


def decoded(effort: Effort, data: Octets, n: int) -> bytes:
    out = np.full(n + 16, 173, np.uint8)
    effort.decode(data, out[:n])
    assert (out[n:] == 173).all()
    return out[:n].tobytes()


@pytest.mark.parametrize("name", CASES)
def test_strings_come_back(effort: Effort, name: str) -> None:
    bwt = CASES[name]
    assert decoded(effort, effort.coded(bwt), bwt.size) == bwt.tobytes()


@pytest.mark.parametrize("name", SHORT)
def test_the_reference_reads_and_writes_the_same_bytes(effort: Effort, name: str) -> None:
    bwt = CASES[name][: effort.lane] if name != "just two lanes" else CASES[name]
    data = effort.coded(bwt).tobytes()
    assert effort.encoded(bwt.tobytes(), data) == data
    assert effort.decoded(data, bwt.size) == bwt.tobytes()


@pytest.mark.parametrize("name", EFFORTS)
@settings(max_examples=60, deadline=None)
@given(strings(), st.integers(1, 300))
def test_any_string_comes_back(name: str, bwt: Octets, times: int) -> None:
    effort, bwt = EFFORTS[name], np.repeat(bwt, times)
    assert decoded(effort, effort.coded(bwt), bwt.size) == bwt.tobytes()


@pytest.mark.parametrize("name", EFFORTS)
@settings(max_examples=30, deadline=None)
@given(strings(60))
def test_any_string_has_the_bytes_of_the_reference(name: str, bwt: Octets) -> None:
    data = EFFORTS[name].coded(bwt).tobytes()
    assert EFFORTS[name].encoded(bwt.tobytes(), data) == data
    assert EFFORTS[name].decoded(data, bwt.size) == bwt.tobytes()


def test_what_gets_no_shorter_is_none(effort: Effort) -> None:
    assert effort.encode(CASES["random"], None) is None
    assert effort.encode(CASES["one byte"], None) is None
    many = np.random.default_rng(1).integers(0, 256, 1 << 18, np.uint8)
    assert effort.encode(many, None) is None


def test_bytes_are_put_where_there_is_room(effort: Effort) -> None:
    room = np.zeros(CASES["text"].size, np.uint8)
    found = effort.encode(CASES["text"], room)
    assert found is not None
    assert np.shares_memory(found, room)
    alone = effort.encode(CASES["text"], room[:100])
    assert alone is not None
    assert not np.shares_memory(alone, room)
    assert (alone == found).all()
    assert (found == effort.coded(CASES["text"])).all()


def check(effort: Effort, data: Octets, n: int) -> None:
    """What is wrong by the specification is corrupt; the rest is what it says."""
    try:
        expected = effort.decoded(data.tobytes(), n)
    except Wrong:
        with pytest.raises(CorruptChunk):
            decoded(effort, data, n)
        return
    assert decoded(effort, data, n) == expected


@pytest.mark.parametrize("name", ["sorted and back", "text", "period 2", "just two lanes"])
def test_damaged_bytes_are_other_strings_or_corrupt(effort: Effort, name: str) -> None:
    rng = np.random.default_rng(3)
    bwt = CASES[name][: 1 << 15 if name == "just two lanes" else 700]
    data = effort.coded(bwt)
    for _ in range(effort.damaged if name == "just two lanes" else 60):
        wrong = data.copy()
        wrong[rng.integers(wrong.size, size=rng.integers(1, 3))] ^= np.uint8(1 << rng.integers(8))
        check(effort, wrong, bwt.size)
    for size in rng.integers(0, data.size, 20):
        with pytest.raises(CorruptChunk):
            decoded(effort, data[:size], bwt.size)
    for more in (1, 2, 4):
        with pytest.raises(CorruptChunk):
            decoded(effort, np.append(data, [0] * more).astype(np.uint8), bwt.size)


@pytest.mark.parametrize("name", EFFORTS)
@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120), st.sampled_from([1, 5, 700, 40000]))
def test_any_bytes_decode_or_are_corrupt(name: str, data: bytes, n: int) -> None:
    check(EFFORTS[name], np.frombuffer(data, np.uint8), n)


@pytest.mark.parametrize("n", [1, 2, 699, 701, 40000])
def test_strings_of_another_length_are_corrupt(effort: Effort, n: int) -> None:
    with pytest.raises(CorruptChunk):
        decoded(effort, effort.coded(CASES["text"][:700]), n)


FORGED = b"aabaccab" * 3


def forged(monkeypatch: pytest.MonkeyPatch, name: str, change: Change) -> Octets:
    """Bytes as the reference writes them, of runs that were changed."""
    reference = {"dense": bwt_dense, "fast": bwt_fast}[name]
    tables = all_tokens()
    plain = reference.runs_of
    monkeypatch.setattr(reference, "runs_of", lambda lane: change(plain(lane)))
    whole = bwt_dense.encode(FORGED) if name == "dense" else bwt_fast.encoded(FORGED, tables)
    return np.frombuffer(whole, np.uint8)


def all_tokens() -> bwt_fast.Tables:
    """Tables of effort fast by which every token can be written."""
    own = fast_coded(np.frombuffer(FORGED, np.uint8)).tobytes()
    tables = bwt_fast.read_all(own, len(FORGED))[1]
    weights = [[[1] * n for _ in w] for n, w in zip((18, 48), tables.weights, strict=True)]
    return bwt_fast.Tables(tables.table_of, weights)


CHANGES: dict[tuple[str, str], Change] = {
    ("dense", "a rank beyond the list"): lambda own: [own[0]._replace(rank=3), *own[1:]],
    ("dense", "a run beyond the lane"): lambda own: [*own[:-1], own[-1]._replace(length=5)],
    ("dense", "the longest run"): lambda own: [own[0]._replace(length=(1 << 24) - 1), *own[1:]],
    ("fast", "a rank beyond the list"): lambda own: [own[0]._replace(rank=4), *own[1:]],
    ("fast", "the highest rank"): lambda own: [own[0]._replace(rank=255), *own[1:]],
    ("fast", "a rank that the format has not"): lambda own: [own[0]._replace(rank=256), *own[1:]],
    ("fast", "a run beyond the lane"): lambda own: [*own[:-1], own[-1]._replace(length=5)],
    ("fast", "the longest run"): lambda own: [own[0]._replace(length=1 << 23), *own[1:]],
    ("fast", "runs that are missing"): lambda own: own[:-1],
    ("fast", "runs that are left"): lambda own: [*own, own[-1]],
}


@pytest.mark.parametrize("name", EFFORTS)
def test_unchanged_runs_are_no_forgery(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    data = forged(monkeypatch, name, lambda own: own)
    assert decoded(EFFORTS[name], data, len(FORGED)) == FORGED


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_runs_that_are_wrong_are_corrupt(
    monkeypatch: pytest.MonkeyPatch, name: str, change: str
) -> None:
    data = forged(monkeypatch, name, CHANGES[name, change])
    with pytest.raises(CorruptChunk):
        decoded(EFFORTS[name], data, len(FORGED))
