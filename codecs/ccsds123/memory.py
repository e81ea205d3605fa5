"""Memory bounds of the backends: upper bounds on their allocations, as formulas.

The test suite of all codecs measures them. The sample-adaptive coder has no useful hard bound (34
bits for a 16-bit sample). But noise over the whole range needs at most D + 2 bits.
"""

from __future__ import annotations

from gangsaw.codecs.ccsds123.params import Image, Params

LANES = 16  # bands in a vector; the last vector may be half empty
STREAM = 4096  # header, words of the output, Python objects of a block
BATCH = 4 << 20  # rows in flight: samples, residuals, codewords, each half a second-level cache
# Steps per segment of the tables over t. Tables of all steps took 50 bytes per pixel: 6 GB for a
# band of Sentinel-2.
SEGMENT = 1 << 16
PER_PIXEL = 64  # the decoder's tables over t, one entry for all bands
PER_LANE_COLUMN = 16  # two rows of 64-bit items: the decoder's ring buffer, the encoder's codewords
PER_BAND = 2000  # the decoder's ring buffers at any row length: at most 226 rows of 8 bytes
DEVICE_PER_BAND = 512  # on a GPU: tables of lanes, weights, rounding to allocations of 512 bytes
PER_SAMPLE = 8  # block-adaptive coder, and orders without lanes: residuals in two orders


def encoded_bytes(image: Image) -> int:
    """Return the largest size of one block's stream in bytes, except for contrived samples."""
    return image.n_samples * (image.bit_depth + 2) // 8 + STREAM


def peak_bytes(image: Image, params: Params, n_blocks: int, busy: int) -> int:
    """Return a bound on the memory of coding a chunk, without the chunk, in bytes.

    An encoder needs the streams of all blocks, then either the frame or the working memory of the
    threads. A decoder needs only the working memory.
    """
    streams = n_blocks * encoded_bytes(image)
    encoding = streams + max(streams, busy * _encoder_bytes(image, params))
    return max(encoding, busy * _decoder_bytes(image))


def _encoder_bytes(image: Image, params: Params) -> int:
    """Return a thread's working memory to encode a block, without its stream, in bytes.

    It holds the old stream while it grows, samples and lanes.
    """
    stream = encoded_bytes(image)
    if not params.has_lanes:
        return _rows_bytes(image) + stream + PER_SAMPLE * image.n_samples
    vector = LANES // 2 if image.n_bands <= LANES // 2 else LANES
    padded = vector * -(-image.n_bands // vector)  # padding lanes are written, too
    grouped = 2 * stream * padded // image.n_bands  # as all lanes grow: old and new buffer
    return _rows_bytes(image) + stream + grouped + _raw_bytes(image)


def _decoder_bytes(image: Image) -> int:
    """Return a thread's working memory to decode a block, in bytes.

    It holds the stream, and samples in another byte order.
    """
    pixels = min(image.n_rows * image.n_columns, SEGMENT) + 2 * (image.n_bands + LANES)
    return _rows_bytes(image) + encoded_bytes(image) + _raw_bytes(image) + PER_PIXEL * pixels


def _rows_bytes(image: Image) -> int:
    lanes = LANES * (-(-image.n_bands // LANES) + 2)  # margins
    return BATCH + lanes * (PER_LANE_COLUMN * image.n_columns + PER_BAND)


def _raw_bytes(image: Image) -> int:
    return image.n_samples * image.dtype.itemsize


def encoder_device_bytes(image: Image) -> int:
    """Return the bytes of device memory to encode one block: bands, stream, and tables."""
    return 2 * encoded_bytes(image) + DEVICE_PER_BAND * image.n_bands


def decoder_device_bytes(n_bytes: int, n_bands: int) -> int:
    """Return the bytes of device memory to decode one block of n_bytes bytes."""
    return n_bytes + DEVICE_PER_BAND * n_bands + STREAM
