"""Host side of the CUDA encoder: inputs of the kernels, and streams from their output."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.header.checks import expected_header
from gangsaw.codecs.ccsds123.narrow import MAX_BYTES
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.predict.rows import check_range
from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.backends.batch import Encoded
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray, DeviceArrayOf
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import is_aligned, launch, load_module, pull

OUT_OF_RANGE, OVERFLOW = 1, 2  # flags of a block's status
WARP = 32  # bands that are coded together
JOINING_THREADS = 128  # for each bit string
SLACK_WORDS = 16  # of each band's capacity: small images have a few long codewords
C_TYPES = {
    "u1": "unsigned char",
    "i1": "signed char",
    "u2": "unsigned short",
    "i2": "short",
    "u4": "unsigned",
    "i4": "int",
    "i8": "long long",
}
Bytes = npt.NDArray[np.uint8]
Table = npt.NDArray[np.int64]
Stream = tuple[Bytes, Table]  # stream of a block, and the bit lengths of its lanes


class BlockColumns(NamedTuple):
    """Columns of the kernels' table of blocks: `Block` of gpu_encode.cu.

    Each is (n_blocks,) int64; strides count samples, `words` and `capacity` words of 32 bits.
    """

    samples: Table
    stride_z: Table
    stride_y: Table
    stride_x: Table
    bands: Table
    rows: Table
    columns: Table
    lane: Table
    words: Table
    capacity: Table


def encode_blocks(sources: Sequence[DeviceArray], params: Params) -> list[Encoded]:
    """Encode CuPy blocks for which the device has a kernel."""
    streams: dict[int, Stream] = {}
    # Blocks of a single column use another predictor, so they need another kernel.
    for single in (False, True):
        group = [i for i, source in enumerate(sources) if (source.shape[2] == 1) == single]
        if group:
            coded = encode_group([sources[i] for i in group], params)
            streams.update(zip(group, coded, strict=True))
    found = (streams[i] for i in range(len(sources)))
    return [Encoded((stream,), bits) for stream, bits in found]


def has_kernel(source: DeviceArray, params: Params) -> bool:
    """Return True if the device encodes a block, False if the CPU does.

    BI order and the block-adaptive coder are serial, and the CPU narrows 64 bits. A device cannot
    load unaligned samples, and counts the words of a band in 32 bits.
    """
    if source.dtype.itemsize > MAX_BYTES:
        return False
    most_bits = prod(source.shape[1:]) * (params.unary_limit + 8 * source.dtype.itemsize)
    return params.has_lanes and is_aligned(source, source.dtype.itemsize) and most_bits < 1 << 37


def encode_group(
    sources: Sequence[DeviceArray], params: Params, capacity: Table | None = None
) -> list[Stream]:
    """Encode CuPy blocks of the same dtype and resolved params, which one kernel can code.

    capacity : (n_blocks,) words of 32 bits for each band of a block; by default as many as all but
        contrived samples need
    """
    streams, short = _encode_once(sources, params, capacity)
    if short.size:
        needed = np.array([-(-int(streams[i][1].max()) // 32) for i in short])
        again = encode_group([sources[i] for i in short], params, needed)
        for i, stream in zip(short, again, strict=True):
            streams[i] = stream
    return streams


def _encode_once(
    sources: Sequence[DeviceArray], params: Params, capacity: Table | None
) -> tuple[list[Stream], Table]:
    """Return streams with the bit lengths of their lanes, and numbers of blocks that overflowed."""
    images = [params.image(source.shape, source.dtype) for source in sources]
    implied = [expected_header(image, params) for image in images]
    headers = [header for _, header in implied]
    largest = int(np.argmax([image.n_bands for image in images]))
    table = build_block_table(sources, images, headers, capacity)
    plan = Plan.of(images[largest], implied[largest][0])
    coded = code_bands(table, sources[0].dtype, plan)
    _check_range(sources, images, coded.status)
    parts = join_streams(headers, table, coded, params.word_bytes)
    return list(zip(parts, coded.bits, strict=True)), np.flatnonzero(coded.status & OVERFLOW)


def build_block_table(
    sources: Sequence[DeviceArray],
    images: Sequence[Image],
    headers: Sequence[bytes],
    capacity: Table | None,
) -> BlockColumns:
    """Return the table of blocks. The output words of all bands follow those of all headers."""
    strides = np.array([source.strides for source in sources], np.int64)
    stride_z, stride_y, stride_x = strides.T // sources[0].dtype.itemsize
    bands, rows, columns = np.array([image.shape for image in images], np.int64).T
    if capacity is None:
        capacity = rows * columns * (images[0].bit_depth + 2) // 32 + SLACK_WORDS
    return BlockColumns(
        samples=np.array([source.data.ptr for source in sources], np.int64),
        stride_z=stride_z,
        stride_y=stride_y,
        stride_x=stride_x,
        bands=bands,
        rows=rows,
        columns=columns,
        lane=_starts(bands),
        words=_starts(bands * capacity) + sum(map(_n_words, headers)),
        capacity=capacity,
    )


class CodedWords(NamedTuple):
    """Output of the kernel that predicts and codes.

    Attributes
    ----------
    words : uint32 in device memory: space for the headers, then the bands of all blocks
    bits : for each block (NZ,) int64 bit lengths, also of bands that overflowed
    status : (n_blocks,) int32
    """

    words: DeviceArrayOf[np.uint32]
    bits: list[Table]
    status: npt.NDArray[np.int32]


def code_bands(table: BlockColumns, dtype: Dtype, plan: Plan) -> CodedWords:
    """Run the kernel that predicts and codes. `plan` is that of the image with most bands."""
    cp = cupy()
    module = load_module(__package__, "gpu_encode.cu", plan_defines(plan, dtype))
    warps = warp_table(table)
    words = cp.empty(int(table.words[-1] + table.bands[-1] * table.capacity[-1]), np.uint32)
    lane_bits = cp.empty(int(table.bands.sum()), np.int64)
    status = cp.zeros(table.bands.size, np.int32)
    tables = (
        warps,
        np.stack(table, axis=1),
        np.array(plan.predictor, np.int64),
        np.array(plan.coder, np.int64),
        plan.weights.reshape(-1),
        plan.first_sums,
    )
    arguments = (*(cp.asarray(one) for one in tables), words, lane_bits, status)
    launch(module.get_function("encode_bands"), len(warps), WARP, arguments)
    bits = np.split(pull(lane_bits), np.cumsum(table.bands)[:-1])
    return CodedWords(words, bits, pull(status))


def plan_defines(plan: Plan, dtype: Dtype) -> dict[str, int | str]:
    """Return the macros that specialise a kernel for a plan and a dtype of any byte order."""
    return {
        "GS_P": plan.bands,
        "GS_FULL": int(plan.full),
        "GS_LOCAL_SUM": plan.local_sum,
        "GS_LANE": C_TYPES[plan.dtype.str[1:]],
        "GS_SAMPLE": C_TYPES[dtype.str[1:]],
        "GS_SWAP": int(not dtype.isnative),
    }


def warp_table(table: BlockColumns) -> npt.NDArray[np.int32]:
    """Return block and first band of each warp, (n_warps, 2) int32, largest blocks first."""
    counts = -(-table.bands // WARP)
    block = np.repeat(np.arange(counts.size), counts)
    first = WARP * (np.arange(block.size) - _starts(counts)[block])
    order = np.argsort(-(table.rows * table.columns)[block], kind="stable")
    return np.stack([block, first], axis=1)[order].astype(np.int32)


def _check_range(
    sources: Sequence[DeviceArray], images: Sequence[Image], status: npt.NDArray[np.int32]
) -> None:
    """Raise BadParams for the first block with a sample outside the range of its image."""
    for i in np.flatnonzero(status & OUT_OF_RANGE)[:1]:
        samples = to_host(sources[i])
        check_range(images[i], int(samples.min()), int(samples.max()))


def join_streams(
    headers: Sequence[bytes], table: BlockColumns, coded: CodedWords, word_bytes: int
) -> list[Bytes]:
    """Join headers and bands to streams in host memory; a stream is empty if a band overflowed."""
    cp = cupy()
    fits = coded.status & OVERFLOW == 0
    strings, starts, sizes = string_table(headers, table, coded.bits, fits, word_bytes)
    n_words = sum(map(_n_words, headers))
    padded = b"".join(header.ljust(4 * _n_words(header), b"\0") for header in headers)
    coded.words[:n_words] = cp.asarray(np.frombuffer(padded, ">u4").astype(np.uint32))
    out = cp.zeros(int((starts + _round_up(sizes, 4)).max(initial=0)) // 4, np.uint32)
    if len(strings):
        kernel = load_module(__package__, "join_lanes.cu", {}).get_function("join_lanes")
        arguments = (cp.asarray(strings), np.int64(len(strings)), coded.words, out)
        launch(kernel, len(strings), JOINING_THREADS, arguments)
    payload = pull(out).view(np.uint8)
    return [payload[a : a + n] for a, n in zip(starts, sizes, strict=True)]


def string_table(
    headers: Sequence[bytes],
    table: BlockColumns,
    bits: Sequence[Table],
    fits: npt.NDArray[np.bool_],
    word_bytes: int,
) -> tuple[Table, Table, Table]:
    """Build the table of bit strings to join: header and bands of each block that fits.

    Streams begin at whole words.

    Returns
    -------
    (n_strings, 3) int64 `String` rows of join_lanes.cu, then each block's stream as its offset and
    its size in bytes, (n_blocks,) int64 each
    """
    header_bits = [8 * len(header) for header in headers]
    lengths = np.insert(np.concatenate(bits), _starts(table.bands), header_bits)
    counts = table.bands + 1
    first = _starts(counts)
    block = np.repeat(np.arange(counts.size), counts)
    sizes = _round_up(-(-np.add.reduceat(lengths, first) // 8), word_bytes) * fits
    starts = _starts(_round_up(sizes, 4))
    begin = _starts(lengths)
    begin += (8 * starts - begin[first])[block]
    band = np.arange(lengths.size) - first[block] - 1
    words = table.words[block] + band * table.capacity[block]
    words[first] = _starts(np.array([_n_words(header) for header in headers]))
    strings = np.stack([begin, begin + lengths, words], axis=1)
    return strings[fits[block]], starts, sizes


def _round_up(lengths: Table, unit: int) -> Table:
    return -(-lengths // unit) * unit


def _starts(lengths: Table) -> Table:
    """Return the offset of each item in a concatenation, from the items' lengths."""
    return np.cumsum(lengths) - lengths


def _n_words(header: bytes) -> int:
    return -(-len(header) // 4)
