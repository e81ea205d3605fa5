"""The memory promises of the backends: bounds on what they allocate, by formula.

The suite over every codec measures them. The sample-adaptive coder has no useful hard bound (34
bits for a sample of 16), but noise over the whole range stays within two bits of D.
"""

from __future__ import annotations

from gangsaw.codecs.ccsds123.params import Image, Params

LANES = 16  # bands of a vector; the last vector may be half empty
STREAM = 4096  # header, words of the output, Python objects of a block
BATCH = 4 << 20  # rows in flight: samples, residuals, codewords, each half a second-level cache
PER_PIXEL = 64  # the decoder's tables over t, one entry for all bands
PER_LANE_COLUMN = 200  # the same where a single row exceeds that
PER_BAND = 2000  # the decoder's rings, however short the rows: 226 rows of 8 bytes at most
DEVICE_PER_BAND = 512  # on a GPU: rounding, tables of lanes, weights; allocations are of 512 bytes
PER_SAMPLE = 12  # without lanes: residuals, in two orders, and once more padded


def encoded_bytes(image: Image) -> int:
    """Bytes of one block's stream; as large as they get but for contrived samples."""
    return image.n_samples * (image.bit_depth + 2) // 8 + STREAM


def scratch_bytes(image: Image, params: Params) -> int:
    """Bytes that a thread needs to encode or decode one block, its growing stream included."""
    vectors = -(-image.n_bands // LANES)
    scratch = BATCH + 3 * encoded_bytes(image)
    scratch += PER_PIXEL * image.n_rows * image.n_columns
    scratch += PER_LANE_COLUMN * LANES * vectors * image.n_columns
    scratch += PER_BAND * LANES * vectors
    has_lanes = params.order == "bsq" and params.coder == "sample"
    return scratch if has_lanes else scratch + PER_SAMPLE * image.n_samples


def encoder_device_bytes(image: Image) -> int:
    """Bytes of device memory to encode one block: its bands apart, its stream, and tables."""
    return 2 * encoded_bytes(image) + DEVICE_PER_BAND * image.n_bands


def decoder_device_bytes(n_bytes: int, n_bands: int) -> int:
    """Bytes of device memory to decode one block of so many bytes: those, and tables."""
    return n_bytes + DEVICE_PER_BAND * n_bands + STREAM
