"""Choice of form and predictor for the integer encoder: fewest bits in a sample."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.memory.per_thread import ThreadScratch
from gangsaw.codecs.visibility.arrays import Words
from gangsaw.codecs.visibility.dense.model.predict import PREDICTORS
from gangsaw.codecs.visibility.integers.form import (
    BITS,
    LONG,
    MOST,
    MOST_MARKED,
    MOST_VALUES,
    PALETTE,
    QUOTIENT,
    SHORT,
    Form,
    OddWords,
)
from gangsaw.codecs.visibility.integers.predict import (
    CLASSES,
    TERMS,
    count_classes,
    fill_marked,
    sampled_rows,
)
from gangsaw.codecs.visibility.integers.sample import Signs
from gangsaw.codecs.visibility.integers.words import count_values, new_slots, to_integers
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

SAMPLED_WORDS = 2048  # words sampled to count trailing zero bits
LEAST_SHARE = 0.97  # least share of words with these zeros
APART, FIELD = 12, 13  # bits of an escape in addition to its word; bits of a symbol in a table
COUNTS = TERMS.ravel()

_per_thread = ThreadScratch()


class Whole(NamedTuple):
    """Block of floats as integers.

    Attributes
    ----------
    form : formula or list that turns integers into floats
    numbers, marks : (n,) integers; (n,) uint8, for odd words 1 and 2 by their mark, 3 for others
    odd : words that no integer represents
    """

    form: Form
    numbers: NumpyArray
    marks: npt.NDArray[np.uint8]
    odd: OddWords


def choose_form(words: Words, lanes: Lanes, signs: Signs) -> tuple[Whole, int] | None:
    """Return (n,) words as integers of the best form, and its predictor; None without a form."""
    best, least, last = None, np.inf, None
    for form in _forms(words, signs):
        last = as_integers(words, form)
        cost, predictor = _cost(last, lanes)
        if cost < least:
            least, best = cost, (form, predictor)
    if best is None or last is None:
        return None
    return (last if last.form is best[0] else as_integers(words, best[0])), best[1]


def as_integers(words: Words, form: Form) -> Whole:
    """Return words as integers of a form, in memory of this thread that the next call reuses."""
    numbers = _per_thread.array("numbers", words.size, f"i{form.itemsize}")[: words.size]
    marks = _per_thread.array("marks", words.size, np.uint8)[: words.size]
    odd = OddWords(words[:0], words[:0])
    if to_integers(words, form, numbers, marks):
        odd = _mark(words, marks)
        fill_marked(numbers, marks)
    return Whole(form, numbers, marks, odd)


def _mark(words: Words, marks: npt.NDArray[np.uint8]) -> OddWords:
    """Set marks of odd words (those without an integer), the most frequent first; return them."""
    places = np.flatnonzero(marks)
    odd = words[places]
    values, counts = _values(odd)
    order = np.lexsort((values, -counts))[:MOST_MARKED]
    marked = values[order]
    own = np.full(odd.size, 3, np.uint8)
    for number, word in enumerate(marked):
        own[odd == word] = number + 1
    marks[places] = own
    return OddWords(marked, odd[own == 3])


def _values(words: Words) -> tuple[Words, npt.NDArray[np.int64]]:
    """Return the distinct values of words, ascending, up to a limit, and their counts."""
    slots, found = new_slots(words.dtype)
    count_values(words, slots, found)
    there = np.flatnonzero(found >= 0)
    order = np.argsort(slots[there])
    return slots[there][order], found[there][order].astype(np.int64)


def _forms(words: Words, signs: Signs) -> Iterator[Form]:
    """Yield the candidate forms of integers from the properties of a sample."""
    word_bytes = words.itemsize
    if signs.grid is not None:
        factor, divisor, numbers = signs.grid
        yield _based(Form(QUOTIENT, 0, 0, factor=factor, divisor=divisor), numbers, word_bytes)
    palettes = list(_palettes(words)) if signs.has_few else []
    yield from palettes
    if signs.has_zeros and not palettes:  # palettes also close the gaps between values
        some = words[:: max(1, words.size // SAMPLED_WORDS)]
        shift = usual_zeros(some)
        yield _based(Form(BITS, 0, 0, shift), _ordered(some, shift), word_bytes)


def _based(form: Form, numbers: npt.NDArray[np.int64], word_bytes: int) -> Form:
    """Return the form with the median as base, and the integer width that fits the numbers."""
    base = int(np.partition(numbers, numbers.size // 2)[numbers.size // 2])
    is_short = word_bytes < LONG or 2 * int(np.abs(numbers - base).max()) < MOST[SHORT]
    return form._replace(itemsize=SHORT if is_short else LONG, base=base)


def usual_zeros(words: Words) -> int:
    """Return the number of trailing bits that are 0 in nearly all words; less than their width."""
    share, width, wide = LEAST_SHARE * words.size, 8 * words.itemsize, words.astype(np.uint64)
    zeros = 0
    while zeros < width - 2 and np.count_nonzero(wide & np.uint64((2 << zeros) - 1) == 0) >= share:
        zeros += 1
    return zeros


def _ordered(words: Words, shift: int) -> npt.NDArray[np.int64]:
    """Return words without low bits as integers in the order of the floats."""
    high = words.view(f"i{words.itemsize}").astype(np.int64) >> shift
    return high ^ (high >> 63 & ((1 << (8 * words.itemsize - 1 - shift)) - 1))


def _palettes(words: Words) -> Iterator[Form]:
    """Yield palette forms if distinct values are few: by value, and by frequency."""
    values, counts = _values(words)
    if values.size > MOST_VALUES or counts.sum() < words.size:
        return
    ordered = values[np.argsort(_ordered(values, 0))]
    middle = int(np.searchsorted(np.cumsum(counts), words.size // 2))
    yield Form(PALETTE, SHORT, min(middle, values.size - 1), values=ordered)
    frequent = values[np.lexsort((values, -counts))]
    yield Form(PALETTE, SHORT, frequent[1::2].size, values=_from_middle(frequent))


def _from_middle(values: Words) -> Words:
    """Return values with the first in the middle, and the next alternating before and after it."""
    return np.concatenate([values[1::2][::-1], values[:1], values[2::2]])


def _cost(whole: Whole, lanes: Lanes) -> tuple[float, int]:
    """Return the approximate bits of a block as integers, and the predictor with the fewest."""
    counts, codes = np.zeros((len(PREDICTORS), CLASSES), np.int64), _codes(lanes)
    row = _per_thread.array("row", LANES, whole.numbers.dtype.str[1:])
    count_classes(
        whole.numbers, whole.marks, sampled_rows(lanes, codes.size), COUNTS, codes, row, counts
    )
    bits = class_bits(counts[codes])
    best = int(bits.argmin())
    word_bits = 8 * whole.odd.apart.itemsize
    besides = whole.odd.apart.size * (APART + word_bits) + whole.form.values.size * word_bits
    share = whole.numbers.size / max(1, int(counts[0].sum()))
    return float(bits[best]) * share + besides, int(codes[best])


@lru_cache(maxsize=64)
def _codes(lanes: Lanes) -> npt.NDArray[np.int64]:
    """Return the codes of predictors that use no neighbour that all strips lack.

    Strips may have a single time or frequency.
    """
    n_steps = lanes.n_times, lanes.n_frequencies
    differ = [
        all(terms[i] == 0 for terms in PREDICTORS[code] for i in (0, 1) if n_steps[i] < 2)
        for code in range(len(PREDICTORS))
    ]
    return np.flatnonzero(differ)


def class_bits(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the approximate bits of residuals under each predictor, from counts by class.

    They include symbols, tables, and extra bits.

    counts : (predictors, CLASSES)
    """
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    symbols = (counts * np.log2(total / np.maximum(counts, 1))).sum(axis=1)
    lengths = np.maximum(np.arange(CLASSES) // 4 - 3, 0)
    return np.asarray(symbols + counts @ lengths + FIELD * (counts > 0).sum(axis=1))
