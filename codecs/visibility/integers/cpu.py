"""Host coding of blocks of kind 5: integers for floats that are decimals, rounded, or few."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.visibility.arrays import Words
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import narrow
from gangsaw.codecs.visibility.dense.model.grid import NO_GRID, Grid
from gangsaw.codecs.visibility.dense.model.head import BlockChoice
from gangsaw.codecs.visibility.dense.model.scale import NEAR
from gangsaw.codecs.visibility.integers.choose import Whole, choose_form
from gangsaw.codecs.visibility.integers.form import (
    KIND,
    MOST_MARKED,
    NOT_WHOLE,
    Form,
    OddWords,
    read_form,
    write_form,
)
from gangsaw.codecs.visibility.integers.predict import (
    TERMS,
    TableRows,
    from_integer_residuals,
    put_marked,
    restore_odd,
    to_integer_residuals,
)
from gangsaw.codecs.visibility.integers.sample import find_signs, sampled_words
from gangsaw.codecs.visibility.integers.words import integers_to_words
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes, gather_block, scatter_block
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import raw

SURE = 3  # compression ratio from which no other kind is tried
STARTS = 1024  # values sampled for the start exponent

_per_thread = ThreadScratch()


def encode_integers(block: NumpyArray) -> tuple[Payload, ...]:
    """Encode a block as integers (kind 5) if that is shorter than kinds 3 and 4.

    Return the parts of the payload.

    The parts lie in memory of this thread that the next call reuses.

    block : (time, frequency, ...) of any byte order and strides
    """
    table, lanes = dense.reused_table(block)
    gather_block(block, lanes, table)
    found = _whole_parts(block, table, lanes) if block.dtype.kind == "f" else None
    if found is None:
        return narrow.encode_narrow_table(table, lanes)
    if SURE * sum(part.size for part in found) < block.nbytes:
        return found
    own = np.concatenate(found)  # the next call reuses the memory of the parts
    others = narrow.encode_narrow_table(table, lanes)
    return (own,) if own.size <= sum(part.size for part in others) else others


def _whole_parts(block: NumpyArray, table: Words, lanes: Lanes) -> tuple[Payload, ...] | None:
    """Encode a block as integers; return the payload's parts, None if a sample shows none."""
    signs = find_signs(sampled_words(block))
    found = choose_form(table.ravel(), lanes, signs) if signs.any else None
    return None if found is None else encode_whole(*found, lanes)


def encode_whole(whole: Whole, predictor: int, lanes: Lanes) -> tuple[Payload, ...]:
    """Return the parts of the payload of a block of integers."""
    form, numbers, marks, odd = whole
    to_integer_residuals(numbers, TableRows.of(lanes), TERMS[predictor].ravel())
    least = least_integer(numbers)
    if odd.marked.size:
        put_marked(numbers, marks, least)
    predictors = np.full(lanes.n_strips * LANES, predictor, np.uint8)
    commonest = 1 - least if odd.marked.size == MOST_MARKED else None  # the second mark, unsigned
    starts = 0, start_exponent(numbers)
    choice = BlockChoice(NEAR, Grid(NO_GRID, 0), starts, commonest, predictors, True)
    values = numbers.view(f"u{numbers.itemsize}")
    head, *rest = dense.encode_values(values, lanes, choice, KIND)
    return write_form(form, odd), head[1:], *rest


def least_integer(numbers: NumpyArray) -> int:
    """Return the smallest integer of this dtype, which stands for the first marked word."""
    return -(1 << 8 * numbers.itemsize - 1)


def start_exponent(values: NumpyArray) -> int:
    """Return the median exponent of sampled positive values; 0 if there are none."""
    some = values[:: max(1, values.size // STARTS)].astype(np.float64)
    exponents = np.frexp(some[some > 0])[1] - 1
    return int(np.median(exponents)) if exponents.size else 0


def decode_integers(data: Payload, block: NumpyArray) -> None:
    """Fill a block (time, frequency, ...) of any byte order and strides from a payload of kind 5.

    Raises
    ------
    CorruptChunk : the payload is not a block of this kind, shape and dtype
    """
    table, lanes = dense.reused_table(block)
    form, odd, at = read_form(data, table.itemsize)
    numbers = _per_thread.array("numbers", table.size, f"u{form.itemsize}")[: table.size]
    predictors = dense.decode_values(data[at:], numbers.reshape(table.shape), lanes, True)
    code = int(predictors[0])
    if (predictors[: lanes.n_series] != code).any():
        raise CorruptChunk(NOT_WHOLE)
    _to_words(numbers.view(f"i{form.itemsize}"), form, odd, code, table.ravel(), lanes)
    scatter_block(table, lanes, block)


def _to_words(
    numbers: NumpyArray, form: Form, odd: OddWords, code: int, words: Words, lanes: Lanes
) -> None:
    """Decode words from residuals of integers; raise CorruptChunk if odd words are invalid.

    odd : words that no integer represents
    code : predictor
    """
    marks = _per_thread.array("marks", words.size, np.uint8)[: words.size]
    marks[:] = 0
    least = least_integer(numbers)
    n = from_integer_residuals(numbers, marks, TableRows.of(lanes), TERMS[code].ravel(), least)
    integers_to_words(numbers, form, words)
    marked = np.resize(np.append(odd.marked, words.dtype.type(0)), MOST_MARKED)
    taken = restore_odd(words, marks, marked, odd.apart) if n else 0
    if taken != odd.apart.size:
        raise CorruptChunk(NOT_WHOLE)


def encode_block(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode a block as kind 5, 4 or 3; see `encode_integers`."""
    return Encoded(encode_integers(block))


def decode_block(coded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Fill a block from a payload; see `decode_integers`."""
    decode_integers(coded.data, block)


CODING = BlockCoding(encode_block, decode_block, likely=raw.most_bytes, lends=True)
