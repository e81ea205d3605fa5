"""GPU encoder of `dense`: symbols and bits, streams, and assembled payloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import pull
from gangsaw.codecs.visibility.arrays import Table
from gangsaw.codecs.visibility.dense.coding.gpu_batch import BlockBatch
from gangsaw.codecs.visibility.dense.model.gpu_tables import first_slots, offsets_of, piece_table
from gangsaw.codecs.visibility.dense.model.head import (
    N_TABLES,
    BlockChoice,
    write_head,
)
from gangsaw.codecs.visibility.dense.model.host_tables import pack_host_tables
from gangsaw.codecs.visibility.dense.model.symbols import N_SYMBOLS
from gangsaw.codecs.visibility.lanes.table import LANES

FILE = "coding/encode.cu"
WORD_BYTES, ITEM_BYTES = 4, 2  # units in which bits and streams are written
COPYING = 256  # threads that assemble a payload


class OutputRows(NamedTuple):
    """Part of the output buffers for each block: `Output` of encode.cu; (n_blocks,) int64 each.

    `first_symbol`, `first_word` and `first_item` are the offsets of its symbols, of its words of
    bits and of its items of the stream; `words` and `items` are the capacities.
    """

    first_symbol: Table
    first_word: Table
    words: Table
    first_item: Table
    items: Table


class CopyRows(NamedTuple):
    """Source, size and destination of each block's bits and stream: `Copy` of encode.cu.

    Each is (n_blocks,) int64, in bytes.
    """

    bits: Table
    n_bits: Table
    to_bits: Table
    stream: Table
    n_stream: Table
    to_stream: Table


class BatchWriter:
    """Output buffers of a batch of blocks: bits and streams, as large as raw words.

    What exceeds them is dropped: the block is then stored raw.
    """

    def __init__(self, batch: BlockBatch, kind: int, raw: Table) -> None:
        self.batch, self.kind = batch, kind
        rows = offsets_of(of.shape[0] for of in batch.lanes)
        words, items = offsets_of(raw // WORD_BYTES + 1), offsets_of(raw // ITEM_BYTES)
        self.raw, self.symbols = raw, cupy().empty(rows[-1] * LANES, np.uint16)
        self.bits = cupy().empty(words[-1], np.uint32)
        self.stream = cupy().empty(max(1, items[-1]), np.uint16)
        self.places = OutputRows(
            first_symbol=rows[:-1] * LANES,
            first_word=words[:-1],
            words=np.diff(words),
            first_item=items[:-1],
            items=np.diff(items),
        )
        self.outputs = cupy().asarray(np.column_stack(self.places))

    def write(self, choices: Sequence[BlockChoice]) -> list[Payload | None]:
        """Return the payload of each block in host memory, None if the raw block is not longer."""
        counts, n_bytes = self.to_symbols(choices)
        heads = self.batch.each(lambda i: self._head(i, choices[i], int(n_bytes[i])))
        tables = self.batch.each(lambda i: pack_host_tables(counts[i], choices[i].grid.n_symbols))
        states, n_items = self.push_symbols(counts)
        fronts = [np.concatenate(parts) for parts in zip(heads, tables, states, strict=True)]
        sizes = np.array([one.size for one in fronts]) + n_bytes + ITEM_BYTES * n_items
        fits = sizes <= self.raw
        ends = offsets_of(np.where(fits, sizes, 0))
        host = self.join_parts(fronts, ends, fits, n_bytes, n_items)
        for i in np.flatnonzero(fits):
            host[ends[i] : ends[i] + fronts[i].size] = fronts[i]
        return [host[ends[i] : ends[i + 1]] if own else None for i, own in enumerate(fits.tolist())]

    def _head(self, i: int, choice: BlockChoice, n_bytes: int) -> Payload:
        return write_head(choice, self.batch.lanes[i], self.batch.word_bytes, n_bytes, self.kind)

    def to_symbols(self, choices: Sequence[BlockChoice]) -> tuple[npt.NDArray[np.uint32], Table]:
        """Write bits and symbols of all blocks; return their symbol counts and bytes of bits."""
        batch, n_blocks = self.batch, len(choices)
        pieces = piece_table([(of.n_strips, of.n_rows) for of in batch.lanes])
        places = [np.arange(of.n_strips, dtype=np.uint32) * of.n_rows for of in batch.lanes]
        counts = cupy().empty((n_blocks, N_TABLES, N_SYMBOLS), np.uint32)
        n_bytes = cupy().empty(n_blocks, np.int64)
        choice_rows, *coded = batch.coded(choices)
        rows = batch.blocks, batch.axes, choice_rows, pieces, np.concatenate(places), *coded
        results = self.symbols, self.bits, counts, n_bytes
        batch.run(FILE, "to_symbols", n_blocks, *rows, self.outputs, batch.sizes, *results)
        return pull(counts), pull(n_bytes)

    def push_symbols(self, counts: npt.NDArray[np.uint32]) -> tuple[Payload, Table]:
        """Entropy-code the symbols; return final states as bytes, and each stream's items."""
        batch, n_blocks = self.batch, len(counts)
        states = cupy().empty((n_blocks, LANES), np.uint32)
        n_items = cupy().empty(n_blocks, np.int64)
        symbols = batch.blocks, self.outputs, first_slots(counts).ravel(), self.symbols
        batch.run(FILE, "push_symbols", n_blocks, *symbols, self.stream, states, n_items)
        return pull(states).astype("<u4").view(np.uint8), pull(n_items)

    def join_parts(
        self,
        fronts: Sequence[Payload],
        ends: Table,
        fits: npt.NDArray[np.bool_],
        n_bytes: Table,
        n_items: Table,
    ) -> Payload:
        """Return the payloads back to back; their first parts, `fronts`, are left empty.

        fronts : head, tables and states of each payload
        ends : offsets of the payloads, and the end of the last one
        fits : True for blocks that are not stored raw
        """
        sizes = np.array([one.size for one in fronts])
        copies = CopyRows(
            bits=WORD_BYTES * self.places.first_word,
            n_bits=np.where(fits, n_bytes, 0),
            to_bits=ends[:-1] + sizes,
            stream=ITEM_BYTES * (self.places.first_item + self.places.items - n_items),
            n_stream=np.where(fits, ITEM_BYTES * n_items, 0),
            to_stream=ends[:-1] + sizes + n_bytes,
        )
        # the fronts are copied to the host with them
        out = cupy().zeros(max(1, ends[-1]), np.uint8)
        parts = self.bits.view(np.uint8), self.stream.view(np.uint8)
        table = np.column_stack(copies)
        self.batch.run(FILE, "join_parts", len(fronts), table, *parts, out, threads=COPYING)
        return pull(out)
