"""Parts of arrays: few lanes are fetched, and give what the whole array gives."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.counting_store import CountingStore
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs import Reads
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads.params import KINDS
from gangsaw.codecs.reads.payload import SHARED_LANES

RNG = np.random.default_rng(3)
GENOME = RNG.choice(np.frombuffer(b"ACGT", "u1"), 900)


def lines(kind: str) -> np.ndarray:
    """Return an array of some 20 kB, of which some lines are longer than two windows."""
    if kind == "offset":
        return np.cumsum(RNG.integers(1, 200, 3000)).astype("u8")
    if kind == "name":
        return np.frombuffer(b"".join(b"read.%d lane:%d\n" % (i, i % 7) for i in range(1200)), "u1")
    found = []
    for i in range(230):
        at, n = int(RNG.integers(0, 700)), 600 if i % 90 == 50 else 75
        found.append(GENOME[at : at + n] if kind == "sequence" else RNG.integers(33, 40, n, "u1"))
    return np.concatenate([np.append(line, 10).astype("u1") for line in found])[:-1]


ARRAYS = {kind: lines(kind) for kind in KINDS}


@lru_cache
def stored(kind: str) -> tuple[zarr.Array, CountingStore]:
    store, array = CountingStore(), ARRAYS[kind]
    codec = Reads(kind=kind, lane=256)
    settings = {"shape": array.shape, "chunks": array.shape, "dtype": array.dtype}
    found = zarr.create_array(store, serializer=codec, compressors=None, **settings)
    found[:] = array
    return found, store


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(kind=st.sampled_from(KINDS), begin=st.integers(0, 10**6), n=st.integers(0, 3000))
def test_a_part_is_as_in_the_whole(kind: str, begin: int, n: int) -> None:
    array = ARRAYS[kind]
    begin %= array.size
    np.testing.assert_array_equal(stored(kind)[0][begin : begin + n], array[begin : begin + n])


@pytest.mark.parametrize("kind", KINDS)
def test_few_bytes_are_read(kind: str) -> None:
    """Of a small array head and index are most; of lanes a few are fetched, each once."""
    array, store = stored(kind)
    head = array.metadata.codecs[0].coder(array.shape, array.dtype).layout.index_size
    store.reads.clear()
    array[:]
    ((_, whole),) = store.reads
    store.reads.clear()
    array[600:640]
    (_, first), *lanes = store.reads
    assert first == head
    assert len(lanes) <= 2
    assert sum(n for _, n in lanes) < 0.75 * (whole - head)


def emptied(chunk: bytes, plan: ChunkCoder, lanes: slice) -> bytes:
    """Return a frame of one block without some of its windows, its checksums made anew."""
    blocks = frame.unpack(chunk, plan.layout)
    assert blocks.lane_bits is not None
    bits = blocks.lane_bits.copy()
    ends = np.cumsum(bits[0]) >> 3
    payload, own = blocks.joined_payload(), np.zeros(bits.shape[1], bool)
    own[SHARED_LANES:][lanes] = True
    begins = ends - (bits[0] >> 3)
    gone = [np.arange(begins[i], ends[i]) for i in np.flatnonzero(own)]
    bits[0, own] = 0
    shorter = np.delete(payload, np.concatenate(gone))
    return frame.pack(Runs.back_to_back(shorter, np.array([shorter.size]), bits), plan.layout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lanes", [slice(0, 1), slice(9, 11), slice(9, None)])
def test_windows_that_somebody_emptied_are_missed(kind: str, lanes: slice) -> None:
    """Their items would be what the memory held before: a part is right, or refused."""
    array, store = stored.__wrapped__(kind)  # one of its own: it is changed
    plan = array.metadata.codecs[0].coder(array.shape, array.dtype)
    whole = array[:]
    chunk = store._store_dict["c/0"]
    store._store_dict["c/0"] = type(chunk).from_bytes(emptied(chunk.to_bytes(), plan, lanes))
    window = 256
    first = 9 * window if lanes.start else 0
    with pytest.raises(CorruptChunk):
        array[first : first + window + 5]
    refused = 0
    for begin in range(0, array.size - window, window // 2 + 1):
        try:
            part = array[begin : begin + window // 2]
        except CorruptChunk:
            refused += 1
        else:
            np.testing.assert_array_equal(part, whole[begin : begin + window // 2])
    assert refused


def fetched(coder: ChunkCoder, chunk: bytes, selection: slice) -> Runs:
    """Return what a read of a part fetches from a frame."""
    found: list[Any] = []

    def read() -> Any:
        found.append((yield from coder.read((selection,))))

    steps = read()
    with suppress(StopIteration):
        ranges = next(steps)
        while True:
            ranges = steps.send([chunk if r is None else chunk[r[0] : r[1]] for r in ranges])
    runs: Runs = found[0]
    return runs


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "offset"])
def test_a_part_writes_nothing_far_from_it(kind: str) -> None:
    """Not even the zeros behind the text: of a chunk of 32 MiB these would be most of a read."""
    text, codec = np.zeros(1 << 16, np.uint8), Reads(kind=kind, lane=256)
    used = ARRAYS[kind].size
    text[:used] = ARRAYS[kind]
    chunk, coder = bytes(codec.encode_chunk(text)), codec.coder(text.shape, text.dtype)
    for begin, end in ((600, 640), (used - 10, used + 300)):
        out = np.full_like(text, 255)
        coder.fill([fetched(coder, chunk, slice(begin, end))], [out])
        np.testing.assert_array_equal(out[begin:end], text[begin:end])
        assert (out[max(used, end) + 256 :] == 255).all()
