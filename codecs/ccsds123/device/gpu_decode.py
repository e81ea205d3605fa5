"""Host side of the CUDA decoder: checks, tables, one launch for all blocks that go together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123 import cpu
from gangsaw.codecs.ccsds123.device.gpu_encode import defines
from gangsaw.codecs.ccsds123.header.checks import check_block, own_lanes
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.sample.decoder import REASONS
from gangsaw.codecs.ccsds123.sample.lanes import check_end, lane_bounds
from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import aligned, launch, load, pinned, refuse_corrupt
from gangsaw.codecs.core.errors import CorruptChunk

WARP = 32
MOST_THREADS = {4: 512, 8: 256}  # by bytes of a lane; this and RING as in gpu_decode.cu
RING = 32  # rows of the ring
WORD = np.dtype(np.uint32)
MOST_SAMPLES = 1 << 30  # of a band: kernels count steps in an int
NO_FAILURE = 0xFFFFFFFF


def decode(runs: Runs, targets: Sequence[DeviceArray], params: Params) -> None:
    """Decode what fits the device at once; see `gpu.decode`, which makes runs of a batch."""
    if not _has_kernel(runs, targets):
        _decode_on_host(runs, targets, params)
        return
    blocks = [_checked(runs, i, target, params) for i, target in enumerate(targets)]
    statuses = np.zeros(len(blocks), np.int64)
    for members in _alike(blocks):
        statuses[members] = Launch([blocks[i] for i in members]).run()
    refuse_corrupt(statuses, REASONS)


def _has_kernel(runs: Runs, targets: Sequence[DeviceArray]) -> bool:
    """Tell whether all blocks have lanes: those of BI order or the block-adaptive coder are serial.

    And a device cannot store unaligned samples.
    """
    lanes = runs.lane_bits is not None
    short = all(target.shape[1] * target.shape[2] <= MOST_SAMPLES for target in targets)
    return lanes and short and all(aligned(target, target.dtype.itemsize) for target in targets)


def _decode_on_host(runs: Runs, targets: Sequence[DeviceArray], params: Params) -> None:
    host = [np.empty(target.shape, target.dtype) for target in targets]
    cpu.decode(runs, host, params)
    for target, samples in zip(targets, host, strict=True):
        target[...] = cupy().asarray(samples)


class BlockRow(NamedTuple):
    """A row of the table of blocks that the kernel takes: `BlockRow` of gpu_decode.cu.

    origin : address; strides : in samples; bounds : number of the block's first one among all
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
    """A block that may be decoded: all checks that need no decoding have passed.

    Attributes
    ----------
    data : (n,) uint8 stream
    bounds : (NZ + 1,) int64 bits of the stream between which its lanes lie
    image, params : what its header says
    target : (z, y, x) CuPy view
    """

    data: npt.NDArray[np.uint8]
    bounds: npt.NDArray[np.int64]
    image: Image
    params: Params
    target: DeviceArray


def _checked(runs: Runs, i: int, target: DeviceArray, params: Params) -> CheckedBlock:
    assert runs.lane_bits is not None
    data, image = runs.take(i), params.image(target.shape, target.dtype)
    try:
        resolved, start = check_block(data, image, params)
        own = own_lanes(runs.lane_bits[i], image)
        bounds = lane_bounds(data.size, 8 * start, own, image)
        check_end(data, int(bounds[-1]))
    except CorruptChunk as error:
        raise CorruptChunk(error.reason, block=i) from error
    return CheckedBlock(data, bounds, image, resolved, target)


def _alike(blocks: Sequence[CheckedBlock]) -> list[list[int]]:
    """Numbers of blocks that one kernel decodes: of a single column, all resolves otherwise."""
    groups: dict[tuple[Params, Dtype], list[int]] = {}
    for i, block in enumerate(blocks):
        groups.setdefault((block.params, block.target.dtype), []).append(i)
    return list(groups.values())


class Launch:
    """One launch of the decoder: blocks of the same dtype and resolved params, of any extents."""

    def __init__(self, blocks: Sequence[CheckedBlock]) -> None:
        self.blocks = blocks
        widest = max(blocks, key=lambda block: block.image.n_bands)
        self.plan = Plan.of(widest.image, widest.params)
        lanes = -(-widest.image.n_bands // WARP) * WARP
        self.threads = min(lanes, MOST_THREADS[self.plan.dtype.itemsize])
        self.pitch = self.threads + self.plan.bands + self.plan.bands % 2  # even, for the banks

    def run(self) -> npt.NDArray[np.int64]:
        """Fill the targets; return (n_blocks,) statuses: 0 or a key of REASONS."""
        cp = cupy()
        status = cp.full(len(self.blocks), NO_FAILURE, np.uint32)
        tables = [cp.asarray(table) for table in self.tables()]
        host = self.words()  # lives on until the device is done: the copy may still go on
        words, bounds = cp.empty(host.size, WORD), cp.asarray(self.bounds())
        words.set(host)
        arguments = [tables[0], words, np.int64(words.size), bounds, *tables[1:]]
        specialised = defines(self.plan, self.blocks[0].target.dtype)
        module = load(__package__, "gpu_decode.cu", specialised)
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
        """Return the streams back to back in page-locked memory, filled up to a word."""
        sizes = [block.data.size for block in self.blocks]
        out = pinned((-(-sum(sizes) // WORD.itemsize),), WORD)
        np.concatenate([block.data for block in self.blocks], out=out.view(np.uint8)[: sum(sizes)])
        return out

    def bounds(self) -> npt.NDArray[np.int64]:
        """Return the bits of `words` between which lanes lie, for one block after the other."""
        ends = np.cumsum([8 * block.data.size for block in self.blocks])
        starts = [0, *ends[:-1].tolist()]
        return np.concatenate(
            [block.bounds + start for block, start in zip(self.blocks, starts, strict=True)]
        )

    def tables(self) -> list[npt.NDArray[np.int64]]:
        """Return the blocks, then what they share: first sums, weights and constants."""
        plan = self.plan
        constants = np.array([*plan.predictor, *plan.coder], np.int64)
        return [self.rows(), plan.first_sums, plan.weights.reshape(-1), constants]

    def rows(self) -> npt.NDArray[np.int64]:
        """(n_blocks, 8) int64: a `BlockRow` each."""
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
