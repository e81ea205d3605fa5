"""Conversion of words to the integers that represent them, and back, for each form.

A word that no integer represents is marked, and its integer is 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int32s, NumpyArray, Scalar
from gangsaw.codecs.core.numba.bits import fit
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.visibility.arrays import Words
from gangsaw.codecs.visibility.integers.form import BITS, MOST, MOST_VALUES, QUOTIENT, Form

SLOTS = 1 << 12  # slots of the hash table of values, at most a quarter full
HASH = np.uint64(0x9E3779B97F4A7C15)
HASH_SHIFT = np.uint64(64 - 12)
NOWHERE = -1


def to_integers(words: Words, form: Form, numbers: NumpyArray, marks: Bytes) -> int:
    """Fill integers and marks, 1 for words without an integer; return the number of marks.

    Parameters
    ----------
    words : (n,) unsigned
    numbers : (n,) signed, of the form's width
    marks : (n,) uint8
    """
    most = MOST[form.itemsize]
    if form.kind == BITS:
        signed = words.view(f"i{words.itemsize}")
        return int(_shift_down(signed, form.shift, form.base, most, numbers, marks))
    if form.kind == QUOTIENT:
        floats = words.view(f"f{words.itemsize}")
        grid = form.factor, form.divisor, float(form.base)
        return int(_divide(floats, words, grid, float(most), numbers, marks))
    slots, found = new_slots(words.dtype)
    for number, word in enumerate(form.values.tolist()):
        add_value(slots, found, words.dtype.type(word), number)
    return int(_find(words, slots, found, form.base, numbers, marks))


def integers_to_words(numbers: NumpyArray, form: Form, words: Words) -> None:
    """Fill (n,) words from the integers that represent them; any integers are valid."""
    if form.kind == BITS:
        _shift_up(numbers, form.shift, form.base, words.view(f"i{words.itemsize}"))
    elif form.kind == QUOTIENT:
        floats = words.view(f"f{words.itemsize}")
        _multiply(numbers, (form.factor, form.divisor, float(form.base)), floats)
    else:
        values = np.resize(form.values, MOST_VALUES)
        _look_up(numbers, form.base, values, words)


@jit(restrict=True)
def _shift_down(
    words: NumpyArray, shift: int, base: int, most: int, numbers: NumpyArray, marks: Bytes
) -> int:
    """Convert words to integers in the order of floats, without low bits, which must be 0."""
    n, low = 0, (1 << shift) - 1
    top = 8 * words.itemsize - 1 - shift
    for i in range(words.size):
        word = np.int64(words[i])
        high = word >> shift
        number = (high ^ ((high >> 63) & ((1 << top) - 1))) - base
        is_odd = (word & low != 0) | (abs(number) > most)
        numbers[i] = 0 if is_odd else number
        marks[i] = is_odd
        n += is_odd
    return n


@jit(restrict=True)
def _shift_up(numbers: NumpyArray, shift: int, base: int, words: NumpyArray) -> None:
    top = 8 * words.itemsize - 1 - shift
    for i in range(numbers.size):
        number = np.int64(numbers[i]) + base
        words[i] = (number ^ ((number >> 63) & ((1 << top) - 1))) << shift


@jit(restrict=True)
def _divide(
    floats: NumpyArray,
    words: NumpyArray,
    grid: tuple[float, float, float],
    most: float,
    numbers: NumpyArray,
    marks: Bytes,
) -> int:
    """Convert floats to integers by the step of their grid; mark those that it does not restore.

    grid : factor, divisor and base
    """
    factor, divisor, base = grid
    n, steps = 0, divisor / factor
    for i in range(floats.size):
        whole = np.floor(np.float64(floats[i]) * steps + 0.5)
        back = fit(whole * factor / divisor, floats[i])
        number = whole - base
        is_fit = (back == floats[i]) & (abs(number) <= most) & ((whole != 0) | (words[i] == 0))
        numbers[i] = number if is_fit else 0.0
        marks[i] = not is_fit
        n += not is_fit
    return n


@jit(restrict=True)
def _multiply(numbers: NumpyArray, grid: tuple[float, float, float], floats: NumpyArray) -> None:
    factor, divisor, base = grid
    for i in range(numbers.size):
        floats[i] = fit((np.float64(numbers[i]) + base) * factor / divisor, floats[i])


@jit
def _look_up(numbers: NumpyArray, base: int, values: NumpyArray, words: NumpyArray) -> None:
    """Decode indices of a value table: words[i] is values[numbers[i] + base], modulo its size."""
    for i in range(numbers.size):
        words[i] = values[(np.int64(numbers[i]) + base) & (MOST_VALUES - 1)]


def new_slots(dtype: npt.DTypeLike) -> tuple[NumpyArray, npt.NDArray[np.int32]]:
    """Return an empty hash table of words: slots for words, and for their numbers or NOWHERE."""
    return np.zeros(SLOTS, dtype), np.full(SLOTS, NOWHERE, np.int32)


@jit(inline=True)
def _slot(slots: NumpyArray, found: Int32s, word: Scalar) -> int:
    """Return the slot of a word in a hash table, or the empty slot to insert it."""
    at = np.int64((np.uint64(word) * HASH) >> HASH_SHIFT)
    while found[at] != NOWHERE and slots[at] != word:
        at = (at + 1) & (SLOTS - 1)
    return int(at)


@jit
def add_value(slots: NumpyArray, found: Int32s, word: Scalar, number: int) -> None:
    """Insert a word with its number into a hash table."""
    at = _slot(slots, found, word)
    slots[at], found[at] = word, number


@jit
def count_values(words: NumpyArray, slots: NumpyArray, found: Int32s) -> int:
    """Fill a hash table with the counts of (n,) words; return the number of distinct words.

    Counting stops after MOST_VALUES distinct words.
    """
    n = 0
    for i in range(words.size):
        at = _slot(slots, found, words[i])
        if found[at] == NOWHERE:
            n += 1
            if n > MOST_VALUES:
                return n
            slots[at], found[at] = words[i], 0
        found[at] += 1
    return n


@jit
def _find(
    words: NumpyArray,
    slots: NumpyArray,
    found: Int32s,
    base: int,
    numbers: NumpyArray,
    marks: Bytes,
) -> int:
    """Convert words to their numbers in a hash table, minus the base; mark words that it lacks."""
    n = 0
    for i in range(words.size):
        number = found[_slot(slots, found, words[i])]
        is_odd = number == NOWHERE
        numbers[i] = 0 if is_odd else number - base
        marks[i] = is_odd
        n += is_odd
    return n
