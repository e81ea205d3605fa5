"""Detection of blocks that may hold integers, from sampled words; NumPy only, as for a device."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.visibility.arrays import Words

SAMPLED = 256  # words of a block
LEAST_SHARE = 0.9  # least share of sampled words on a grid
# step of the first look at the sample; share that must be on a grid there
GLANCED, LIKELY_SHARE = 8, 0.7
LEAST_ZEROS = 6  # trailing zero bits of words: by chance, one word in 64 has them
STEP = 2654435761  # step between sampled words, modulo their number: Knuth's prime
FEW = 64  # most distinct values of a sample that suggest a palette
# largest integers of floats, by their bytes, with precision to spare
LARGEST = {4: 1 << 24, 8: 1 << 50}
DECIMALS = 10  # digits after the point to try


class Decimals(NamedTuple):
    """Grid of decimals, floats = integers * factor / divisor, with the sampled integers."""

    factor: float
    divisor: float
    numbers: npt.NDArray[np.int64]


class Signs(NamedTuple):
    """Signs that a block holds integers, estimated from a sample.

    Attributes
    ----------
    grid : grid of decimals; None if too few words are on one
    has_zeros : True if most words end with zero bits
    has_few : True if there are few distinct values
    """

    grid: Decimals | None
    has_zeros: bool
    has_few: bool

    @property
    def any(self) -> bool:
        """True if the block may hold integers."""
        return self.grid is not None or self.has_zeros or self.has_few


def find_signs(words: Words) -> Signs:
    """Return the properties of a block from (n,) of its words."""
    low = words.astype(np.uint64) & np.uint64((1 << LEAST_ZEROS) - 1)
    has_zeros = bool(np.mean(low == 0) >= LEAST_SHARE)
    has_few = np.unique(words).size <= min(FEW, words.size // 4)
    return Signs(find_grid(words), has_zeros, has_few)


@lru_cache
def _grids(word_bytes: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return factors and divisors of the grids: decimals as quotients, then as products."""
    powers = 10.0 ** np.arange(DECIMALS)
    inverses = np.array([f"1e-{i}" for i in range(1, DECIMALS)], f"f{word_bytes}").astype("f8")
    ones = np.ones(DECIMALS)
    return np.append(ones, inverses), np.append(powers, ones[1:])


def find_grid(words: Words) -> Decimals | None:
    """Return the coarsest grid that fits most of (n,) words, None if there is none."""
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
        if not some.size:  # the case of most data
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
    """Return the integers of (n, 1) floats on each grid of decimals, and a mask of exact ones."""
    wholes = np.floor(x * (divisors / factors) + 0.5)
    same = (wholes * factors / divisors).astype(f"f{word_bytes}") == x
    return wholes, same & (np.abs(wholes) < LARGEST[word_bytes])


def _coarsest(factor: float, divisor: float, numbers: npt.NDArray[np.int64]) -> Decimals:
    """Return the grid with the common factor of the sampled integers moved into its step."""
    common = max(1, int(np.gcd.reduce(numbers)))
    return Decimals(factor * common, divisor, numbers // common)


def sampled_words(block: NumpyArray) -> Words:
    """Return (n,) sampled words of a block of real floats of any byte order."""
    return native_words(block[sampled_indices(block.shape)])


@lru_cache(maxsize=64)
def sampled_indices(shape: tuple[int, ...]) -> tuple[npt.NDArray[np.intp], ...]:
    """Return the indices of the sampled numbers of a block."""
    size = int(np.prod(shape))
    flat = np.sort(np.arange(min(SAMPLED, size), dtype=np.int64) * STEP % size)  # over all axes
    return tuple(axis.astype(np.intp) for axis in np.unravel_index(flat, shape))


def native_words(floats: NumpyArray) -> Words:
    """Return (n,) real floats of any byte order as words in native byte order."""
    plain = np.ascontiguousarray(floats)
    kind = np.dtype(f"u{plain.itemsize}")
    return plain.view(kind.newbyteorder(plain.dtype.byteorder)).astype(kind, copy=False)
