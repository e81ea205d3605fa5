"""The memory promises of the backends: bounds on what they allocate, by formula.

The suite over every codec measures them. The sample-adaptive coder has no useful hard bound (34
bits for a sample of 16), but noise over the whole range stays within two bits of D.
"""

from __future__ import annotations

from gangsaw.codecs.ccsds123.params import Image, Params

LANES = 16  # bands of a vector; the last vector may be half empty
STREAM = 4096  # header, words of the output, Python objects of a block
BATCH = 4 << 20  # rows in flight: samples, residuals, codewords, each half a second-level cache
# Tables over t are made for so many steps at a time: one for all steps took 50 bytes a pixel, 6 GB
# for a band of Sentinel-2.
SEGMENT = 1 << 16
PER_PIXEL = 64  # the decoder's tables over t, one entry for all bands
PER_LANE_COLUMN = 16  # two rows of 64-bit items: the decoder's ring, the encoder's codewords
PER_BAND = 2000  # the decoder's rings, however short the rows: 226 rows of 8 bytes at most
DEVICE_PER_BAND = 512  # on a GPU: rounding, tables of lanes, weights; allocations are of 512 bytes
PER_SAMPLE = 8  # of the block-adaptive coder, and of orders without lanes: residuals, in two orders


def encoded_bytes(image: Image) -> int:
    """Bytes of one block's stream; as large as they get but for contrived samples."""
    return image.n_samples * (image.bit_depth + 2) // 8 + STREAM


def peak_bytes(image: Image, params: Params, n_blocks: int, busy: int) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    An encoder holds the streams of all blocks, and then the frame or what threads work with; a
    decoder holds the latter alone.
    """
    streams = n_blocks * encoded_bytes(image)
    encoding = streams + max(streams, busy * _encoder_bytes(image, params))
    return max(encoding, busy * _decoder_bytes(image))


def _encoder_bytes(image: Image, params: Params) -> int:
    """Bytes that a thread needs besides the stream: one that it grew from, samples, lanes apart."""
    stream = encoded_bytes(image)
    if not params.has_lanes:
        return _rows_bytes(image) + stream + PER_SAMPLE * image.n_samples
    vector = LANES // 2 if image.n_bands <= LANES // 2 else LANES
    padded = vector * -(-image.n_bands // vector)  # lanes of no band are written, too
    grouped = 2 * stream * padded // image.n_bands  # as all lanes grow: old and new
    return _rows_bytes(image) + stream + grouped + _raw_bytes(image)


def _decoder_bytes(image: Image) -> int:
    """Bytes that a thread needs: the stream with a margin, samples of another byte order."""
    pixels = min(image.n_rows * image.n_columns, SEGMENT) + 2 * (image.n_bands + LANES)
    return _rows_bytes(image) + encoded_bytes(image) + _raw_bytes(image) + PER_PIXEL * pixels


def _rows_bytes(image: Image) -> int:
    lanes = LANES * (-(-image.n_bands // LANES) + 2)  # margins
    return BATCH + lanes * (PER_LANE_COLUMN * image.n_columns + PER_BAND)


def _raw_bytes(image: Image) -> int:
    return image.n_samples * image.dtype.itemsize


def encoder_device_bytes(image: Image) -> int:
    """Bytes of device memory to encode one block: its bands apart, its stream, and tables."""
    return 2 * encoded_bytes(image) + DEVICE_PER_BAND * image.n_bands


def decoder_device_bytes(n_bytes: int, n_bands: int) -> int:
    """Bytes of device memory to decode one block of so many bytes: those, and tables."""
    return n_bytes + DEVICE_PER_BAND * n_bands + STREAM
