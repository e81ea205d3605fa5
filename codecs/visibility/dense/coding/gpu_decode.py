"""GPU decoder of `dense`: heads and tables on the host, then one launch per batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.backends.batch import EncodedBlock
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch, load_module, pinned, pull
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.visibility.dense.coding.gpu_batch import PACKAGE
from gangsaw.codecs.visibility.dense.model.gpu_tables import (
    choice_table,
    first_slots,
    offsets_of,
    predictor_table,
    size_count,
)
from gangsaw.codecs.visibility.dense.model.head import N_TABLES, WRONG_ENDS, Sections, read_sections
from gangsaw.codecs.visibility.dense.model.host_tables import read_host_tables
from gangsaw.codecs.visibility.dense.model.predict import TERMS
from gangsaw.codecs.visibility.dense.model.symbols import N_SYMBOLS
from gangsaw.codecs.visibility.lanes.gpu_table import (
    THREADS,
    block_table,
    dtype_defines,
    word_bytes,
)
from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.params import Params

WORD_BYTES = 4  # bytes of a word loaded by kernels


class SectionsRow(NamedTuple):
    """Byte offsets and sizes of the sections of a payload: `Sections` of decode.cu."""

    states: int
    bits: int
    bits_bytes: int
    stream: int
    stream_bytes: int


def decode_blocks(
    encoded: Sequence[EncodedBlock], targets: Sequence[DeviceArray], params: Params
) -> dict[int, CorruptChunk]:
    """Decode payloads of kind `dense`; return the errors of invalid ones by index.

    targets : CuPy views (time, frequency, ...) of one dtype that `has_kernel`
    """
    parts = [one.data for one in encoded]
    read: dict[int, Sections] = {}
    errors: dict[int, CorruptChunk] = {}

    def read_one(i: int) -> None:
        try:
            target = targets[i]
            of = Lanes.of_block(target), word_bytes(target)
            read[i] = read_sections(parts[i], *of, read_host_tables)
        except CorruptChunk as error:
            errors[i] = error

    run_blocks(read_one, len(parts))
    there = sorted(read)
    if there:
        coded = [read[i] for i in there]
        statuses = _launch([parts[i] for i in there], [targets[i] for i in there], coded)
        errors |= {there[i]: CorruptChunk(WRONG_ENDS) for i in np.flatnonzero(statuses)}
    return errors


def _launch(
    parts: Sequence[Payload], targets: Sequence[DeviceArray], coded: Sequence[Sections]
) -> npt.NDArray[np.int32]:
    """Decode payloads with valid heads to targets; return a status per payload, 0 if valid."""
    cp, table = cupy(), block_table(targets)
    choices = [one.choice for one in coded]
    host, places = lay_side_by_side(parts)
    data = cp.empty(host.size, np.uint8)
    data.set(host)
    first_sizes = offsets_of(map(size_count, (one.means for one in choices), table.lanes))
    sizes = cp.empty(max(1, first_sizes[-1]), np.float32)
    statuses = cp.empty(len(parts), np.int32)
    rows = [_sections_row(one, place) for one, place in zip(coded, places.tolist(), strict=True)]
    choice_rows = choice_table(choices, table.lanes, first_sizes, word_bytes(targets[0]))
    firsts = first_slots(_counts(coded)).ravel()
    predictors = predictor_table(choices)
    tables = table.rows, table.axes, choice_rows, rows, predictors, TERMS.ravel(), firsts
    module = load_module(PACKAGE, "coding/decode.cu", dtype_defines(targets[0]))
    n_words = np.int64(host.size // WORD_BYTES)
    arguments = [*(cp.asarray(one) for one in tables), data, n_words, sizes, statuses]
    launch(module.get_function("decode_blocks"), len(parts), THREADS, arguments)
    return pull(statuses)  # synchronizes, so the device no longer reads host memory


def _sections_row(coded: Sections, place: int) -> SectionsRow:
    """Return the sections of a payload that begins at byte `place` of all payloads."""
    return SectionsRow(
        states=place + coded.states,
        bits=place + coded.bits,
        bits_bytes=coded.n_bytes,
        stream=place + coded.stream,
        stream_bytes=2 * coded.n_words,
    )


def _counts(coded: Sequence[Sections]) -> npt.NDArray[np.uint32]:
    """Return the symbol frequencies of all blocks, (n_blocks, N_TABLES, N_SYMBOLS).

    They are 0 for symbols that a block lacks.
    """
    counts = np.zeros((len(coded), N_TABLES, N_SYMBOLS), np.uint32)
    for own, one in zip(counts, coded, strict=True):
        own[:, : one.choice.grid.n_symbols] = one.counts
    return counts


def lay_side_by_side(parts: Sequence[Payload]) -> tuple[Payload, npt.NDArray[np.int64]]:
    """Copy payloads to page-locked memory, back to back, with a spare word; return offsets, too."""
    sizes = np.array([part.size for part in parts], np.int64)
    ends = np.cumsum(sizes)
    places = ends - sizes
    host = pinned(((int(ends[-1]) // WORD_BYTES + 2) * WORD_BYTES,), np.uint8)
    for part, place in zip(parts, places.tolist(), strict=True):
        host[place : place + part.size] = part
    host[ends[-1] :] = 0
    return host, places
