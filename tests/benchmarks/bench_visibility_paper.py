"""The founding paper's three questions: fast enough, how much is saved, speed against ratio.

All its constructions: every predictor, XOR or difference, prefixes that count bits or bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from table import Row, say
from visibility_data import EFFORTS, Cube, ours, real_cubes, synthetic

from gangsaw.codecs.core.threads import set_thread_limit
from gangsaw.codecs.visibility.params import PACKINGS, PREDICTORS, RESIDUALS
from gangsaw.tasks.bench import Peer, Result, measure, stored_bytes

ASKED_GIB = 40  # GiB/s on one node
ROUNDS = 3
CHANNELS = 32  # of the synthetic cube: 33 MB
DIRECTIONS = ("compress", "decompress")


@dataclass(frozen=True)
class Way:
    """One way to encode, measured.

    Attributes
    ----------
    synthetic : ratio on the synthetic cube
    real : ratio on all real files together, nothing where they are absent
    rates : GB/s of one core, compress and decompress, on the synthetic cube
    """

    name: str
    synthetic: float
    real: float | None
    rates: tuple[float, float]

    @property
    def saved(self) -> float:
        """Percent saved on the real files, or else on the synthetic cube."""
        return 100 * (1 - 1 / (self.real or self.synthetic))


def rows() -> Iterator[Row]:
    """Yield cores for 40 GiB/s, percent saved, then every construction with ratio and speed."""
    set_thread_limit(1)
    ways = list(_ways())
    set_thread_limit(None)
    leading = [way for way in ways if way.name in EFFORTS]
    best = [max(_constructions(ways), key=lambda way: way.saved)]
    fastest = [max(_constructions(ways), key=lambda way: min(way.rates))]
    for way in {way.name: way for way in [*leading, *best, *fastest]}.values():
        yield from (_cores(way, direction) for direction in range(2))
    yield from (_saved(way) for way in ways)


def _constructions(ways: Sequence[Way]) -> list[Way]:
    return [way for way in ways if way.name not in EFFORTS]


def settings() -> dict[str, dict[str, Any]]:
    """Return the parameters of both efforts and of all constructions, by name."""
    found: dict[str, dict[str, Any]] = {effort: {"effort": effort} for effort in EFFORTS}
    for predictor, residual, packing in product(PREDICTORS, RESIDUALS, PACKINGS):
        name = f"{predictor}, {residual}, {packing}"
        found[name] = {"predictor": predictor, "residual": residual, "packing": packing}
    return found


def _ways() -> Iterator[Way]:
    cube = synthetic()[:, :CHANNELS].copy()
    stored = _stored_real()
    for result in measure(cube, _peers(cube), ROUNDS):
        say(result.name)
        raw, size = stored.get(result.name, (0, 0))
        yield Way(result.name, result.ratio, raw / size if size else None, _rates(result))


def _peers(cube: Cube) -> list[Peer]:
    return [ours(name, cube, **parameters) for name, parameters in settings().items()]


def _rates(result: Result) -> tuple[float, float]:
    per_sample = result.raw_bytes / result.samples / 1e9
    return result.encode_rate * per_sample, result.decode_rate * per_sample


def _stored_real() -> Mapping[str, tuple[int, int]]:
    """Raw and stored bytes of all real files, by way."""
    found: dict[str, tuple[int, int]] = {}
    for name, cube in real_cubes():
        say(name)
        for peer in _peers(cube):
            raw, size = found.get(peer.name, (0, 0))
            found[peer.name] = raw + cube.nbytes, size + stored_bytes(cube, peer)
    return found


def _cores(way: Way, direction: int) -> Row:
    rate = way.rates[direction]
    what = f"fast enough? cores for {ASKED_GIB} GiB/s, {DIRECTIONS[direction]}, {way.name}"
    note = f"extrapolated from {rate:.3g} GB/s of one core, as if cores did not share memory"
    return Row(what, ASKED_GIB * 2**30 / 1e9 / rate, "cores", "", note)


def _saved(way: Way) -> Row:
    compress, decompress = way.rates
    real = "" if way.real is None else f"{way.real:.3f} real, "
    note = (
        f"ratio {real}{way.synthetic:.3f} synthetic; "
        f"compress {compress:.3g}, decompress {decompress:.3g} GB/s of one core"
    )
    figures = {"synthetic": way.synthetic, "compress": compress, "decompress": decompress}
    if way.real is not None:
        figures["real"] = way.real
    return Row(f"saved, {way.name}", way.saved, "%", "", note, figures)
