"""Text to packed bases and marks on a GPU; see split.cu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load
from gangsaw.codecs.dna.gpu_parts import Part
from gangsaw.codecs.dna.letters.coding import packed_size
from gangsaw.codecs.dna.letters.numbers import least_bytes, most_bytes

THREADS, PIECE, EDGES = 256, 4096, 4  # as in split.cu
EXCEPTIONS, CASES = 0, 2  # where these begin among edges
Table = npt.NDArray[np.int64]


class Texts(NamedTuple):
    """Blocks of text, and room for their packed bases.

    Attributes
    ----------
    letters : (n,) uint8 each, aligned
    packed : where the packed bases of each go, aligned
    """

    letters: Sequence[DeviceArray]
    packed: Sequence[int]

    @property
    def pieces(self) -> int:
        """Pieces of the longest block."""
        return max(1, -(-max(text.shape[0] for text in self.letters) // PIECE))

    def rows(self) -> DeviceArray:
        """`Text` of pack.cuh of each, on the device."""
        pairs = zip(self.letters, self.packed, strict=True)
        rows = [(text.data.ptr, text.shape[0], packed) for text, packed in pairs]
        table: DeviceArray = cupy().asarray(np.array(rows, np.int64))
        return table


class DeviceMarks(NamedTuple):
    """Marks of blocks on the device.

    Attributes
    ----------
    parts : exceptions and cases of each block; None where both take more room than the text saves
    memory : that they lie in
    """

    parts: list[tuple[Part, Part] | None]
    memory: object


def split(texts: Texts) -> DeviceMarks:
    """Pack bases into their rooms; return the marks."""
    cp, rows, pieces = cupy(), texts.rows(), texts.pieces
    n = len(texts.letters)
    counts = cp.zeros(EDGES * n * pieces, np.uint32)
    _launch("pack_text", n * pieces, rows, np.int32(pieces), counts)
    totals: Table = to_host(counts.reshape(EDGES, n, pieces).sum(axis=2)).astype(np.int64)
    if not totals.any():
        nothing = Part(0, 0)
        return DeviceMarks([(nothing, nothing)] * n, None)
    sizes = np.array([text.shape[0] for text in texts.letters])
    least = least_bytes(totals[EXCEPTIONS], totals[CASES])
    pays = np.array([packed_size(n) for n in sizes.tolist()]) + least < sizes
    kept = cp.asarray(np.broadcast_to(pays[:, None], (n, pieces)).astype(np.uint32).reshape(-1))
    counts = cp.ascontiguousarray((counts.reshape(EDGES, -1) * kept).reshape(-1))
    ends = cp.cumsum(counts, dtype=np.int64)
    edges = cp.empty(max(1, int((totals * pays).sum())), np.int32)
    _launch("find_marks", n * pieces, rows, np.int32(pieces), counts, ends - counts, edges)
    return _written(texts, totals * pays, pays, edges)


def _written(
    texts: Texts, totals: Table, pays: npt.NDArray[np.bool_], edges: DeviceArray
) -> DeviceMarks:
    """Return the marks of runs whose edges are known; totals : (EDGES, n_blocks)."""
    cp, n = cupy(), len(texts.letters)
    firsts = (np.cumsum(totals) - totals.reshape(-1)).reshape(EDGES, n)
    begins = edges.data.ptr + edges.dtype.itemsize * firsts
    sizes = np.array([text.shape[0] for text in texts.letters])
    counts = totals[[EXCEPTIONS, CASES]]
    most = most_bytes(counts, sizes) * (counts > 0)
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
    found = to_host(used).reshape(2, n)
    pairs = [
        tuple(Part(int(outs[kind, i]), int(found[kind, i])) for kind in range(2)) for i in range(n)
    ]
    known = zip(pairs, pays.tolist(), strict=True)
    return DeviceMarks([(one[0], one[1]) if own else None for one, own in known], memory)


def _launch(name: str, grid: int, *arguments: object) -> None:
    kernel = load(__package__, "split.cu", {}).get_function(name)
    launch(kernel, grid, THREADS, arguments)
