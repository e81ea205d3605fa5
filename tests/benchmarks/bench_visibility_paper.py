"""The founding paper's three questions: fast enough, how much is saved, speed against ratio.

All its constructions: every predictor, XOR or difference, prefixes that count bits or bytes.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from visibility_data import EFFORTS, Cube, ours, real_cubes, synthetic

from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.visibility.params import PACKINGS, PREDICTORS, RESIDUALS
from gangsaw.tasks.bench.host import Result, measure
from gangsaw.tasks.bench.table import Row, say

ASKED_GIB = 40  # GiB/s on one node
ROUNDS = 3
CHANNELS = 32  # of the synthetic cube: 33 MB
DIRECTIONS = ("compress", "decompress")
REAL, SYNTHETIC = "real", "synthetic"


@dataclass(frozen=True)
class Measured:
    """What one way to encode does to some data: bytes, and seconds of one core in each direction.

    Blocks that a construction would make larger are kept as they are, at the speed of that.
    """

    raw: int = 0
    stored: int = 0
    seconds: tuple[float, float] = (0.0, 0.0)

    def __add__(self, result: Result) -> Measured:
        """Take in a further cube."""
        encode, decode = map(statistics.median, (result.encode_seconds, result.decode_seconds))
        seconds = self.seconds[0] + encode, self.seconds[1] + decode
        return Measured(self.raw + result.raw_bytes, self.stored + result.stored_bytes, seconds)

    @property
    def ratio(self) -> float:
        """Raw over stored bytes."""
        return self.raw / self.stored

    @property
    def rates(self) -> tuple[float, float]:
        """GB/s of compressing and of decompressing."""
        compress, decompress = (self.raw / seconds / 1e9 for seconds in self.seconds)
        return compress, decompress


Ways = Mapping[str, Measured]  # by name


def rows() -> Iterator[Row]:
    """Yield cores for 40 GiB/s, percent saved, then every construction with ratio and speed."""
    set_thread_limit(1)
    cube = synthetic()[:, :CHANNELS].copy()
    data = {REAL: _measured(real_cubes()), SYNTHETIC: _measured([(SYNTHETIC, cube)])}
    set_thread_limit(None)
    for effort in EFFORTS:
        yield from _cores(effort, SYNTHETIC, data[SYNTHETIC])
    ways = data[REAL] or data[SYNTHETIC]
    constructions = [name for name in ways if name not in EFFORTS]
    best = max(constructions, key=lambda name: ways[name].ratio)
    fastest = max(constructions, key=lambda name: min(ways[name].rates))
    for name in dict.fromkeys([best, fastest]):
        yield from _cores(name, REAL if data[REAL] else SYNTHETIC, ways)
    yield from (_saved(name, data) for name in ways)


def settings() -> dict[str, dict[str, Any]]:
    """Return the parameters of both efforts and of all constructions, by name."""
    found: dict[str, dict[str, Any]] = {effort: {"effort": effort} for effort in EFFORTS}
    for predictor, residual, packing in product(PREDICTORS, RESIDUALS, PACKINGS):
        name = f"{predictor}, {residual}, {packing}"
        found[name] = {"predictor": predictor, "residual": residual, "packing": packing}
    return found


def _measured(cubes: Iterable[tuple[str, Cube]]) -> dict[str, Measured]:
    found: dict[str, Measured] = {}
    for name, cube in cubes:
        say(name)
        peers = [ours(way, cube, **parameters) for way, parameters in settings().items()]
        for result in measure(cube, peers, ROUNDS):
            found[result.name] = found.get(result.name, Measured()) + result
    return found


def _cores(name: str, data: str, ways: Ways) -> Iterator[Row]:
    for direction, rate in zip(DIRECTIONS, ways[name].rates, strict=True):
        what = f"fast enough? cores for {ASKED_GIB} GiB/s, {direction} {data}, {name}"
        note = f"extrapolated from {rate:.3g} GB/s of one core, as if cores did not share memory"
        yield Row(what, ASKED_GIB * 2**30 / 1e9 / rate, "cores", "", note)


def _saved(name: str, data: Mapping[str, Ways]) -> Row:
    """Percent saved on the real files, or else on the synthetic cube."""
    notes, figures = [], {}
    for kind, ways in reversed(data.items()):
        if name in ways:
            (compress, decompress), ratio = ways[name].rates, ways[name].ratio
            notes.append(f"{kind} {ratio:.3f} at {compress:.3g} and {decompress:.3g} GB/s")
            figures = {"ratio": ratio, "compress": compress, "decompress": decompress}
    return Row(f"saved, {name}", 100 - 100 / figures["ratio"], "%", "", "; ".join(notes), figures)
