"""How many bits the samples of an array really need: a scan of its smallest and largest value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.engine.window import run
from gangsaw.tasks.source import Region, SourceArray
from gangsaw.tasks.store.chunks import ChunkGrid
from gangsaw.tasks.store.layout import default_chunks

if TYPE_CHECKING:
    from distributed import Client

Place = tuple[int, ...]  # index of a sample in the array


@dataclass(frozen=True)
class Extremes:
    """Smallest and largest sample, each with the index of its first place in its chunk."""

    low: int
    low_at: Place
    high: int
    high_at: Place

    def __or__(self, other: Extremes) -> Extremes:
        """Return the extremes of both parts."""
        lows = min((self.low, self.low_at), (other.low, other.low_at))
        highs = max(((self.high, self.high_at), (other.high, other.high_at)), key=lambda h: h[0])
        return Extremes(*lows, *highs)

    def bits(self, *, signed: bool) -> int:
        """Return the smallest D of 2 or more bits that holds both."""
        if signed:  # two's complement: -2**(D-1) .. 2**(D-1) - 1
            return max(2, self.high.bit_length() + 1, (~min(self.low, -1)).bit_length() + 1)
        return max(2, self.high.bit_length())


@dataclass(frozen=True)
class FindExtremes:
    """Chunk function: the extremes of the chunks of a batch."""

    source: SourceArray
    grid: ChunkGrid
    peak_bytes: int
    name: str = "scan"

    def __call__(self, batch: range) -> Extremes:
        """Return the extremes of all chunks of the batch."""
        return _merged(self._of(number) for number in batch)

    def _of(self, number: int) -> Extremes:
        with naming(f"{number} of {self.source.name}"):
            region = self.grid.region(number)
            samples = np.ascontiguousarray(self.source.read(region))  # or argmin copies, twice
            low, high = int(samples.argmin()), int(samples.argmax())
            return Extremes(
                int(samples.flat[low]),
                _place(region, samples, low),
                int(samples.flat[high]),
                _place(region, samples, high),
            )


def find_extremes(source: SourceArray, *, client: Client | None = None) -> Extremes:
    """Return the extremes of an integer array, read chunk by chunk."""
    grid = ChunkGrid(source.shape, source.chunks or default_chunks(source))
    chunk = source.dtype.itemsize * int(np.prod(grid.chunks))
    found: list[Extremes] = []
    batches = [range(i, i + 1) for i in range(grid.n_chunks)]
    run(FindExtremes(source, grid, 2 * chunk), batches, lambda _, e: found.append(e), client=client)
    return _merged(found)


def choose_bit_depth(
    source: SourceArray, wanted: int | str, *, client: Client | None = None
) -> int:
    """Return D for an array: `wanted`, or for "auto" the fewest bits that hold every sample.

    Raises BadParams, with value and place, where a sample needs more than `wanted` bits.
    """
    dtype, signed = source.dtype, source.dtype.kind == "i"
    width = 8 * dtype.itemsize
    if wanted == "auto":
        return find_extremes(source, client=client).bits(signed=signed)
    depth = int(wanted)
    if not 2 <= depth <= min(width, 32):
        raise BadParams(f"bit depth of {dtype.name} samples must be in 2..{width}, got {depth}")
    if depth < width:
        _check_fits(source, depth, find_extremes(source, client=client), signed)
    return depth


def _check_fits(source: SourceArray, depth: int, found: Extremes, signed: bool) -> None:
    need = found.bits(signed=signed)
    if need <= depth:
        return
    high_needs = Extremes(0, (), max(found.high, 0), ()).bits(signed=signed)
    value, at = (found.high, found.high_at) if high_needs == need else (found.low, found.low_at)
    where = ", ".join(f"{dim} {i}" for dim, i in zip(source.dims, at, strict=True))
    raise BadParams(
        f"sample {value} at {where} of {source.name} needs {need} bits, --bit-depth is {depth}: "
        f"say --bit-depth {need} or auto"
    )


def refuse_floats(source: SourceArray, codec: str) -> None:
    """Raise BadParams for samples that an integer codec cannot hold; say where a NaN is."""
    dtype = source.dtype
    if dtype.kind in "iu" and dtype.itemsize <= 4:
        return
    nan = _first_nan(source) if dtype.kind == "f" else None
    place = f" and NaN at {nan}" if nan is not None else ""
    raise BadParams(
        f"{source.name} holds {dtype.name} samples{place}, {codec} codes integers of 8 to 32 bits: "
        "scale them to integers first, or say --codec zstd"
    )


def _first_nan(source: SourceArray) -> Place | None:
    """Index of the first NaN in the first chunk that has one; looks through all of the array."""
    grid = ChunkGrid(source.shape, source.chunks or default_chunks(source))
    for number in range(grid.n_chunks):
        region = grid.region(number)
        samples = source.read(region)
        missing = np.isnan(samples)
        if missing.any():
            return _place(region, samples, int(missing.argmax()))
    return None


def _place(region: Region, samples: np.ndarray[Any, Any], flat: int) -> Place:
    local = np.unravel_index(flat, samples.shape)
    return tuple(int(s.start + i) for s, i in zip(region, local, strict=True))


def _merged(parts: Iterable[Extremes]) -> Extremes:
    first, *rest = parts
    for part in rest:
        first |= part
    return first
