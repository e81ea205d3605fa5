"""One step of all lanes: prediction of the next bases, and model updates.

The order is part of the format: SPEC.md, Dense, "A step".
"""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.contexts import (
    BACK,
    append_base,
    fetch_complement,
    fetch_next,
    find_indices,
)
from gangsaw.codecs.dna.dense.model.counts import (
    learn_complement_direct,
    learn_complement_hashed,
    learn_counts,
    predict_counts,
)
from gangsaw.codecs.dna.dense.model.match import (
    enter_positions,
    find_matches,
    learn_matches,
    predict_matches,
)
from gangsaw.codecs.dna.dense.model.mixing import find_slopes, learn_weights, mix_models
from gangsaw.codecs.dna.dense.model.rows import (
    learn_complement_row3,
    learn_complement_row6,
    learn_rows,
    predict_rows,
)
from gangsaw.codecs.dna.dense.model.shape import Shape
from gangsaw.codecs.dna.dense.model.state import CLASSES, ROWS6, DenseState, Matches, ModelTables


@jit(part=True, norefs=True)
def begin_lanes(shape: Shape, lanes: DenseState) -> None:
    """Fill the values that lanes read in the first step."""
    lanes.place[ROWS6, :] = CLASSES * ROWS6
    find_indices(shape, lanes, shape.lanes)


@jit(part=True, norefs=True)
def lanes_at(shape: Shape, now: int) -> int:
    """Return the number of lanes with a base at step `now`: the last lane may be shorter."""
    return int(shape.lanes - ((shape.lanes - 1) * shape.steps + now >= shape.n))


@jit(part=True, norefs=True, calls=True)
def predict_bases(
    codes: Bytes,
    shape: Shape,
    tables: ModelTables,
    lanes: DenseState,
    matches: Matches,
    now: int,
    n: int,
) -> None:
    """Fill the frequencies of the four bases for n lanes at step `now`."""
    predict_counts(shape, tables, lanes, n)
    predict_rows(tables, lanes, n)
    if now >= BACK:
        find_matches(codes, shape, tables, lanes, matches, now, n)
    predict_matches(codes, tables, lanes, matches, n)
    mix_models(tables, lanes, n)


@jit(part=True, norefs=True, calls=True)
def learn_bases(
    shape: Shape, tables: ModelTables, lanes: DenseState, matches: Matches, now: int, n: int
) -> None:
    """Update the model with the coded bases of n lanes at step `now`.

    Prefetches of table entries are interleaved.
    """
    learn_counts(shape, tables, lanes, n)
    append_base(lanes.last, lanes.complement, lanes.before, lanes.base, n)
    find_indices(shape, lanes, n)
    fetch_complement(tables, lanes, 0, n)
    find_slopes(shape, lanes, now, n)
    fetch_complement(tables, lanes, 1, n)
    learn_weights(tables, lanes, n)
    fetch_complement(tables, lanes, 2, n)
    learn_rows(tables, lanes, n)
    fetch_complement(tables, lanes, 3, n)
    learn_matches(tables, lanes, matches, n)
    fetch_next(tables, lanes, 0, n)
    if now >= BACK:
        learn_complement_row3(tables, lanes, n)
    fetch_next(tables, lanes, 1, n)
    if now >= BACK:
        learn_complement_row6(tables, lanes, n)
    fetch_next(tables, lanes, 2, n)
    if now >= BACK:
        learn_complement_direct(shape, tables, lanes, n)
    fetch_next(tables, lanes, 3, n)
    if now >= BACK:
        learn_complement_hashed(shape, tables, lanes, n)
    if now + 1 >= BACK:
        enter_positions(shape, tables, lanes, now + 1, n)
