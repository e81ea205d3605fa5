"""The codec beside its peers on one cube: ratio, and speed of one thread.

Speeds are CPU seconds of this process, so that other work on the machine does not count; the codecs
take turns within each round, short calls are repeated there, and each codec's decode is compared
with the cube once.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.ccsds123.suits import ANSWERS, bits_of
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.codecs.core.memory.threads import set_thread_limit, thread_limit
from gangsaw.tasks.formats.axes import image_dims
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.formats.opening import open_source
from gangsaw.tasks.hyperspectral.synthetic import make_scene
from gangsaw.tasks.jobs.choose import facts_of, refuse
from gangsaw.tasks.jobs.extremes import find_extremes

Cube = NDArray[Any]  # (bands, rows, columns), C order
LEAST_SECONDS = 0.05  # a chunk is one of many: small ones are coded again and again
MAX_BYTES = 64 << 20  # of a user's scene that are measured: the middle of it

OURS: dict[str, dict[str, Any]] = {
    "ccsds123 default": {},
    "ccsds123 full": {"mode": "full", "local_sum": "wide_neighbor"},
    "ccsds123 full, P=15": {"mode": "full", "local_sum": "wide_neighbor", "prediction_bands": 15},
}


@dataclass(frozen=True)
class Peer:
    """A codec to measure: its name and its two functions."""

    name: str
    encode: Callable[[Cube], Any]
    decode: Callable[[Any], Cube]
    size: Callable[[Any], int] = len


@dataclass(frozen=True)
class Result:
    """Figures of one codec.

    Attributes
    ----------
    stored_bytes : of the encoded cube
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
        """Raw over stored bytes."""
        return self.raw_bytes / self.stored_bytes

    @property
    def bits_per_sample(self) -> float:
        """Stored bits per sample."""
        return 8 * self.stored_bytes / self.samples

    @property
    def encode_rate(self) -> float:
        """Samples per second, median of the rounds."""
        return self.samples / statistics.median(self.encode_seconds)

    @property
    def decode_rate(self) -> float:
        """Samples per second, median of the rounds."""
        return self.samples / statistics.median(self.decode_seconds)

    def row(self) -> tuple[str, ...]:
        """Return the figures as a row of the table; speeds in Msamples/s."""
        rates = (f"{self.encode_rate / 1e6:.1f}", f"{self.decode_rate / 1e6:.1f}")
        return (self.name, f"{self.bits_per_sample:.3f}", f"{self.ratio:.3f}", *rates)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON holds them."""
        derived = ("ratio", "bits_per_sample", "encode_rate", "decode_rate")
        return {**vars(self), **{name: getattr(self, name) for name in derived}}


def benchmark(
    cube: Cube, bit_depth: int, *, rounds: int = 5, with_peers: bool = True
) -> list[Result]:
    """Return the figures of the codec and its peers on a cube.

    Parameters
    ----------
    cube : (bands, rows, columns) integers
    bit_depth : D of the samples
    rounds : timed rounds, after one that compiles and warms up
    with_peers : whether to measure what else is installed

    Raises JobFailed where a codec does not give the cube back.
    """
    peers = [*_ours(cube, bit_depth), *(_others(cube) if with_peers else ())]
    limit = thread_limit()
    set_thread_limit(1)
    try:
        return measure(cube, peers, rounds)
    finally:
        set_thread_limit(limit)


def measure(cube: Cube, peers: Sequence[Peer], rounds: int) -> list[Result]:
    """Return the figures of codecs on a cube, in turn; JobFailed as `benchmark`."""
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
    """Return the encoded bytes; JobFailed where the bits do not come back, also those of NaN."""
    coded = peer.encode(cube)
    back = np.ascontiguousarray(peer.decode(coded).reshape(cube.shape), cube.dtype)
    if not np.array_equal(back.view(np.uint8), np.ascontiguousarray(cube).view(np.uint8)):
        raise JobFailed(f"{peer.name} does not give the cube back")
    return peer.size(coded)


def _round(cube: Cube, peer: Peer) -> tuple[float, float]:
    coded, encoding = _timed(peer.encode, cube)
    _, decoding = _timed(peer.decode, coded)
    return encoding, decoding


def _timed(function: Callable[[Any], Any], argument: Any) -> tuple[Any, float]:
    """Return what a function gives, and CPU seconds of a call, of many where they are short."""
    began, calls, seconds = time.process_time(), 0, 0.0
    while seconds < LEAST_SECONDS:
        result = None  # memory is free again before the next call, as where results are written
        result = function(argument)
        calls, seconds = calls + 1, time.process_time() - began
    return result, seconds / calls


def _ours(cube: Cube, bit_depth: int) -> Iterator[Peer]:
    from gangsaw.codecs.ccsds123.codec import Ccsds123

    for name, params in OURS.items():
        coder = Ccsds123(bit_depth=bit_depth, **params).coder(cube.shape, cube.dtype)

        def decode(coded: bytes, coder: Any = coder) -> Cube:
            out = np.empty_like(cube)
            coder.decode(coded, out)
            return out

        yield Peer(name, coder.encode, decode)


def _others(cube: Cube) -> Iterator[Peer]:
    yield from _numcodecs(cube)
    if find_spec("pcodec") is not None:
        yield _pcodec()
    if find_spec("imagecodecs") is not None:
        yield from _imagecodecs(cube)


def _numcodecs(cube: Cube) -> Iterator[Peer]:
    from numcodecs import Blosc, Zstd, blosc

    blosc.set_nthreads(1)
    codecs = {"zstd -3": Zstd(level=3), "blosc bitshuffle+zstd": Blosc("zstd", 5, Blosc.BITSHUFFLE)}
    for name, codec in codecs.items():

        def decode(coded: bytes, codec: Any = codec) -> Cube:
            return np.frombuffer(codec.decode(coded), cube.dtype)

        yield Peer(name, codec.encode, decode)


def _pcodec() -> Peer:
    from pcodec import ChunkConfig, standalone

    config = ChunkConfig()
    return Peer(
        "pcodec",
        lambda cube: standalone.simple_compress(cube.ravel(), config),
        standalone.simple_decompress,
    )


def _imagecodecs(cube: Cube) -> Iterator[Peer]:
    """Codecs of grey images, a band at a time; they know no more than 16 bits."""
    import imagecodecs

    if cube.dtype.name not in ("uint8", "uint16"):
        return
    if imagecodecs.JPEGLS.available:
        yield _by_band("JPEG-LS", imagecodecs.jpegls_encode, imagecodecs.jpegls_decode)
    if imagecodecs.JPEGXL.available:

        def encode(band: Cube) -> Any:
            return imagecodecs.jpegxl_encode(band, lossless=True, effort=3, numthreads=1)

        yield _by_band("JPEG XL effort 3", encode, imagecodecs.jpegxl_decode)


def _by_band(name: str, encode: Callable[[Cube], Any], decode: Callable[[Any], Cube]) -> Peer:
    return Peer(
        name,
        lambda cube: [encode(band) for band in cube],
        lambda coded: np.stack([decode(band) for band in coded]),
        lambda coded: sum(len(band) for band in coded),
    )


def synthetic_sample(extents: tuple[int, ...]) -> tuple[Cube, int]:
    """Return a seeded scene of (bands, rows, columns) and its D of 14 bits."""
    if len(extents) != 3:
        raise BadParams(f"a scene is bands,rows,columns, got {extents}")
    return make_scene(*extents, bit_depth=14).cube, 14


def sample_of(path: str) -> tuple[Cube, int]:
    """Return the middle of a scene as (bands, rows, columns), at most MAX_BYTES, and its D."""
    arrays = open_source(path).arrays
    if len(arrays) != 1:
        raise BadParams(f"{path} holds {len(arrays)} arrays; the benchmark takes one")
    (array,) = arrays
    refuse("gangsaw.ccsds123", ANSWERS, facts_of(array), array)
    band, y, x = image_dims(array)
    per_pixel = array.dtype.itemsize * (array.shape[array.dims.index(band)] if band else 1)
    side = max(1, int((MAX_BYTES / per_pixel) ** 0.5))
    region = tuple(
        _middle(n, n if name == band else side)
        for name, n in zip(array.dims, array.shape, strict=True)
    )
    order = [array.dims.index(name) for name in (band, y, x) if name is not None]
    samples = array.read(region).transpose(order)
    cube = np.ascontiguousarray(
        samples[(None,) * (3 - samples.ndim)], array.dtype.newbyteorder("=")
    )
    found = find_extremes(MemoryArray(cube, ("band", "y", "x")))
    return cube, bits_of(found, signed=cube.dtype.kind == "i")


def _middle(extent: int, wanted: int) -> slice:
    taken = min(extent, wanted)
    first = (extent - taken) // 2
    return slice(first, first + taken)


def machine() -> dict[str, str]:
    """Return what the figures depend on: processor, Python and the versions of the codecs."""
    peers = ("numcodecs", "imagecodecs", "pcodec", "blosc2", "fpzip", "python-casacore")
    return {"processor": _processor(), "python": platform.python_version()} | {
        name: found for name in ("gangsaw", "numba", "numpy", *peers) if (found := _version(name))
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
