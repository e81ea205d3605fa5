"""What the encoder of `dense` chooses on a GPU: kernels sample, the CPU's functions choose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import pull
from gangsaw.codecs.visibility.arrays import Array
from gangsaw.codecs.visibility.dense.choose import (
    at_a_glance,
    best_predictors,
    choose_commonest,
    choose_starts,
    glance_step,
    sample_step,
    sampled_strips,
    start_steps,
)
from gangsaw.codecs.visibility.dense.gpu_batch import Batch
from gangsaw.codecs.visibility.dense.gpu_tables import places_of
from gangsaw.codecs.visibility.dense.grid import Grid, choose_grid, grid_step
from gangsaw.codecs.visibility.dense.head import N_TABLES, Choice
from gangsaw.codecs.visibility.dense.means import entropy_bits, sampled_pieces
from gangsaw.codecs.visibility.dense.predict import PREDICTORS
from gangsaw.codecs.visibility.dense.scale import LEVEL, NEAR, SLOW, SLOWER, WIDE
from gangsaw.codecs.visibility.dense.symbols import N_SYMBOLS
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

FILE = "choose.cu"
KINDS = (NEAR, WIDE, SLOW, SLOWER, LEVEL)
NO_WORD = np.iinfo(np.uint64).max


def choose(batch: Batch) -> list[Choice]:
    """Return what the CPU would choose for each block."""
    grids, commonest = choose_grids(batch), choose_commonest_of_each(batch)
    plain = [
        Choice(NEAR, grid, (0, 0), commonest, np.zeros(of.n_strips * LANES, np.uint8))
        for grid, commonest, of in zip(grids, commonest, batch.lanes, strict=True)
    ]
    predictors = choose_predictors(batch, plain)
    choices = [one._replace(predictors=own) for one, own in zip(plain, predictors, strict=True)]
    starts = choose_all_starts(batch, choices)
    choices = [one._replace(starts=own) for one, own in zip(choices, starts, strict=True)]
    means = choose_means(batch, choices)
    return [one._replace(means=own) for one, own in zip(choices, means, strict=True)]


def choose_grids(batch: Batch) -> list[Grid]:
    """Return grids, from words that are spread over each block."""
    n_words = [of.shape[0] * LANES for of in batch.lanes]
    steps = [grid_step(n) for n in n_words]
    firsts = places_of(-(-n // step) for n, step in zip(n_words, steps, strict=True))
    samples = np.stack([steps, np.diff(firsts), firsts[:-1]], axis=1)
    out = cupy().empty(firsts[-1], batch.word_type)
    batch.run(FILE, "sample_words", len(steps), samples, batch.blocks, batch.axes, out)
    words = pull(out)
    return batch.each(lambda i: choose_grid(words[firsts[i] : firsts[i + 1]], batch.mantissa))


def choose_commonest_of_each(batch: Batch) -> list[int | None]:
    """Return the commonest words that are not finite.

    Blocks with more than one of these send all of them.
    """
    cp, owners = cupy(), cupy().asarray(batch.table.owners)
    odd = np.zeros((len(batch.sources), 3), np.uint64)
    odd[:, 0] = NO_WORD
    found = cp.asarray(odd)
    batch.run(FILE, "find_odd", owners.size, owners, batch.blocks, batch.axes, found)
    least, most, counts = pull(found).T
    room = np.where(least < most, counts, np.uint64(0))
    firsts = places_of(room.tolist())
    commonest = [int(word) if n else None for word, n in zip(least, counts, strict=True)]
    if not firsts[-1]:
        return commonest
    out, places = cp.empty(firsts[-1], batch.word_type), cp.asarray(firsts[:-1].astype(np.uint64))
    blocks = owners, batch.blocks, batch.axes
    batch.run(FILE, "list_odd", owners.size, *blocks, room, places, out)
    words = pull(out)
    for i in np.flatnonzero(room):
        commonest[i] = choose_commonest(words[firsts[i] : firsts[i + 1]], batch.mantissa)
    return commonest


def choose_predictors(batch: Batch, choices: Sequence[Choice]) -> list[npt.NDArray[np.uint8]]:
    """Return predictors: of most blocks at a glance, of the others by more rows.

    choices : grids and commonest words
    """
    if batch.word_bytes == 2:
        return [one.predictors for one in choices]
    costs = _costs(batch, choices, {i: glance_step(of) for i, of in enumerate(batch.lanes)})
    chosen = {i: at_a_glance(own, batch.lanes[i]) for i, own in costs.items()}
    unsure = {i: sample_step(batch.lanes[i]) for i, own in chosen.items() if own is None}
    more = _costs(batch, choices, unsure)
    return [
        best_predictors(more[i], batch.lanes[i]) if own is None else own
        for i, own in chosen.items()
    ]


def _costs(
    batch: Batch, choices: Sequence[Choice], steps: dict[int, int]
) -> dict[int, npt.NDArray[np.int64]]:
    """(predictors, series) bits of every so many rows of some blocks."""
    if not steps:
        return {}
    strips = {i: sampled_strips(batch.lanes[i]) for i in steps}
    table = strip_table([(i, own, steps[i], 0) for i, own in strips.items()])
    out = cupy().empty((len(table), len(PREDICTORS), LANES), np.int32)
    of_choices = batch.choices(choices), batch.terms
    batch.run(FILE, "add_costs", len(table), table, batch.blocks, batch.axes, *of_choices, out)
    ends = places_of(own.size for own in strips.values())
    found = pull(out)
    return {
        i: spread_costs(found[ends[n] : ends[n + 1]], strips[i], batch.lanes[i])
        for n, i in enumerate(steps)
    }


def spread_costs(costs: Array, strips: Array, lanes: Lanes) -> npt.NDArray[np.int64]:
    """(predictors, series), 0 in strips that were not looked at.

    costs : (strips, predictors, 32) of the others
    """
    out = np.zeros((len(PREDICTORS), lanes.n_strips, LANES), np.int64)
    out[:, strips] = costs.transpose(1, 0, 2)
    return out.reshape(len(PREDICTORS), -1)[:, : lanes.n_series]


def strip_table(samples: Sequence[tuple[int, Array, int, int]]) -> npt.NDArray[np.int64]:
    """(n_strips, 4) int64, `Strip` of choose.cu, of blocks, strips, steps and first places.

    Samples of the strips of a block follow each other, in as many words as the last item says.
    """
    rows = [
        (block, strip, step, n * size)
        for block, strips, step, size in samples
        for n, strip in enumerate(strips)
    ]
    return np.array(rows, np.int64)


def choose_all_starts(batch: Batch, choices: Sequence[Choice]) -> list[tuple[int, int]]:
    """Return median exponents of words and residuals.

    choices : grids, commonest words and predictors
    """
    steps = [start_steps(of) for of in batch.lanes]
    strips = [
        np.arange(0, of.n_strips, step) for of, (step, _) in zip(batch.lanes, steps, strict=True)
    ]
    rows = [-(-of.n_rows // step) for of, (_, step) in zip(batch.lanes, steps, strict=True)]
    firsts = places_of(LANES * own.size * n for own, n in zip(strips, rows, strict=True))
    samples = [(i, own, steps[i][1], LANES * rows[i]) for i, own in enumerate(strips)]
    table = strip_table(samples)
    table[:, 3] += firsts[table[:, 0]]
    out = cupy().empty(firsts[-1], batch.word_type)
    of_choices = batch.coded(choices)
    batch.run(FILE, "sample_rows", len(table), table, batch.blocks, batch.axes, *of_choices, out)
    words = pull(out)

    def choose_own(i: int) -> tuple[int, int]:
        some = words[firsts[i] : firsts[i + 1]].reshape(strips[i].size, rows[i], LANES)
        return choose_starts(
            some, choices[i].predictors.reshape(-1, LANES)[strips[i]], batch.mantissa
        )

    return batch.each(choose_own)


def choose_means(batch: Batch, choices: Sequence[Choice]) -> list[int]:
    """Return the kinds of means under which samples take the fewest bits.

    choices : all but means
    """
    n_blocks, cp = len(choices), cupy()
    sampled = [sampled_pieces(of) for of in batch.lanes]
    pieces = piece_table([(places.size, rows) for places, rows in sampled])
    places = np.concatenate([places for places, _ in sampled]).astype(np.uint32)
    counts = cp.empty((n_blocks, len(KINDS), N_TABLES, N_SYMBOLS), np.uint32)
    n_bits = cp.empty((n_blocks, len(KINDS)), np.int32)
    choice_rows, *coded = batch.coded(choices)
    samples = batch.blocks, batch.axes, choice_rows, pieces, places, *coded
    results = batch.sizes(), counts, n_bits
    batch.run("encode.cu", "try_means", n_blocks * len(KINDS), *samples, *results)
    symbols, bits = pull(counts), pull(n_bits)

    def choose_own(i: int) -> int:
        costs = [entropy_bits(own) + int(n) for own, n in zip(symbols[i], bits[i], strict=True)]
        return int(np.argmin(costs))

    return batch.each(choose_own)


def piece_table(pieces: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """(n_blocks, 3) int64, `Pieces` of encode.cu, of counts of pieces and of their rows."""
    firsts = places_of(count for count, _ in pieces)[:-1]
    return np.column_stack([firsts, np.array(pieces, np.int64)])
