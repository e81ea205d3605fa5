"""Comparison of codecs with their peers on one array: ratio, and speed of one thread.

Speeds are CPU seconds of this process, so that other processes do not count. The codecs take turns
within each round, short calls are repeated, and each codec's decoded array is compared once. The
module `benchmarks.py` of a codec defines the measured settings.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.codecs.core.memory.threads import set_thread_limit, thread_limit
from gangsaw.codecs.core.plugins.selection import Grade
from gangsaw.tasks.bench.peers import Coded, Cube, Peer, general_peers, whole
from gangsaw.tasks.bench.table import call_seconds
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.choice.choose import Choice, configure_codec, facts_of, grade

if TYPE_CHECKING:
    from gangsaw.codecs.core.zarr.block_codec import BlockCodec


@dataclass(frozen=True)
class Result:
    """Results of one codec in the CPU benchmark.

    Attributes
    ----------
    stored_bytes : bytes of the encoded cube
    encode_seconds, decode_seconds : CPU seconds of a call, in each round
    """

    name: str
    samples: int
    raw_bytes: int
    stored_bytes: int
    encode_seconds: tuple[float, ...] = field(repr=False)
    decode_seconds: tuple[float, ...] = field(repr=False)

    @property
    def ratio(self) -> float:
        """Raw bytes divided by stored bytes."""
        return self.raw_bytes / self.stored_bytes

    @property
    def bits_per_sample(self) -> float:
        """Stored bits per sample."""
        return 8 * self.stored_bytes / self.samples

    @property
    def encode_rate(self) -> float:
        """Samples encoded per second, median of the rounds."""
        return self.samples / statistics.median(self.encode_seconds)

    @property
    def decode_rate(self) -> float:
        """Samples decoded per second, median of the rounds."""
        return self.samples / statistics.median(self.decode_seconds)

    def row(self) -> tuple[str, ...]:
        """Return the results as a row of the table; speeds in Msamples/s."""
        rates = (f"{self.encode_rate / 1e6:.1f}", f"{self.decode_rate / 1e6:.1f}")
        return (self.name, f"{self.bits_per_sample:.3f}", f"{self.ratio:.3f}", *rates)

    def to_dict(self) -> dict[str, object]:
        """Return the results as JSON values."""
        derived = ("ratio", "bits_per_sample", "encode_rate", "decode_rate")
        return {**vars(self), **{name: getattr(self, name) for name in derived}}


def benchmark(
    cube: Cube, dims: Sequence[str], *, rounds: int = 5, with_peers: bool = True
) -> list[Result]:
    """Return the results of the codecs and their peers on an array.

    Parameters
    ----------
    cube : array in C order; (bands, rows, columns) for an image
    dims : names of its axes
    rounds : timed rounds, after one that compiles and warms up
    with_peers : True to measure other installed libraries

    Raises
    ------
    BadParams : no codec of the table supports such arrays
    JobFailed : a codec does not restore the array
    """
    found = list(ours(cube, dims))
    if not found:
        shape = " x ".join(map(str, cube.shape))
        raise BadParams(f"no codec is for {cube.dtype.name} of {shape}: nothing to measure")
    limit = thread_limit()
    set_thread_limit(1)
    try:
        return measure(cube, [*found, *(general_peers(cube) if with_peers else ())], rounds)
    finally:
        set_thread_limit(limit)


def measure(cube: Cube, peers: Sequence[Peer], rounds: int) -> list[Result]:
    """Return the results of codecs on a cube; they take turns in each round.

    Raises JobFailed if a codec does not restore the array.
    """
    sizes = [stored_bytes(cube, peer) for peer in peers]
    times: list[list[tuple[float, float]]] = [[] for _ in peers]
    for _ in range(rounds):
        for peer, taken in zip(peers, times, strict=True):
            taken.append(_round(cube, peer))
    found = []
    for peer, n_bytes, taken in zip(peers, sizes, times, strict=True):
        encode, decode = zip(*taken, strict=True)
        found.append(Result(peer.name, cube.size, cube.nbytes, n_bytes, encode, decode))
    return found


def stored_bytes(cube: Cube, peer: Peer) -> int:
    """Return the encoded bytes of an array; raise JobFailed if decoding changes any bit."""
    coded = peer.encode(cube)
    back = np.ascontiguousarray(peer.decode(coded).reshape(cube.shape), cube.dtype)
    if not np.array_equal(back.view(np.uint8), np.ascontiguousarray(cube).view(np.uint8)):
        raise JobFailed(f"{peer.name} does not give the cube back")
    return sum(map(len, coded))


def _round(cube: Cube, peer: Peer) -> tuple[float, float]:
    coded, encoding = call_seconds(peer.encode, cube)
    _, decoding = call_seconds(peer.decode, coded)
    return encoding, decoding


def ours(array: Cube, dims: Sequence[str]) -> Iterator[Peer]:
    """Yield Gangsaw's codecs that support the array, in the settings of their `benchmarks` modules.

    A codec without such settings is measured with automatic ones, if it suits the array.
    """
    for codec in codec_table.classes():
        if (home := benchmarks_of(codec.codec_name)) is None:
            yield from _automatic(codec.codec_name, array, dims)
            continue
        for name, parameters in home.settings(array, dims).items():
            yield bound(name, codec(**parameters).coder(array.shape, array.dtype), array)


def _automatic(name: str, array: Cube, dims: Sequence[str]) -> Iterator[Peer]:
    facts = facts_of(MemoryArray(array, tuple(dims)))
    if grade(name, facts) >= Grade.GENERAL:
        codec = cast("BlockCodec", configure_codec(Choice(name), facts, array.shape))
        yield bound(f"{name} automatic", codec.coder(array.shape, array.dtype), array)


def benchmarks_of(codec: str) -> ModuleType | None:
    """Return the module `benchmarks` of a codec, by its Zarr name; None if it has none."""
    if not codec_table.has_module(codec, "benchmarks"):
        return None
    return import_module(f"{codec_table.package(codec)}.benchmarks")


def bound(name: str, coder: ChunkCoder, array: Cube) -> Peer:
    """Return a Gangsaw codec, configured for arrays like this one, as a `Peer`."""

    def decode(coded: Coded) -> Cube:
        out = np.empty_like(array)
        coder.decode(coded, out)
        return out

    return whole(name, coder.encode, decode)
