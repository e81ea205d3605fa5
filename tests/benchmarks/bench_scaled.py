"""Floats that are scaled integers: ratios and speeds of one core beside peers, and CCSDS-123.

Cubes are those of the shared data folder, scaled as their producers do, whole and nearly fitting.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numcodecs import Zstd

from gangsaw.codecs import Ccsds123, Scaled, Visibility
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.codecs.scaled.propose import propose
from gangsaw.tasks.bench.table import Row, call_seconds, say

Floats = npt.NDArray[np.floating[Any]]
SHARED = Path(os.environ.get("GANGSAW_SHARED", "../shared"))
FOLDER = SHARED / "data" / "hyperspectral" / "issue1"
JASPER = "jasper198-u16le-198x100x100.raw", (198, 100, 100)
LANDSAT = "landsatfull-u16le-6x352x349.raw", (6, 352, 349)
ROUNDS = 3
LEAST_RATIO, LEAST_SPEED = 0.99, 0.6  # of CCSDS-123's on the integers


class Coder(NamedTuple):
    """What codes a cube."""

    encode: Callable[[Floats], Any]
    decode: Callable[[Any, Floats], Floats]


def rows() -> Iterator[Row]:
    """Yield ratios of each cube and coder, and speeds of the first cube."""
    if not FOLDER.is_dir():
        return
    set_thread_limit(1)
    for name, (floats, integers) in cubes().items():
        say(name)
        speeds = {}
        for of, coder in {"ccsds123 of the integers": None, **coders(floats)}.items():
            array: Any = integers if coder is None else floats
            ratio, into, out_of = _measured(coder or ours(Ccsds123()), array, floats.nbytes)
            speeds[of] = ratio, into, out_of
            first = speeds["ccsds123 of the integers"]
            is_ours = of == "gangsaw.scaled" and name in EXACT
            targets = [
                f">= {share * value:.3g}" if is_ours else ""
                for share, value in zip((LEAST_RATIO, LEAST_SPEED, LEAST_SPEED), first, strict=True)
            ]
            yield Row(f"{name}, {of}", ratio, "", targets[0])
            yield Row(f"{name}, {of}, encode", into, "MB/s", targets[1])
            yield Row(f"{name}, {of}, decode", out_of, "MB/s", targets[2])


EXACT = "jasper / 10000", "jasper * 0.02 - 0.1", "jasper * 0.0137 + 5.5, float64", "landsat / 255"


def cubes() -> Mapping[str, tuple[Floats, Any]]:
    """Return floats and their integers."""
    jasper, landsat = (_read(*one) for one in (JASPER, LANDSAT))
    whole = (jasper / 10000).astype("f4")
    band, border, fill = whole.copy(), whole.copy(), whole.copy()
    band[77] = np.random.default_rng(1).random(band.shape[1:])
    border[:, :, :9] = border[:, :9] = np.nan
    fill[:, np.add.outer(np.arange(100), np.arange(100)) < 60] = -9999
    made = jasper.astype("f4") * np.float32(0.02) - np.float32(0.1)
    return {
        "jasper / 10000": (whole, jasper),
        "jasper * 0.02 - 0.1": (made, jasper),
        "jasper * 0.0137 + 5.5, float64": (jasper * 0.0137 + 5.5, jasper),
        "landsat / 255": ((landsat / 255).astype("f4"), landsat),
        "jasper / 10000, a band off": (band, jasper),
        "jasper / 10000, NaN at a border": (border, jasper),
        "jasper / 10000, a corner of -9999": (fill, jasper),
    }


def coders(floats: Floats) -> dict[str, Coder]:
    """Return ours, with what the cube itself tells of its scale, and peers."""
    found = propose(floats)
    assert found is not None
    return {
        "gangsaw.scaled": ours(Scaled(**found)),
        "gangsaw.visibility dense": ours(Visibility()),
        "zstd -3": _zstd(Zstd(3)),
        "blosc2 bitshuffle zstd": _blosc(),
        "pcodec": _pcodec(),
    }


def ours(codec: BlockCodec) -> Coder:
    """Return a codec of this package."""

    def decode(data: Any, out: Floats) -> Floats:
        codec.decode_chunk(data, out)
        return out

    return Coder(codec.encode_chunk, decode)


def _read(name: str, shape: tuple[int, ...]) -> npt.NDArray[np.uint16]:
    return np.fromfile(FOLDER / name, "<u2").reshape(shape)


def _zstd(codec: Zstd) -> Coder:
    return Coder(codec.encode, lambda data, out: _as(codec.decode(data), out))


def _blosc() -> Coder:
    import blosc2

    settings: dict[str, Any] = {
        "codec": blosc2.Codec.ZSTD,
        "clevel": 5,
        "filter": blosc2.Filter.BITSHUFFLE,
    }
    return Coder(
        lambda array: blosc2.compress(array, typesize=array.itemsize, **settings),
        lambda data, out: _as(blosc2.decompress(data), out),
    )


def _pcodec() -> Coder:
    from pcodec import ChunkConfig, standalone

    return Coder(
        lambda array: standalone.simple_compress(array.ravel(), ChunkConfig()),
        lambda data, out: _as(standalone.simple_decompress(data), out),
    )


def _as(data: Any, out: Floats) -> Floats:
    return np.frombuffer(data, out.dtype).reshape(out.shape)


def _measured(coder: Coder, array: Any, n_bytes: int) -> tuple[float, float, float]:
    """Return ratio, and MB of floats a second of both ways; what came out is compared."""
    out, spans = np.empty_like(array), np.zeros((2, ROUNDS))
    coder.decode(coder.encode(array), out)  # compiles
    for i in range(ROUNDS):
        data, spans[0, i] = call_seconds(coder.encode, array)
        back, spans[1, i] = call_seconds(lambda d: coder.decode(d, out), data)
        assert back.tobytes() == array.tobytes()
    into, out_of = n_bytes / 1e6 / np.median(spans, 1)
    return n_bytes / len(data), float(into), float(out_of)
