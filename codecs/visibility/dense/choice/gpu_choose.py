"""Encoder choices for `dense` blocks on a GPU: kernels sample, the CPU's functions choose."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import pull
from gangsaw.codecs.visibility.arrays import Table
from gangsaw.codecs.visibility.dense.choice.choose import (
    at_a_glance,
    best_predictors,
    choose_starts,
    commonest_of,
    glance_step,
    sample_step,
    sampled_strips,
    start_steps,
)
from gangsaw.codecs.visibility.dense.choice.means import sampled_pieces
from gangsaw.codecs.visibility.dense.coding.gpu_batch import BlockBatch
from gangsaw.codecs.visibility.dense.model.gpu_tables import offsets_of, piece_table
from gangsaw.codecs.visibility.dense.model.grid import Grid, grid_step
from gangsaw.codecs.visibility.dense.model.head import N_TABLES, BlockChoice
from gangsaw.codecs.visibility.dense.model.host_grid import choose_grid
from gangsaw.codecs.visibility.dense.model.predict import PREDICTORS
from gangsaw.codecs.visibility.dense.model.scale import LEVEL, NEAR, SLOW, SLOWER, WIDE
from gangsaw.codecs.visibility.dense.model.symbols import N_SYMBOLS
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

FILE = "choice/choose.cu"
KINDS = (NEAR, WIDE, SLOW, SLOWER, LEVEL)
NO_WORD = np.iinfo(np.uint64).max


class SampledWords(NamedTuple):
    """Words that are sampled to choose the grid of each block: `Words` of choose.cu.

    Each field is (n_blocks,) int64: step between words, their number, and index of the first in the
    output.
    """

    step: Table
    n_words: Table
    first: Table


class Odd(NamedTuple):
    """Smallest, largest and number of non-finite words of a block: `Odd` of choose.cu."""

    least: int
    most: int
    n_words: int


class StripRow(NamedTuple):
    """Strip in which words are sampled: `Strip` of choose.cu.

    `step` is that between sampled rows, `first` the offset of the words in the output.
    """

    block: int
    strip: int
    step: int
    first: int


class SampledStrips(NamedTuple):
    """Strips of a block in which words are sampled.

    Attributes
    ----------
    block, strips : index of the block, indices of its strips
    step : step between sampled rows
    first, size : output offset of the first strip's words, and words per strip
    """

    block: int
    strips: NumpyArray
    step: int
    first: int = 0
    size: int = 0


def choose(batch: BlockBatch) -> list[BlockChoice]:
    """Return the choice of each block; it is the one that the CPU encoder makes."""
    grids, commonest = choose_grids(batch), choose_commonest_of_each(batch)
    plain = [
        BlockChoice(NEAR, grid, (0, 0), commonest, np.zeros(of.n_strips * LANES, np.uint8))
        for grid, commonest, of in zip(grids, commonest, batch.lanes, strict=True)
    ]
    predictors = choose_predictors(batch, plain)
    choices = [one._replace(predictors=own) for one, own in zip(plain, predictors, strict=True)]
    starts = choose_all_starts(batch, choices)
    choices = [one._replace(starts=own) for one, own in zip(choices, starts, strict=True)]
    means = choose_means(batch, choices)
    return [one._replace(means=own) for one, own in zip(choices, means, strict=True)]


def choose_grids(batch: BlockBatch) -> list[Grid]:
    """Return the grid of each block, from words sampled evenly over it."""
    n_words = [of.shape[0] * LANES for of in batch.lanes]
    steps = np.array([grid_step(n) for n in n_words])
    firsts = offsets_of(-(-n // step) for n, step in zip(n_words, steps.tolist(), strict=True))
    samples = SampledWords(steps, np.diff(firsts), firsts[:-1])
    out = cupy().empty(firsts[-1], batch.word_type)
    batch.run(
        FILE, "sample_words", len(steps), np.column_stack(samples), batch.blocks, batch.axes, out
    )
    words = pull(out)
    return batch.each(lambda i: choose_grid(words[firsts[i] : firsts[i + 1]], batch.mantissa))


def choose_commonest_of_each(batch: BlockBatch) -> list[int | None]:
    """Return the commonest non-finite word of each block, None if it has none.

    Blocks with more than one distinct non-finite word copy all of these to the host.
    """
    cp, owners = cupy(), cupy().asarray(batch.table.owners)
    found = cp.asarray(np.array([Odd(NO_WORD, 0, 0)] * len(batch.sources), np.uint64))
    batch.run(FILE, "find_odd", owners.size, owners, batch.blocks, batch.axes, found)
    least, most, n_words = pull(found).T
    room = np.where(least < most, n_words, np.uint64(0))
    firsts = offsets_of(room.tolist())
    commonest = [int(word) if n else None for word, n in zip(least, n_words, strict=True)]
    if not firsts[-1]:
        return commonest
    out, places = cp.empty(firsts[-1], batch.word_type), cp.asarray(firsts[:-1].astype(np.uint64))
    blocks = owners, batch.blocks, batch.axes
    batch.run(FILE, "list_odd", owners.size, *blocks, room, places, out)
    words = pull(out)
    for i in np.flatnonzero(room):
        commonest[i] = commonest_of(words[firsts[i] : firsts[i + 1]])
    return commonest


def choose_predictors(
    batch: BlockBatch, choices: Sequence[BlockChoice]
) -> list[npt.NDArray[np.uint8]]:
    """Choose the predictors of each block, from a few rows or, if these do not suffice, more.

    choices : choices so far: grids and commonest words
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
    batch: BlockBatch, choices: Sequence[BlockChoice], steps: dict[int, int]
) -> dict[int, npt.NDArray[np.int64]]:
    """Return the (predictors, series) bits of some blocks under each predictor.

    steps : step between sampled rows, by block number
    """
    if not steps:
        return {}
    strips = {i: sampled_strips(batch.lanes[i]) for i in steps}
    table = strip_table([SampledStrips(i, own, steps[i]) for i, own in strips.items()])
    out = cupy().empty((len(table), len(PREDICTORS), LANES), np.int32)
    of_choices = batch.choices(choices), batch.terms
    batch.run(FILE, "add_costs", len(table), table, batch.blocks, batch.axes, *of_choices, out)
    ends = offsets_of(own.size for own in strips.values())
    found = pull(out)
    return {
        i: spread_costs(found[ends[n] : ends[n + 1]], strips[i], batch.lanes[i])
        for n, i in enumerate(steps)
    }


def spread_costs(costs: NumpyArray, strips: NumpyArray, lanes: Lanes) -> npt.NDArray[np.int64]:
    """Return (predictors, series) costs from those of strips, 0 in strips that were not sampled.

    costs : (strips, predictors, 32) costs of the sampled strips
    """
    out = np.zeros((len(PREDICTORS), lanes.n_strips, LANES), np.int64)
    out[:, strips] = costs.transpose(1, 0, 2)
    return out.reshape(len(PREDICTORS), -1)[:, : lanes.n_series]


def strip_table(samples: Sequence[SampledStrips]) -> npt.NDArray[np.int64]:
    """Return (n_strips, 4) int64, a `StripRow` for each strip of all samples."""
    rows = [
        StripRow(own.block, strip, own.step, own.first + n * own.size)
        for own in samples
        for n, strip in enumerate(own.strips.tolist())
    ]
    return np.array(rows, np.int64)


def choose_all_starts(batch: BlockBatch, choices: Sequence[BlockChoice]) -> list[tuple[int, int]]:
    """Return the median exponents of words and residuals of each block.

    choices : choices so far: grids, commonest words and predictors
    """
    samples, n_words = list[SampledStrips](), 0
    for i, of in enumerate(batch.lanes):
        every_strip, every_row = start_steps(of)
        strips = np.arange(0, of.n_strips, every_strip)
        size = LANES * -(-of.n_rows // every_row)
        samples.append(SampledStrips(i, strips, every_row, n_words, size))
        n_words += size * strips.size
    table, out = strip_table(samples), cupy().empty(n_words, batch.word_type)
    of_choices = batch.coded(choices)
    batch.run(FILE, "sample_rows", len(table), table, batch.blocks, batch.axes, *of_choices, out)
    words = pull(out)

    def choose_own(i: int) -> tuple[int, int]:
        strips, first = samples[i].strips, samples[i].first
        some = words[first : first + strips.size * samples[i].size]
        predictors = choices[i].predictors.reshape(-1, LANES)[strips]
        return choose_starts(some.reshape(strips.size, -1, LANES), predictors, batch.mantissa)

    return batch.each(choose_own)


def choose_means(batch: BlockBatch, choices: Sequence[BlockChoice]) -> list[int]:
    """Choose the kind of mean by which each block's samples take the fewest bits.

    choices : choices so far, all but `means`
    """
    n_blocks, cp = len(choices), cupy()
    sampled = [sampled_pieces(of) for of in batch.lanes]
    pieces = piece_table([(places.size, rows) for places, rows in sampled])
    places = np.concatenate([places for places, _ in sampled]).astype(np.uint32)
    counts = cp.empty((n_blocks, len(KINDS), N_TABLES, N_SYMBOLS), np.uint32)
    n_bits = cp.empty((n_blocks, len(KINDS)), np.int32)
    choice_rows, *coded = batch.coded(choices)
    samples = batch.blocks, batch.axes, choice_rows, pieces, places, *coded
    results = batch.sizes, counts, n_bits
    batch.run("choice/means.cu", "try_means", n_blocks * len(KINDS), *samples, *results)
    symbols, bits = pull(counts), pull(n_bits)

    def choose_own(i: int) -> int:
        costs = [entropy_bits(own) + int(n) for own, n in zip(symbols[i], bits[i], strict=True)]
        return int(np.argmin(costs))

    return batch.each(choose_own)


def entropy_bits(counts: npt.NDArray[np.uint32]) -> float:
    """Return the result of `means.entropy_bits` for (tables, symbols), summed in the same order."""
    n = counts.astype(np.int64)
    totals = np.broadcast_to(n.sum(axis=1, keepdims=True), n.shape)[n > 0]
    bits = 0.0
    for one, total in zip(n[n > 0].tolist(), totals.tolist(), strict=True):
        bits += one * log2(total / one) + 13
    return bits
