"""Memory is reused when it has no holder, and not before."""

from __future__ import annotations

import gc
import mmap
import threading
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from gangsaw.codecs import Visibility
from gangsaw.codecs.core.memory.aligned import (
    FEWEST,
    PAGE,
    address_of,
    paged_bytes,
    zeroed_pages,
)
from gangsaw.codecs.core.memory.reused import LEAST, MOST, Memory, reused


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """What other tests left in cycles would be freed in between, and wait in its place."""
    gc.collect()


def place(memory: Memory) -> int:
    return address_of(memory)


def test_what_is_gone_is_used_again() -> None:
    first = place(reused(LEAST))
    assert place(reused(LEAST)) == first


VIEWS: dict[str, Callable[[Memory], object]] = {
    "view": lambda memory: memory[5:9],
    "bytes": lambda memory: memoryview(memory)[5:9],
    "floats": lambda memory: memory.view("f4").reshape(2, -1).T,
}


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("name", VIEWS)
def test_what_a_view_holds_is_not(name: str) -> None:
    memory = reused(LEAST)
    first, view = place(memory), VIEWS[name](memory)
    del memory
    gc.collect()
    assert place(reused(LEAST)) != first
    del view
    assert place(reused(LEAST)) == first


def test_one_is_held_and_none_of_another_size() -> None:
    tracemalloc.start()
    try:
        several = [reused(LEAST) for _ in range(3)]
        before = tracemalloc.get_traced_memory()[0]
        del several
        assert before - tracemalloc.get_traced_memory()[0] == pytest.approx(2 * LEAST, rel=0.05)
        tracemalloc.reset_peak()
        reused(2 * LEAST)
        assert tracemalloc.get_traced_memory()[1] < 2.1 * LEAST
        reused(MOST + 1)
        reused(LEAST - 1)
        assert tracemalloc.get_traced_memory()[0] < 2.1 * LEAST
    finally:
        tracemalloc.stop()


def test_threads_never_share_one() -> None:
    wrong = []

    def work(number: int) -> None:
        for _ in range(200):
            memory = reused(LEAST)
            memory[::4096] = number
            if (memory[::4096] != number).any():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.full
@pytest.mark.parametrize("effort", ["fast", "dense"])
def test_frames_that_are_held_stay_as_they_are(effort: str) -> None:
    rng = np.random.default_rng(0)
    cubes = rng.integers(-1000, 1000, (4, 8, 64, 1024, 2)).astype("f4").view("c8")[..., 0]
    codec = Visibility(effort=effort)
    frames = [codec.encode_chunk(cube) for cube in cubes]
    copies = [bytes(frame) for frame in frames]
    places = {address_of(np.frombuffer(frame, np.uint8)) for frame in frames}
    assert len(places) == len(cubes)
    frames[0] = frames[2] = memoryview(b"")
    for cube, copy in zip(cubes, copies, strict=True):
        assert bytes(codec.encode_chunk(cube)) == copy
    assert [bytes(frames[1]), bytes(frames[3])] == [copies[1], copies[3]]


@pytest.mark.parametrize("n_bytes", [0, 100, 2 * PAGE - 1, 2 * PAGE, 3 * PAGE + 2])
def test_zeroed_pages_are_zeros_that_can_be_written(n_bytes: int) -> None:
    memory = zeroed_pages(n_bytes)
    assert memory.shape == (n_bytes,)
    assert not memory.any()
    memory[:] = 1
    assert memory.all()
    assert not zeroed_pages(n_bytes).any()
    assert n_bytes <= paged_bytes(n_bytes) < n_bytes + PAGE
    if n_bytes >= FEWEST and hasattr(mmap, "MADV_HUGEPAGE"):
        assert address_of(memory) % PAGE == 0
