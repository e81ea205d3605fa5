"""GPU conversion of text to packed bases and marks; see split.cu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.dna.gpu_parts import NOTHING, DevicePart
from gangsaw.codecs.dna.letters.numbers import least_bytes, most_mark_bytes

THREADS, PIECE, EDGES = 256, 4096, 4  # as in split.cu
EXCEPTIONS, CASES = 0, 2  # indices of their start edges
Table = npt.NDArray[np.int64]


class Texts(NamedTuple):
    """Blocks of text in device memory, and buffers for their packed bases.

    Attributes
    ----------
    letters : (n,) uint8 each, aligned
    packed : device address of each buffer, aligned
    """

    letters: Sequence[DeviceArray]
    packed: Sequence[int]

    @property
    def pieces(self) -> int:
        """Number of pieces of the longest block: PIECE letters each, one thread block."""
        return max(1, -(-max(text.shape[0] for text in self.letters) // PIECE))

    @property
    def sizes(self) -> Table:
        """Number of letters of each block, (n_blocks,) int64."""
        return np.array([text.shape[0] for text in self.letters], np.int64)

    def rows(self) -> DeviceArray:
        """Return struct `Text` of pack.cuh for each block, in device memory."""
        pairs = zip(self.letters, self.packed, strict=True)
        rows = [(text.data.ptr, text.shape[0], packed) for text, packed in pairs]
        table: DeviceArray = cupy().asarray(np.array(rows, np.int64))
        return table


class DeviceMarks(NamedTuple):
    """Marks of blocks in device memory: runs of exceptions and of lower case.

    Attributes
    ----------
    parts : stored exceptions and cases of each block; None if they are too long
    odd : (n_blocks, pieces) uint32, number of exceptions in each piece of PIECE letters
    memory : owner of the memory of marks
    """

    parts: list[tuple[DevicePart, DevicePart] | None]
    odd: DeviceArray
    memory: object


def split_text(texts: Texts, least: Sequence[int]) -> DeviceMarks:
    """Pack the bases of texts to their buffers on the GPU; return the marks.

    least : smallest possible bytes of each block's payload besides marks
    """
    cp, rows, pieces = cupy(), texts.rows(), texts.pieces
    n = len(texts.letters)
    counted = cp.zeros(((EDGES + 1), n, pieces), np.uint32)
    _launch("pack_text", n * pieces, rows, np.int32(pieces), counted.reshape(-1))
    counts, odd = counted[:EDGES], counted[EDGES]
    totals: Table = to_host(counts.sum(axis=2)).astype(np.int64)
    if not totals.any():
        return DeviceMarks([(NOTHING, NOTHING)] * n, odd, None)
    pays = np.array(least) + least_bytes(totals[EXCEPTIONS], totals[CASES]) < texts.sizes
    kept = cp.asarray(pays.astype(np.uint32))
    counts = cp.ascontiguousarray((counts * kept[None, :, None]).reshape(-1))
    ends = cp.cumsum(counts, dtype=np.int64)
    edges = cp.empty(max(1, int((totals * pays).sum())), np.int32)
    _launch("find_marks", n * pieces, rows, np.int32(pieces), counts, ends - counts, edges)
    parts, memory = _written(texts, totals * pays, edges)
    known = zip(parts, pays.tolist(), strict=True)
    return DeviceMarks([part if own else None for part, own in known], odd, memory)


def bases_in(texts: Texts, marks: DeviceMarks) -> list[int]:
    """Return the number of bases of each text."""
    odd: Table = to_host(cupy().sum(marks.odd, axis=1)).astype(np.int64)
    found: list[int] = (texts.sizes - odd).tolist()
    return found


def take_bases(texts: Texts, odd: DeviceArray, rows: Sequence[tuple[int, int, int]]) -> None:
    """Write the base codes of texts to the lanes of dense blocks.

    Parameters
    ----------
    odd : number of exceptions in each piece, from `DeviceMarks`
    rows : device address of the lanes of each block, bases per lane, and stride between lanes; (0,
        1, 1) to skip a block
    """
    cp, pieces = cupy(), texts.pieces
    before = cp.cumsum(odd, axis=1, dtype=np.int64) - odd
    table = cp.asarray(np.array(rows, np.int64))
    arguments = texts.rows(), np.int32(pieces), cp.ascontiguousarray(before), table
    _launch("take_bases", len(texts.letters) * pieces, *arguments)


def _written(
    texts: Texts, totals: Table, edges: DeviceArray
) -> tuple[list[tuple[DevicePart, DevicePart]], DeviceArray]:
    """Write the stored marks of runs from the positions where runs begin and end.

    totals : (EDGES, n_blocks), number of begins and of ends of runs of both kinds
    """
    cp, n = cupy(), len(texts.letters)
    firsts = (np.cumsum(totals) - totals.reshape(-1)).reshape(EDGES, n)
    begins = edges.data.ptr + edges.dtype.itemsize * firsts
    counts = totals[[EXCEPTIONS, CASES]]
    most = most_mark_bytes(counts, texts.sizes) * (counts > 0)
    memory = cp.empty(max(1, int(most.sum())), np.uint8)
    letters = np.array([text.data.ptr for text in texts.letters])
    outs = memory.data.ptr + (np.cumsum(most) - most.reshape(-1)).reshape(most.shape)
    parts = (
        (begins[kind], begins[kind + 1], totals[kind], own, out)
        for kind, own, out in zip((EXCEPTIONS, CASES), (letters, 0 * letters), outs, strict=True)
    )
    streams = np.concatenate([np.stack(part, axis=1) for part in parts])
    used = cp.empty(2 * n, np.int64)
    _launch("write_marks", 2 * n, cp.asarray(streams.astype(np.int64)), used)
    sizes = to_host(used).reshape(2, n)
    odd, low = (
        [DevicePart(*one) if one[1] else NOTHING for one in zip(*kind, strict=True)]
        for kind in zip(outs.tolist(), sizes.tolist(), strict=True)
    )
    return list(zip(odd, low, strict=True)), memory


def _launch(name: str, grid: int, *arguments: object) -> None:
    kernel = load_module(__package__, "split.cu", {}).get_function(name)
    launch(kernel, grid, THREADS, arguments)
