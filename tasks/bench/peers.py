"""What else compresses arrays without loss, where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray

Cube = NumpyArray  # C order; (bands, rows, columns) of an image


@dataclass(frozen=True)
class Peer:
    """A codec to measure: its name and its two functions."""

    name: str
    encode: Callable[[Cube], Any]
    decode: Callable[[Any], Cube]
    size: Callable[[Any], int] = len


def general_peers(cube: Cube) -> Iterator[Peer]:
    """Yield every peer that takes the array."""
    yield from _numcodecs(cube)
    if find_spec("pcodec") is not None and cube.dtype.kind != "c":
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

    if cube.ndim != 3 or cube.dtype.name not in ("uint8", "uint16"):
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
