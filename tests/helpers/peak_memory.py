"""What coding a chunk really takes: the peak of a process of its own, less what that began with.

`tracemalloc` knows only what NumPy and Python allocate; the system knows all. Run as a program, it
measures the samples of one codec and prints a line of JSON for each: `measured_by` reads them.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.memory import reused
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.core.plugins.samples import Sample
from helpers.every_codec import Case, cases, folder

HELPERS = Path(__file__).parents[1]
MMAP_THRESHOLD, LEAST_MAPPED = -3, 1 << 16  # of mallopt: larger pieces go back when they are free
NO_HUGE_PAGES = 41  # of prctl: NumPy asks for them, and whether there are any is chance
NOISE = 1 << 20  # bytes: stacks of threads, what allocators round up
FACTOR, SPARE = 1.5, 16 << 20  # a promise may be so far above the need of its worst sample
MOST_BLOCKS = 1 << 17  # what each block takes is seen by far fewer; more of one row take hours
AGAIN = 12  # times at most: whether two threads need most at one time is chance


class Measured(NamedTuple):
    """One sample, grown: bytes."""

    name: str
    kind: str  # what of its parameters is a choice of words
    raw: int
    encode: int
    decode: int
    promised: int

    def is_near(self) -> bool:
        """Whether the promise is not far above the need."""
        return self.promised <= FACTOR * max(self.encode, self.decode) + SPARE

    def is_kept(self) -> bool:
        """Whether no more was needed than is promised."""
        return max(self.encode, self.decode) <= self.promised + NOISE

    def or_more(self, other: Measured) -> Measured:
        """Return what both measurements of one sample needed at most."""
        encode, decode = max(self.encode, other.encode), max(self.decode, other.decode)
        return self._replace(encode=encode, decode=decode)


def measured_by(
    codec: str, n_bytes: int, threads: int, *, all_samples: bool, again: int = AGAIN
) -> list[Measured]:
    """Measure samples of one codec, grown to at most so many bytes, in processes of their own.

    Kinds whose samples seem to need little are measured `again` times at most.
    """
    words = [codec, str(n_bytes), str(threads), str(int(all_samples)), str(again)]
    command = [sys.executable, "-m", "helpers.peak_memory", *words]
    path = os.pathsep.join([str(HELPERS), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return [Measured(*json.loads(line)) for line in done.stdout.splitlines()]


def grown(case: Case, n_bytes: int) -> npt.NDArray[Any]:
    """Its array, repeated along the axes that it may grow along: to at most so many bytes.

    And to MOST_BLOCKS.
    """
    array = case.array
    while array.size and case.sample.grows and 2 * array.nbytes <= n_bytes:
        if 2 * case.codec.plan(array.shape, array.dtype).grid.n_blocks > MOST_BLOCKS:
            break
        axis = min(case.sample.grows, key=lambda i: array.shape[i])
        array = np.concatenate([array, array], axis)
    return array


def kind_of(case: Case) -> str:
    words = [value for value in vars(case.sample.params).values() if isinstance(value, str)]
    return " ".join([case.array.dtype.kind, *words])


def measure(case: Case, n_bytes: int, threads: int) -> Measured:
    codec, array = case.codec, grown(case, n_bytes)
    out, data = np.ones_like(array), b""

    def warm() -> None:  # as large, so that the same kernels are loaded
        nonlocal data
        data = bytes(codec.encode_chunk(array))
        codec.decode_chunk(data, out)

    set_thread_limit(1)
    thread = threading.Thread(target=warm)  # its scratch memory goes with it
    thread.start()
    thread.join()
    set_thread_limit(threads)
    return Measured(
        case.sample.name,
        kind_of(case),
        array.nbytes,
        peak_of(lambda: codec.encode_chunk(array)),
        peak_of(lambda: codec.decode_chunk(data, out)),
        codec.peak_bytes(array.shape, array.dtype),
    )


def peak_of(work: Callable[[], object]) -> int:
    """Bytes by which a forked process grows: nothing that it needs has been there before."""
    gc.collect()
    reused._left.clear()
    ctypes.CDLL(None).malloc_trim(0)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            before = memory("VmHWM") - memory("RssFile")
            work()
            # pages of libraries are shared, may be dropped, and come in pieces as large as the
            # kernel likes (64 kB here, megabytes elsewhere): the chunk does not need them
            os.write(writer, str(memory("VmHWM") - memory("RssFile") - before).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return int(text)


def memory(what: str) -> int:
    """Bytes of this process: `VmHWM` is its peak (ru_maxrss begins with that of the parent)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (int(line.split()[1]) for line in lines if line.startswith(what))
    return 1024 * found


def main(codec: str, n_bytes: int, threads: int, all_samples: bool, again: int) -> None:
    ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LEAST_MAPPED)
    ctypes.CDLL(None).prctl(NO_HUGE_PAGES, 1, 0, 0, 0)
    mine = [case for case in cases() if folder(case.codec_type) == codec]
    chosen = with_hard_texts(mine if all_samples else of_each_word(mine), n_bytes)
    found = [measure(case, n_bytes, threads) for case in chosen]
    for i, case in enumerate(chosen):
        if not found[i].is_kept():  # by a compiler, if a kernel of several threads was not cached
            found[i] = measure(case, n_bytes, threads)
    for _ in range(again):
        near = {one.kind for one in found if one.is_near()}
        for i, case in enumerate(chosen):
            if found[i].kind not in near:
                found[i] = found[i].or_more(measure(case, n_bytes, threads))
    sys.stdout.writelines(json.dumps(one) + "\n" for one in found)


def of_each_word(mine: list[Case]) -> list[Case]:
    """Samples in which each choice that parameters have occurs."""
    seen: set[object] = set()
    chosen = []
    for case in mine[::-1]:
        words = {item for item in vars(case.sample.params).items() if isinstance(item[1], str)}
        if not chosen or words - seen:
            chosen.append(case)
        seen |= words
    return chosen


def with_hard_texts(some: list[Case], n_bytes: int) -> list[Case]:
    """With each kind of text also texts that take most memory, whatever the samples are.

    Lines of one letter and of none: of what holds places of lines. Letters that never repeat as a
    sample does that is grown: of what holds runs and their ranks.
    """
    text = {kind_of(case): case for case in some if case.array.dtype == np.uint8}
    letters = np.random.default_rng(7).integers(ord("A"), ord("Z"), n_bytes, np.uint8)
    return some + [
        Case(case.codec_type, Sample(name, array, case.sample.params, grows))
        for name, array, grows in (
            ("short-lines", np.frombuffer(b"N\n" * 8, np.uint8), (0,)),
            ("empty-lines", np.frombuffer(b"\n" * 8, np.uint8), (0,)),
            ("letters", letters, ()),
        )
        for case in text.values()
        if case.array.ndim == 1
    ]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1", int(sys.argv[5]))
