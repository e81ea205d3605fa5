"""Peers of the codecs: other lossless compressors of arrays, if they are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray

Cube = NumpyArray  # array in C order; (bands, rows, columns) for an image
Coded: TypeAlias = bytes | bytearray | memoryview


@dataclass(frozen=True)
class Peer:
    """Codec to measure.

    Attributes
    ----------
    name : name in the table
    encode : function from an array to encoded parts
    decode : function from encoded parts to the array
    """

    name: str
    encode: Callable[[Cube], Sequence[Coded]]
    decode: Callable[[Sequence[Coded]], Cube]


def whole(name: str, encode: Callable[[Cube], Coded], decode: Callable[[Coded], Cube]) -> Peer:
    """Return a peer that encodes an array as one part."""
    return Peer(name, lambda cube: [encode(cube)], lambda parts: decode(parts[0]))


def general_peers(cube: Cube) -> Iterator[Peer]:
    """Yield every installed peer that supports the array."""
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

        def decode(coded: Coded, decode: Callable[[Coded], bytes] = codec.decode) -> Cube:
            return np.frombuffer(decode(coded), cube.dtype)

        yield whole(name, codec.encode, decode)


def _pcodec() -> Peer:
    from pcodec import ChunkConfig, standalone

    config = ChunkConfig()
    return whole(
        "pcodec",
        lambda cube: standalone.simple_compress(cube.ravel(), config),
        standalone.simple_decompress,
    )


def _imagecodecs(cube: Cube) -> Iterator[Peer]:
    """Yield codecs of grey images, which encode band by band, with at most 16 bits."""
    import imagecodecs

    if cube.ndim != 3 or cube.dtype.name not in ("uint8", "uint16"):
        return
    if imagecodecs.JPEGLS.available:
        yield _by_band("JPEG-LS", imagecodecs.jpegls_encode, imagecodecs.jpegls_decode)
    if imagecodecs.JPEGXL.available:

        def encode(band: Cube) -> bytes | bytearray:
            return imagecodecs.jpegxl_encode(band, lossless=True, effort=3, numthreads=1)

        yield _by_band("JPEG XL effort 3", encode, imagecodecs.jpegxl_decode)


def _by_band(
    name: str, encode: Callable[[Cube], bytes | bytearray], decode: Callable[[bytes], Cube]
) -> Peer:
    return Peer(
        name,
        lambda cube: [encode(band) for band in cube],
        lambda coded: np.stack([decode(bytes(band)) for band in coded]),
    )
