"""Whole CCSDS-123 streams: conversion of one image to bytes that any conforming decoder reads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.block import coder as block_coder
from gangsaw.codecs.ccsds123.block.coded_order import coding_order, place_coded
from gangsaw.codecs.ccsds123.header.header import read_header, write_header
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.predict.predict import residuals
from gangsaw.codecs.ccsds123.sample.encoder import encode_bands
from gangsaw.codecs.ccsds123.sample.interleaved_encoder import encode_interleaved
from gangsaw.codecs.ccsds123.sample.lanes import check_end
from gangsaw.codecs.ccsds123.sample.serial_decoder import decode_serial
from gangsaw.codecs.ccsds123.wave.output import target
from gangsaw.codecs.ccsds123.wave.reconstruct import reconstruct
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk

Bytes = bytes | bytearray | memoryview
LaneBits = npt.NDArray[np.int64]

# The block-adaptive coder codes hundreds of zero samples per bit: 82 kB become 512 MB.
MAX_BYTES = 1 << 30


def encode_stream(array: NumpyArray, params: Params, *, with_header: bool = True) -> bytes:
    """Compress one image to one stream of CCSDS 123.0-B.

    Parameters
    ----------
    array : (z, y, x) ndarray
        Integers of 8, 16 or 32 bits, any byte order and strides.
    params : Params
        Parameters of the encoder; `block` and `axes` describe chunks and are ignored.
    with_header : bool, default True
        False gives the body alone.

    Returns
    -------
    bytes
        The stream.

    Raises
    ------
    BadParams
        Array and params do not fit each other.

    See Also
    --------
    decode_stream : Decompress a stream.

    References
    ----------
    .. [1] CCSDS 123.0-B-2, "Low-Complexity Lossless and Near-Lossless Multispectral and
       Hyperspectral Image Compression", February 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from gangsaw.codecs import ccsds123
    >>> stream = ccsds123.encode_stream(np.zeros((2, 8, 8), "uint8"), ccsds123.Params())
    >>> len(stream) < 128
    True
    """
    image = params.image(array.shape, array.dtype)
    resolved = params.resolved(image)
    header = write_header(image, resolved) if with_header else b""
    return encode_body(array, Plan.of(image, resolved), header)[0].tobytes()


def decode_stream(
    data: Bytes,
    image: Image | None = None,
    params: Params | None = None,
    *,
    max_bytes: int = MAX_BYTES,
) -> tuple[NumpyArray, Params]:
    """Decompress one stream of CCSDS 123.0-B.

    The params encode the array to the same bytes, if the stream's encoder filled up its last word
    only. The block-adaptive coder must also have chosen between options as block/coder.py does.

    Parameters
    ----------
    data : bytes
        The stream, from its first to its last byte.
    image : Image, optional
        Image of a body without header; it needs `params`.
    params : Params, optional
        Params of a body without header. Without an image they give the weights of a stream whose
        header omits them.
    max_bytes : int, default 2^30
        Largest size of the array, as a few kB of hostile bytes can claim a huge array. With the
        array and a copy of the stream, decoding takes less than 64 MB, or some rows of all bands,
        in addition.

    Returns
    -------
    array : (z, y, x) ndarray
        Samples in the smallest dtype of 8, 16 or 32 bits that represents D bits.
    params : Params
        Params of the stream.

    Raises
    ------
    CorruptChunk
        The bytes are no stream, or claim more samples than they can encode or than `max_bytes`.
    NewerFormat
        The stream is near-lossless or has another part of issue 2 that this version lacks.
    BadParams
        There is an image without params, or weights are missing or do not fit the header.

    See Also
    --------
    encode_stream : Compress an image.

    References
    ----------
    .. [1] CCSDS 123.0-B-2, "Low-Complexity Lossless and Near-Lossless Multispectral and
       Hyperspectral Image Compression", February 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from gangsaw.codecs import ccsds123
    >>> image = np.arange(2 * 8 * 8, dtype="uint16").reshape(2, 8, 8)
    >>> stream = ccsds123.encode_stream(image, ccsds123.Params())
    >>> array, params = ccsds123.decode_stream(stream)
    >>> bool((array == image).all()), params.bit_depth
    (True, 16)
    """
    stream = np.frombuffer(data, np.uint8)
    start = 0
    if image is None:
        known = params.init_weights if params else None
        image, params, start = read_header(memoryview(data).cast("B"), known)
        if stream.size % params.word_bytes:
            raise CorruptChunk(
                f"{stream.size} bytes are no multiple of the word size, {params.word_bytes}"
            )
    elif params is None:
        raise BadParams("a body without header needs params as well as its image")
    params = params.resolved(image)
    check_extent(stream.size - start, image, params)
    if start:
        _check_limit(image, max_bytes)
    out = np.empty(image.shape, image.dtype)
    decode_body(stream, start, Plan.of(image, params), out)
    return out, params


def check_extent(n_bytes: int, image: Image, params: Params) -> None:
    """Raise CorruptChunk if a body of n_bytes bytes cannot code all samples of the image."""
    if params.coder == "block":
        least = block_coder.least_bits(image.n_samples, image.bit_depth, params)
    else:  # D bits for the first sample of a band, then at least one bit each
        least = image.n_samples + image.n_bands * (image.bit_depth - 1)
    if 8 * n_bytes < least:
        z, y, x = image.shape
        raise CorruptChunk(f"{n_bytes} bytes cannot hold the {z} x {y} x {x} samples claimed")


def _check_limit(image: Image, max_bytes: int) -> None:
    n_bytes = image.n_samples * image.dtype.itemsize
    if n_bytes > max_bytes:
        raise CorruptChunk(
            f"the header claims {image.n_samples} samples, which need {n_bytes} bytes of memory: "
            f"to allow more than {max_bytes}, set max_bytes={n_bytes}"
        )


def encode_body(
    x: NumpyArray, plan: Plan, header: bytes
) -> tuple[npt.NDArray[np.uint8], LaneBits | None]:
    """Encode a block after its header, which counts towards the fill of the last output word.

    Returns the stream, (n_bytes,) uint8. For a BSQ body of the sample-adaptive coder also returns
    the (NZ,) bits of its lanes, else None.
    """
    image, params = plan.image, plan.params
    native = x.astype(x.dtype.newbyteorder("="), copy=False)
    if params.coder == "block":
        ordered = coding_order(residuals(native, plan), image, params)
        body, _ = block_coder.encode_residuals(ordered, image.bit_depth, params)
        fill = -(len(header) + body.size) % params.word_bytes
        parts = [np.frombuffer(header, np.uint8), body, np.zeros(fill, np.uint8)]
        return np.concatenate(parts), None
    if params.order == "bsq":
        return encode_bands(native, plan, header)
    return encode_interleaved(native, plan, header), None


def decode_body(data: npt.NDArray[np.uint8], start: int, plan: Plan, out: NumpyArray) -> None:
    """Decode the body from byte `start` on into out, (z, y, x), without a lane index.

    `out` stores the residuals until they become samples: a separate array took four times its
    memory.
    """
    image, params = plan.image, plan.params
    if params.coder == "sample":
        decode_serial(data, 8 * start, plan, out)
        return
    first = n_bits = 0
    with target(out) as place:
        parts = block_coder.decoded_parts(data[start:], image.n_samples, image.bit_depth, params)
        for residuals, n_bits in parts:  # noqa: B007
            place_coded(place, residuals, first, image, params)
            first += residuals.size
        check_end(data, 8 * start + n_bits)
        reconstruct(place, plan)
