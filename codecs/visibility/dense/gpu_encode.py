"""Encoder of `dense` on a GPU: choices, symbols and bits, streams, and payloads of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import pull
from gangsaw.codecs.visibility.arrays import Table
from gangsaw.codecs.visibility.dense.cpu import write_tables
from gangsaw.codecs.visibility.dense.gpu_batch import Batch
from gangsaw.codecs.visibility.dense.gpu_choose import choose, piece_table
from gangsaw.codecs.visibility.dense.gpu_tables import first_slots, places_of
from gangsaw.codecs.visibility.dense.head import KIND, N_TABLES, Choice, write_head
from gangsaw.codecs.visibility.dense.symbols import N_SYMBOLS
from gangsaw.codecs.visibility.lanes.table import LANES

FILE = "encode.cu"
WORD_BYTES, ITEM_BYTES = 4, 2  # that bits and streams are written in
COPYING = 256  # threads that put a payload together


def encode_blocks(
    sources: Sequence[Any], kind: int = KIND, raw: Sequence[int] | None = None
) -> list[Payload | None]:
    """Return the payload of each CuPy block in host memory, None where raw is not longer.

    Parameters
    ----------
    sources : (time, frequency, ...) of one dtype that `has_kernel`
    kind : what payloads begin with
    raw : bytes of each block if it is raw, where these are not those of its source
    """
    if not sources:
        return []
    batch = Batch(sources)
    choices = choose(batch)
    sizes = [source.nbytes for source in sources] if raw is None else raw
    return _Writer(batch, kind, np.array(sizes, np.int64)).write(choices)


class _Writer:
    """Bits and streams of a batch, each with as much room as raw words take; more is dropped."""

    def __init__(self, batch: Batch, kind: int, raw: Table) -> None:
        self.batch, self.kind = batch, kind
        rows = places_of(of.shape[0] for of in batch.lanes)
        words, items = places_of(raw // WORD_BYTES + 1), places_of(raw // ITEM_BYTES)
        self.raw, self.symbols = raw, cupy().empty(rows[-1] * LANES, np.uint16)
        self.bits = cupy().empty(words[-1], np.uint32)
        self.stream = cupy().empty(max(1, items[-1]), np.uint16)
        outputs = rows[:-1] * LANES, words[:-1], np.diff(words), items[:-1], np.diff(items)
        self.places = np.stack(outputs, axis=1)
        self.outputs = cupy().asarray(self.places)

    def write(self, choices: Sequence[Choice]) -> list[Payload | None]:
        counts, n_bytes = self.code_rows(choices)
        heads = self.batch.each(lambda i: self._head(i, choices[i], int(n_bytes[i])))
        tables = self.batch.each(lambda i: write_tables(counts[i], choices[i].grid.n_symbols))
        states, n_items = self.push_rows(counts)
        fronts = [np.concatenate(parts) for parts in zip(heads, tables, states, strict=True)]
        sizes = np.array([one.size for one in fronts]) + n_bytes + ITEM_BYTES * n_items
        fits = sizes <= self.raw
        ends = places_of(np.where(fits, sizes, 0))
        host = self.join_parts(fronts, ends, fits, n_bytes, n_items)
        for i in np.flatnonzero(fits):
            host[ends[i] : ends[i] + fronts[i].size] = fronts[i]
        return [host[ends[i] : ends[i + 1]] if own else None for i, own in enumerate(fits.tolist())]

    def _head(self, i: int, choice: Choice, n_bytes: int) -> Payload:
        return write_head(choice, self.batch.lanes[i], self.batch.word_bytes, n_bytes, self.kind)

    def code_rows(self, choices: Sequence[Choice]) -> tuple[npt.NDArray[np.uint32], Table]:
        """Write bits and symbols; return counts of symbols, and the bytes of bits of each block."""
        batch, n_blocks = self.batch, len(choices)
        pieces = piece_table([(of.n_strips, of.n_rows) for of in batch.lanes])
        places = [np.arange(of.n_strips, dtype=np.uint32) * of.n_rows for of in batch.lanes]
        counts = cupy().empty((n_blocks, N_TABLES, N_SYMBOLS), np.uint32)
        n_bytes = cupy().empty(n_blocks, np.int64)
        choice_rows, *coded = batch.coded(choices)
        rows = batch.blocks, batch.axes, choice_rows, pieces, np.concatenate(places), *coded
        results = self.symbols, self.bits, counts, n_bytes
        batch.run(FILE, "code_rows", n_blocks, *rows, self.outputs, batch.sizes(), *results)
        return pull(counts), pull(n_bytes)

    def push_rows(self, counts: npt.NDArray[np.uint32]) -> tuple[Payload, Table]:
        """Write streams by frequencies; return the bytes of states, and items of each stream."""
        batch, n_blocks = self.batch, len(counts)
        states = cupy().empty((n_blocks, LANES), np.uint32)
        n_items = cupy().empty(n_blocks, np.int64)
        symbols = batch.blocks, self.outputs, first_slots(counts).ravel(), self.symbols
        batch.run(FILE, "push_rows", n_blocks, *symbols, self.stream, states, n_items)
        return pull(states).astype("<u4").view(np.uint8), pull(n_items)

    def join_parts(
        self,
        fronts: Sequence[Payload],
        ends: Table,
        fits: npt.NDArray[np.bool_],
        n_bytes: Table,
        n_items: Table,
    ) -> Payload:
        """Return payloads back to back; what precedes the bits is not written."""
        sizes = np.array([one.size for one in fronts])
        items = self.places[:, 3] + self.places[:, 4] - n_items
        bits, stream = ends[:-1] + sizes, ends[:-1] + sizes + n_bytes
        copies = (
            *(WORD_BYTES * self.places[:, 1], np.where(fits, n_bytes, 0), bits),
            *(ITEM_BYTES * items, np.where(fits, ITEM_BYTES * n_items, 0), stream),
        )
        out = cupy().empty(max(1, ends[-1]), np.uint8)
        parts = self.bits.view(np.uint8), self.stream.view(np.uint8)
        table = np.stack(copies, axis=1)
        self.batch.run(FILE, "join_parts", len(fronts), table, *parts, out, threads=COPYING)
        return pull(out)
