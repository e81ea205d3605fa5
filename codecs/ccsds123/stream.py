"""Whole CCSDS-123 streams: one array to the bytes that any conforming decoder reads, and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123 import block_coder
from gangsaw.codecs.ccsds123.header import read_header, write_header
from gangsaw.codecs.ccsds123.interleaved_encoder import encode_interleaved
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.predict import residuals
from gangsaw.codecs.ccsds123.reconstruct import reconstruct
from gangsaw.codecs.ccsds123.sample_decoder import check_end
from gangsaw.codecs.ccsds123.sample_encoder import encode_lanes
from gangsaw.codecs.ccsds123.serial_decoder import decode_serial
from gangsaw.codecs.core.arrays import NumpyArray, Run
from gangsaw.codecs.core.errors import BadParams, CorruptChunk

Bytes = bytes | bytearray | memoryview
LaneBits = npt.NDArray[np.int64]

# A run of zeros costs the block-adaptive coder a bit for hundreds of samples, so that some kB of
# hostile bytes would take GB of memory. Real images stay far below 64 samples a byte.
MAX_SAMPLES = 1 << 28
PLAUSIBLE = 64  # samples a byte


def encode_stream(array: NumpyArray, params: Params, *, with_header: bool = True) -> bytes:
    """Compress one image to one stream of CCSDS 123.0-B.

    Parameters
    ----------
    array : (z, y, x) integers of 8, 16 or 32 bits, any byte order and strides
    params : choices of the encoder; `block` and `axes` are those of chunks, not used here
    with_header : False gives the body alone

    Raises
    ------
    BadParams : array and params do not fit each other
    """
    image = params.image(array.shape, array.dtype)
    resolved = params.resolved(image)
    header = write_header(image, resolved) if with_header else b""
    return encode_body(array, image, resolved, header)[0].tobytes()


def decode_stream(
    data: Bytes,
    image: Image | None = None,
    params: Params | None = None,
    *,
    max_samples: int = MAX_SAMPLES,
) -> tuple[NumpyArray, Params]:
    """Decompress one stream of CCSDS 123.0-B.

    Parameters
    ----------
    data : the stream, from its first to its last byte
    image, params : what the header would say, for a body without one; params without an image
        gives the weights of a stream whose header leaves them out
    max_samples : refuse a header that claims more than this and also more than 64 samples for each
        byte of the stream: only images of almost nothing but zeros are so small, and hostile bytes

    Returns
    -------
    (z, y, x) array of the smallest dtype of 8, 16 or 32 bits that holds D bits, and the params
    that encode it to the same bytes, if the stream's encoder filled up its last word only and,
    with the block-adaptive coder, chose between options as `block_coder` does

    Raises
    ------
    CorruptChunk : the bytes are no stream, or claim more samples than they can hold
    NewerFormat : near-lossless or another part of issue 2 that this version does not know
    BadParams : an image without params, or weights that are missing or do not fit the header
    """
    stream = np.frombuffer(data, np.uint8)
    start = 0
    if image is None:
        known = params.init_weights if params else None
        image, params, start = read_header(memoryview(data).cast("B"), known)
        if stream.size % params.word_bytes:
            raise CorruptChunk(f"{stream.size} bytes are not whole words of {params.word_bytes}")
    elif params is None:
        raise BadParams("a body without header needs params as well as its image")
    params = params.resolved(image)
    check_extent(stream.size - start, image, params)
    if start:
        _check_plausible(stream.size, image, max_samples)
    out = np.empty(image.shape, image.dtype)
    decode_body(stream, start, image, params, out)
    return out, params


def check_extent(n_bytes: int, image: Image, params: Params) -> None:
    """Refuse a claim of more samples than so many bytes of body can code, with CorruptChunk."""
    if params.coder == "block":
        least = block_coder.least_bits(image.n_samples, image.bit_depth, params)
    else:  # D bits for the first sample of a band, then one or more each
        least = image.n_samples + image.n_bands * (image.bit_depth - 1)
    if 8 * n_bytes < least:
        z, y, x = image.shape
        raise CorruptChunk(f"{n_bytes} bytes cannot hold the {z} x {y} x {x} samples claimed")


def _check_plausible(n_bytes: int, image: Image, max_samples: int) -> None:
    if image.n_samples > max(max_samples, PLAUSIBLE * n_bytes):
        raise CorruptChunk(
            f"{n_bytes} bytes claim {image.n_samples} samples: if they are known to hold an almost "
            f"empty image, allow it with max_samples={image.n_samples}"
        )


def encode_body(
    x: NumpyArray, image: Image, params: Params, header: bytes
) -> tuple[npt.NDArray[np.uint8], LaneBits | None]:
    """Append a body to a header, which counts towards the fill of the last output word.

    Returns (n_bytes,) uint8, and for a BSQ body of the sample-adaptive coder the (NZ,) bits of
    its lanes. Params are resolved for the image.
    """
    native = x.astype(x.dtype.newbyteorder("="), copy=False)
    if params.coder == "block":
        ordered = coding_order(residuals(native, image, params), image, params)
        body, _ = block_coder.encode(ordered, image.bit_depth, params)
        fill = -(len(header) + body.size) % params.word_bytes
        parts = [np.frombuffer(header, np.uint8), body, np.zeros(fill, np.uint8)]
        return np.concatenate(parts), None
    if params.order == "bsq":
        return encode_lanes(native, image, params, header)
    return encode_interleaved(native, image, params, header), None


def decode_body(
    data: npt.NDArray[np.uint8], start: int, image: Image, params: Params, out: NumpyArray
) -> None:
    """Fill out, (z, y, x), from the body that begins at byte `start`; no lane index is needed."""
    if params.coder == "sample":
        decode_serial(data, 8 * start, image, params, out)
        return
    depth = image.bit_depth
    ordered, n_bits = block_coder.decode(data[start:], image.n_samples, depth, params)
    check_end(data, 8 * start + n_bits)
    reconstruct(band_columns(ordered, image, params), image, params, out)


def coding_order(
    delta: npt.NDArray[np.uint32], image: Image, params: Params
) -> npt.NDArray[np.uint32]:
    """Put delta[t, z] into the order of the body (CCSDS 123.0-B-2, 5.4.2): (n_samples,) uint32."""
    if params.order == "bsq":
        return delta.T.reshape(-1)
    rows = delta.reshape(image.n_rows, image.n_columns, image.n_bands)
    out = np.empty((image.n_rows, image.n_columns * image.n_bands), np.uint32)
    for group, place in _groups(image, params):
        out[:, place] = rows[:, :, group].reshape(image.n_rows, -1)
    return out.reshape(-1)


def band_columns(
    ordered: npt.NDArray[np.uint32], image: Image, params: Params
) -> npt.NDArray[np.uint32]:
    """Inverse of coding_order: (NY * NX, NZ) uint32, C-contiguous."""
    if params.order == "bsq":
        return np.ascontiguousarray(ordered.reshape(image.n_bands, -1).T)
    rows = ordered.reshape(image.n_rows, image.n_columns * image.n_bands)
    out = np.empty((image.n_rows, image.n_columns, image.n_bands), np.uint32)
    for group, place in _groups(image, params):
        out[:, :, group] = rows[:, place].reshape(image.n_rows, image.n_columns, -1)
    return out.reshape(-1, image.n_bands)


def _groups(image: Image, params: Params) -> list[tuple[Run, Run]]:
    """Bands of each group of M, and where a row of theirs lies in a coded row of the image."""
    n, depth = image.n_bands, params.interleave_depth
    ends = [(first, min(first + depth, n)) for first in range(0, n, depth)]
    columns = image.n_columns
    return [(slice(a, b), slice(columns * a, columns * b)) for a, b in ends]
