"""Whether a block may hold integers, by some of its words: NumPy alone, as for a device."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.visibility.arrays import Words

SAMPLED = 256  # words of a block
LEAST_SHARE = 0.9  # of them that are on a grid
GLANCED, LIKELY_SHARE = 8, 0.7  # every how many words are looked at first; of these
LEAST_ZEROS = 6  # bits that words end with: by chance one in 64 does
STEP = 2654435761  # from a sampled word to the next, modulo their number: Knuth's, prime
FEW = 64  # values of a sample that may be all of a block, or nearly
LARGEST = {4: 1 << 24, 8: 1 << 50}  # integers that floats of so many bytes hold and have bits left
DECIMALS = 10  # digits after the point that are looked for


class Decimals(NamedTuple):
    """Floats are integers times factor, divided by divisor; the numbers that were found to be."""

    factor: float
    divisor: float
    numbers: npt.NDArray[np.int64]


class Signs(NamedTuple):
    """What a sample says of a block.

    Attributes
    ----------
    grid : of decimals; None where too few are on one
    has_zeros : whether most words end with zeros
    has_few : whether there are few values
    """

    grid: Decimals | None
    has_zeros: bool
    has_few: bool

    @property
    def any(self) -> bool:
        """Whether the block may hold integers."""
        return self.grid is not None or self.has_zeros or self.has_few


def signs_of(words: Words) -> Signs:
    """Return what (n,) words say of the block that they are taken from."""
    low = words.astype(np.uint64) & np.uint64((1 << LEAST_ZEROS) - 1)
    has_zeros = bool(np.mean(low == 0) >= LEAST_SHARE)
    has_few = np.unique(words).size <= min(FEW, words.size // 4)
    return Signs(find_grid(words), has_zeros, has_few)


@lru_cache
def _grids(word_bytes: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return factors and divisors: decimals as quotients, then as products."""
    powers = 10.0 ** np.arange(DECIMALS)
    inverses = np.array([f"1e-{i}" for i in range(1, DECIMALS)], f"f{word_bytes}").astype("f8")
    ones = np.ones(DECIMALS)
    return np.append(ones, inverses), np.append(powers, ones[1:])


def find_grid(words: Words) -> Decimals | None:
    """Return the coarsest grid that most of (n,) words are on, None if there is none."""
    if words.itemsize not in LARGEST:
        return None
    floats = words.view(f"f{words.itemsize}")
    with np.errstate(all="ignore"):
        x = floats.astype(np.float64)
        x = x[np.isfinite(x)][:, None]
        if not x.size:
            return None
        factors, divisors = _grids(words.itemsize)
        _, same = _on_grids(x[::GLANCED], factors, divisors, words.itemsize)
        some = np.flatnonzero(same.mean(axis=0) >= LIKELY_SHARE)
        if not some.size:  # as of most data
            return None
        factors, divisors = factors[some], divisors[some]
        wholes, same = _on_grids(x, factors, divisors, words.itemsize)
    found = np.flatnonzero(same.mean(axis=0) >= LEAST_SHARE)
    if not found.size:
        return None
    best = int(found[0])
    numbers = wholes[same[:, best], best].astype(np.int64)
    return _coarsest(float(factors[best]), float(divisors[best]), numbers)


def _on_grids(
    x: npt.NDArray[np.float64],
    factors: npt.NDArray[np.float64],
    divisors: npt.NDArray[np.float64],
    word_bytes: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the numbers of (n, 1) floats on each grid, and whether they stand for these."""
    wholes = np.floor(x * (divisors / factors) + 0.5)
    same = (wholes * factors / divisors).astype(f"f{word_bytes}") == x
    return wholes, same & (np.abs(wholes) < LARGEST[word_bytes])


def _coarsest(factor: float, divisor: float, numbers: npt.NDArray[np.int64]) -> Decimals:
    """Return the grid of numbers that have no common factor."""
    common = max(1, int(np.gcd.reduce(numbers)))
    return Decimals(factor * common, divisor, numbers // common)


def sampled_words(block: NumpyArray) -> Words:
    """Return (n,) words, some of a block of real floats of any byte order."""
    return native_words(block[places_in(block.shape)])


@lru_cache(maxsize=64)
def places_in(shape: tuple[int, ...]) -> tuple[npt.NDArray[np.intp], ...]:
    """Return indices of the sampled numbers of a block."""
    size = int(np.prod(shape))
    flat = np.sort(np.arange(min(SAMPLED, size), dtype=np.int64) * STEP % size)  # of all axes
    return tuple(axis.astype(np.intp) for axis in np.unravel_index(flat, shape))


def native_words(floats: NumpyArray) -> Words:
    """Return the words of (n,) real floats of any byte order."""
    plain = np.ascontiguousarray(floats)
    kind = np.dtype(f"u{plain.itemsize}")
    return plain.view(kind.newbyteorder(plain.dtype.byteorder)).astype(kind, copy=False)
