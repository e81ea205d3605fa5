"""GPU encoder of effort fast, with tables built on the host from counts; see encode.cu.

Merging contexts is a sequence of choices over 64 rows of counts, 32 KiB per block, and heads are
coded bit by bit. Both run on the host, and the table entries are copied to the device.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.cpu import SIZE_BYTES, packed_sizes
from gangsaw.codecs.bwt.fast.encode import build_token_entries
from gangsaw.codecs.bwt.fast.symbols import TOKENS
from gangsaw.codecs.bwt.fast.tables import KINDS, encode_tables, frequencies_of, tables_of
from gangsaw.codecs.bwt.lanes.cut import MOST_LANES
from gangsaw.codecs.bwt.lanes.device.gpu_runs import DeviceRunLanes
from gangsaw.codecs.bwt.lanes.lists import encode_heads
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.core.cuda.sums import on_device

Numbers = npt.NDArray[np.int64]
WORD_BYTES, COUNT_BYTES = 2, 4


def encode_fast_blocks(runs: DeviceRunLanes) -> list[tuple[Bytes, ...] | None]:
    """Encode transformed strings with effort fast on the GPU; None for those not shorter.

    Each result is the parts of the coded string.
    """
    runs.cut_evenly()
    work = _FastEncoding(runs)
    heads = work.begun()
    sizes = work.counted()
    left = [n - 1 - head.size for n, head in zip(runs.sizes.tolist(), heads, strict=True)]
    is_there = WORD_BYTES * sizes.sum(axis=1) <= left
    bodies = work.written(sizes, is_there)
    return [
        (head.heads, packed_sizes(WORD_BYTES * own[:k]), head.tables, body) if there else None
        for head, own, k, body, there in zip(
            heads, sizes, runs.lanes.tolist(), bodies, is_there.tolist(), strict=True
        )
    ]


class _FastLead(NamedTuple):
    """Coded parts of a block before the words of its lanes: heads and tables."""

    heads: Bytes
    tables: Bytes
    n_lanes: int

    @property
    def size(self) -> int:
        """Number of bytes, including the stored sizes of lanes."""
        return self.heads.size + self.tables.size + SIZE_BYTES * (self.n_lanes - 1)


class _FastEncoding:
    """Blocks to encode with effort fast on the GPU, in steps for all blocks together."""

    def __init__(self, runs: DeviceRunLanes) -> None:
        cp, n_blocks, n_runs = cupy(), len(runs.bwts), int(runs.runs.sum())
        self._runs = runs
        self._tokens = cp.empty(KINDS * n_runs, np.uint16)
        self._counts = cp.zeros(n_blocks * KINDS * TOKENS, np.uint32)
        self._entries = cp.empty(1, np.uint32)
        self._sizes = cp.zeros(n_blocks * MOST_LANES, np.int64)

    def begun(self) -> list[_FastLead]:
        """Compute tokens and frequency tables of all blocks; return the parts before the words."""
        blocks = np.zeros(len(self._runs.bwts), np.int64)
        self._start("tokenise", blocks, blocks)
        counts = to_host(self._counts).reshape(-1, KINDS, TOKENS).astype(np.int64)
        tables = [tables_of(own) for own in counts]
        entries = [build_token_entries(own, frequencies_of(own)) for own in tables]
        self._entries = cupy().asarray(np.stack(entries))
        return [
            _FastLead(encode_heads(heads), encode_tables(own), heads.sizes.size)
            for heads, own in zip(self._runs.heads(), tables, strict=True)
        ]

    def counted(self) -> Numbers:
        """Count the rANS words of each lane: (n_blocks, MOST_LANES) int64."""
        blocks = np.zeros(len(self._runs.bwts), np.int64)
        self._start("code_runs", blocks, blocks + 1)
        return to_host(self._sizes).reshape(-1, MOST_LANES).astype(np.int64)

    def written(self, sizes: Numbers, is_there: npt.NDArray[np.bool_]) -> list[Bytes]:
        """Write the rANS words of blocks that get shorter; return them, empty arrays for others.

        is_there : (n_blocks,) bool, True for blocks that get shorter
        """
        ends = np.cumsum(np.where(is_there, sizes.sum(axis=1), 0))
        words = cupy().empty(max(1, int(ends[-1])), np.uint16)
        begins = np.append(0, ends[:-1])
        self._start("code_runs", words.data.ptr + WORD_BYTES * begins, is_there.astype(np.int64))
        host = to_host(words).astype("<u2", copy=False).view(np.uint8)
        pairs = zip(begins.tolist(), ends.tolist(), strict=True)
        return [host[WORD_BYTES * a : WORD_BYTES * b] for a, b in pairs]

    def _start(self, name: str, words: Numbers, is_there: Numbers) -> None:
        """Launch a kernel of encode.cu with struct `FastBlock` for each block."""
        numbers, runs = np.arange(len(words)), self._runs
        first = self._tokens.data.ptr + WORD_BYTES * runs.runs_before
        columns = [
            *(first, first + WORD_BYTES * int(runs.runs.sum())),
            self._counts.data.ptr + COUNT_BYTES * KINDS * TOKENS * numbers,
            self._entries.data.ptr + COUNT_BYTES * KINDS * TOKENS * numbers,
            self._sizes.data.ptr + 8 * MOST_LANES * numbers,
            *(words, is_there),
        ]
        blocks = on_device(np.stack(columns, axis=1))
        kernel = load_module(__package__, "encode.cu", {}).get_function(name)
        launch(kernel, len(words), MOST_LANES, (runs.table(), blocks))
