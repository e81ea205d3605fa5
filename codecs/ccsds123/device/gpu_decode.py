"""Host side of the CUDA decoder: checks, tables, and one launch for all blocks of the same kind."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.device.gpu_encode import plan_defines
from gangsaw.codecs.ccsds123.header.checks import check_block, own_lanes
from gangsaw.codecs.ccsds123.narrow import MAX_BYTES
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.sample.decoder import REASONS
from gangsaw.codecs.ccsds123.sample.lanes import check_end, lane_bounds
from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.backends.batch import EncodedBlock
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import corrupt_blocks, is_aligned, launch, load_module, pinned
from gangsaw.codecs.core.errors import CorruptChunk

WARP = 32
# by bytes of a lane; MOST_THREADS and RING must match gpu_decode.cu
MOST_THREADS = {4: 512, 8: 256}
RING = 32  # rows of the ring buffer
WORD = np.dtype(np.uint32)
MOST_SAMPLES = 1 << 30  # in a band: kernels count steps in an int
NO_FAILURE = 0xFFFFFFFF


def decode_blocks(
    encoded: Sequence[EncodedBlock], targets: Sequence[DeviceArray], params: Params
) -> dict[int, CorruptChunk]:
    """Decode blocks with lanes into their targets; return errors by block number."""
    blocks: dict[int, CheckedBlock] = {}
    errors: dict[int, CorruptChunk] = {}
    for i, (own, target) in enumerate(zip(encoded, targets, strict=True)):
        try:
            blocks[i] = _checked(own, target, params)
        except CorruptChunk as error:
            errors[i] = error
    numbers = list(blocks)
    for members in _group_blocks(list(blocks.values())):
        statuses = Launch([blocks[numbers[i]] for i in members]).run()
        found = corrupt_blocks(statuses, REASONS)
        errors |= {numbers[members[i]]: error for i, error in found.items()}
    return errors


def has_kernel(target: DeviceArray, params: Params) -> bool:
    """Return True if the device decodes a block, False if the CPU does.

    BI order and the block-adaptive coder are serial, and the CPU widens samples to 64 bits. A
    device cannot store unaligned samples.
    """
    if target.dtype.itemsize > MAX_BYTES:
        return False
    short = target.shape[1] * target.shape[2] <= MOST_SAMPLES
    return params.has_lanes and short and is_aligned(target, target.dtype.itemsize)


class BlockRow(NamedTuple):
    """Row of the kernel's table of blocks: layout of one block, `BlockRow` of gpu_decode.cu.

    origin : address; strides : in samples; bounds : index of the block's first bit offset in all
    """

    origin: int
    z_stride: int
    y_stride: int
    x_stride: int
    bands: int
    rows: int
    columns: int
    bounds: int


class CheckedBlock(NamedTuple):
    """Encoded block that has passed all checks that need no decoding.

    Attributes
    ----------
    data : (n,) uint8 stream
    bounds : (NZ + 1,) int64 bit offsets of the lanes in the stream
    image, params : contents of the header
    target : (z, y, x) CuPy view
    """

    data: npt.NDArray[np.uint8]
    bounds: npt.NDArray[np.int64]
    image: Image
    params: Params
    target: DeviceArray


def _checked(encoded: EncodedBlock, target: DeviceArray, params: Params) -> CheckedBlock:
    data, image = encoded.data, params.image(target.shape, target.dtype)
    resolved, start = check_block(data, image, params)
    bounds = lane_bounds(data.size, 8 * start, own_lanes(encoded.lanes, image), image)
    check_end(data, int(bounds[-1]))
    return CheckedBlock(data, bounds, image, resolved, target)


def _group_blocks(blocks: Sequence[CheckedBlock]) -> list[list[int]]:
    """Return the numbers of the blocks of each kernel launch: same dtype and resolved params.

    Blocks of a single column resolve to other params.
    """
    groups: dict[tuple[Params, Dtype], list[int]] = {}
    for i, block in enumerate(blocks):
        groups.setdefault((block.params, block.target.dtype), []).append(i)
    return list(groups.values())


class Launch:
    """One launch of the decoder kernel: blocks of the same dtype and resolved params.

    The blocks may have different extents.
    """

    def __init__(self, blocks: Sequence[CheckedBlock]) -> None:
        self.blocks = blocks
        widest = max(blocks, key=lambda block: block.image.n_bands)
        self.plan = Plan.of(widest.image, widest.params)
        lanes = -(-widest.image.n_bands // WARP) * WARP
        self.threads = min(lanes, MOST_THREADS[self.plan.dtype.itemsize])
        # even, to avoid bank conflicts
        self.pitch = self.threads + self.plan.bands + self.plan.bands % 2

    def run(self) -> npt.NDArray[np.int64]:
        """Decode into the targets; return (n_blocks,) statuses: 0 or a key of REASONS."""
        cp = cupy()
        status = cp.full(len(self.blocks), NO_FAILURE, np.uint32)
        tables = [cp.asarray(table) for table in self.tables()]
        host = self.words()  # must outlive the asynchronous copy
        words, bounds = cp.empty(host.size, WORD), cp.asarray(self.bounds())
        words.set(host)
        arguments = [tables[0], words, np.int64(words.size), bounds, *tables[1:]]
        specialised = plan_defines(self.plan, self.blocks[0].target.dtype)
        module = load_module(__package__, "gpu_decode.cu", specialised)
        launch(
            module.get_function("decode_lanes"),
            len(self.blocks),
            self.threads,
            [*arguments, np.int32(self.pitch), status],
            RING * self.pitch * self.plan.dtype.itemsize,
        )
        first = to_host(status).astype(np.int64)
        return np.where(first == NO_FAILURE, 0, first & 3)

    def words(self) -> npt.NDArray[np.uint32]:
        """Return the concatenated streams in page-locked memory, padded to whole words."""
        sizes = [block.data.size for block in self.blocks]
        out = pinned((-(-sum(sizes) // WORD.itemsize),), WORD)
        np.concatenate([block.data for block in self.blocks], out=out.view(np.uint8)[: sum(sizes)])
        return out

    def bounds(self) -> npt.NDArray[np.int64]:
        """Return the bit offsets of all lanes (bands) in `words`, block by block."""
        ends = np.cumsum([8 * block.data.size for block in self.blocks])
        starts = [0, *ends[:-1].tolist()]
        return np.concatenate(
            [block.bounds + start for block, start in zip(self.blocks, starts, strict=True)]
        )

    def tables(self) -> list[npt.NDArray[np.int64]]:
        """Return the table of blocks, then those that they share: sums, weights and constants."""
        plan = self.plan
        constants = np.array([*plan.predictor, *plan.coder], np.int64)
        return [self.rows(), plan.first_sums, plan.weights.reshape(-1), constants]

    def rows(self) -> npt.NDArray[np.int64]:
        """Return the table of blocks, (n_blocks, 8) int64: one `BlockRow` each."""
        firsts = itertools.accumulate((block.bounds.size for block in self.blocks), initial=0)
        rows = map(_row, self.blocks, firsts)
        return np.array(list(rows), np.int64)


def _row(block: CheckedBlock, bounds: int) -> BlockRow:
    target = block.target
    z_stride, y_stride, x_stride = (stride // target.dtype.itemsize for stride in target.strides)
    bands, rows, columns = target.shape
    return BlockRow(
        origin=target.data.ptr,
        z_stride=z_stride,
        y_stride=y_stride,
        x_stride=x_stride,
        bands=bands,
        rows=rows,
        columns=columns,
        bounds=bounds,
    )
