"""Symbols of ranks and lengths with extra bits, and the contexts that select their tables.

The adaptive state of a lane is one smoothed rank, and for each symbol of the text one byte that
summarizes its last ranks and lengths. SPEC.md, "Fast".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import UInt64
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit

EXACT = 8  # numbers below this are symbols of their own; above, two symbols per octave
RANKS, LENGTHS = 0, 1  # kinds of tables
N_SYMBOLS = 18, 48  # ranks up to 255, lengths up to 2^23: SPEC.md
CONTEXTS = 64  # of each kind
WIDTH = 64  # symbol slots per context; a token is context * WIDTH + symbol
TOKENS = CONTEXTS * WIDTH
CLASSES = 8
BOUNDS = 40, 110, 200, 320, 460, 640, 900  # bounds of classes of smoothed ranks
MOST_SMOOTHED = 1100

Table = npt.NDArray[np.uint8]


@jit(inline=True, part=True, norefs=True)
def number_to_symbol(value: UInt64) -> Any:
    """Return the coding symbol of a rank or length - 1: exact below EXACT, else half an octave."""
    if value < EXACT:
        return np.int64(value)
    octave = 63 - np.int64(leading_zeros(np.uint64(value)))
    return 2 * octave + 2 + (np.int64(value) >> octave - 1 & 1)


@jit(inline=True, part=True, norefs=True)
def bits_below(symbol: UInt64) -> Any:
    """Return the number of extra bits that follow a symbol >= EXACT."""
    return (np.int64(symbol) - 4) >> 1


@jit(inline=True, part=True, norefs=True)
def get_least_number(symbol: UInt64) -> Any:
    """Return the smallest number that a symbol >= EXACT stands for."""
    return (2 | np.int64(symbol) & 1) << bits_below(symbol)


def symbols_of(n: int) -> Table:
    """Return the coding symbols of the numbers 0 to n - 1, (n,) uint8."""
    numbers = np.arange(n)
    octave = np.floor(np.log2(np.maximum(1, numbers))).astype(np.int64)  # exact, as n is small
    coarse = 2 * octave + 2 + (numbers >> np.maximum(0, octave - 1) & 1)
    return np.where(numbers < EXACT, numbers, coarse).astype(np.uint8)


def _octaves() -> npt.NDArray[np.int64]:
    """Build the table of floor(log2(1 + least number of each symbol)), (WIDTH,) int64."""
    symbols = np.arange(WIDTH)
    below = np.maximum(0, symbols - 4) >> 1
    least = np.where(symbols < EXACT, symbols, (2 | symbols & 1) << below)
    return np.array([int(value + 1).bit_length() - 1 for value in least])


def _smooth_steps() -> npt.NDArray[np.int16]:
    """Build the table of what each rank symbol contributes to the average rank, (WIDTH,) int16."""
    steps = 100 * np.arange(WIDTH)
    steps[EXACT], steps[EXACT + 1 :] = 900, MOST_SMOOTHED
    return steps.astype(np.int16)


def _classes() -> Table:
    """Build the table of CLASSES times the class of an average rank, (MOST_SMOOTHED + 1,) uint8."""
    found = np.searchsorted(BOUNDS, np.arange(MOST_SMOOTHED + 1), side="right")
    return (CLASSES * found).astype(np.uint8)


def _next_classes() -> Table:
    """Build the table of a text symbol's next adaptive class, by class and coded symbol.

    It is (CLASSES * WIDTH,) uint8.
    """
    smoothed_class, octave = np.arange(CLASSES)[:, None], _octaves()[None]
    following = 2 * smoothed_class + np.where(octave > 0, 4 * octave + 3, 1) >> 2
    table: Table = np.minimum(CLASSES - 1, following).astype(np.uint8).ravel()
    return table


def _rank_classes() -> Table:
    """Build the table of classes of rank symbols, for contexts of lengths, (WIDTH,) uint8."""
    return np.searchsorted((1, 2, 3, 7, 10), np.arange(WIDTH), side="right").astype(np.uint8)


STEP, CLASS, RANK_CLASS = _smooth_steps(), _classes(), _rank_classes()
NEXT_CLASS = _next_classes()  # adaptive classes of ranks
NEXT_LENGTH_CLASS = CLASSES * NEXT_CLASS  # shifted to its bits in the state byte


@jit(inline=True, part=True, norefs=True)
def rank_context(smoothed: np.uint64, symbol_state: int) -> Any:
    """Return the context for the next rank, from the lane's average rank and the symbol's state."""
    return np.uint64(CLASS[smoothed]) | np.uint64(symbol_state) & np.uint64(CLASSES - 1)


@jit(inline=True, part=True, norefs=True)
def length_context(symbol_state: int, rank: np.uint64) -> Any:
    """Return the context for the length of a run, from its symbol's state and its rank symbol."""
    return np.uint64(symbol_state) & np.uint64(56) | np.uint64(RANK_CLASS[rank])


@jit(inline=True, part=True, norefs=True)
def update_symbol_state(symbol_state: int, rank: np.uint64, length: np.uint64) -> Any:
    """Return the adaptive state of a text symbol after a run with these rank and length symbols."""
    of_ranks = (np.uint64(symbol_state) & np.uint64(7)) << np.uint64(6) | np.uint64(rank)
    of_lengths = (np.uint64(symbol_state) & np.uint64(56)) << np.uint64(3) | np.uint64(length)
    return NEXT_CLASS[of_ranks] | NEXT_LENGTH_CLASS[of_lengths]
