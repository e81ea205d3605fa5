"""Simulated reads: mates from both ends of a fragment, with errors according to their qualities.

A fragment is the end of a molecule, which has the whole V, the junction and J up to its end. Both
strands are equally likely, so the first mate may begin in J or in V.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import CODES, LETTER_OF_CODE
from gangsaw.codecs.core.plugins.parameters import require_int
from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.tcr.germline.genes.lines import (
    Bases,
    Ints,
    concatenate_slices,
    other_strands,
    ragged_of,
    together,
)
from gangsaw.tasks.tcr.simulation.references import RandomReferences
from gangsaw.tasks.tcr.simulation.table import PREFIX, molecules

RUN = 1 << 12  # read pairs that are simulated at once
GOOD, BAD = 40, 10  # Phred values: one error in 10,000 bases, and in 10
LOWEST, HIGHEST = 0.0001, 0.06  # mean error rates of possible mixtures of these
PHRED = 33
TEXTS = ("@", ".", "\n", "\n+\n", "\n")


@dataclass(frozen=True)
class ReadsMade:
    """Parameters of simulated reads.

    Parameters
    ----------
    length : int, default 150
        Bases of a mate, fewer if the fragment is shorter.
    insert : int, default 250
        Bases of a fragment; shorter molecules are whole fragments.
    errors : float, default 0.01
        Mean rate of substitutions: 0, or 0.0001..0.06. Qualities are Q40 and Q10, each base is
        wrong at the rate of its quality, and the share of Q10 rises towards the end.

    Raises
    ------
    BadParams
        A value is outside its range.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> tcr.ReadsMade(length=100).insert
    250
    """

    length: int = 150
    insert: int = 250
    errors: float = 0.01

    def __post_init__(self) -> None:
        """Raise `BadParams` for numbers out of range."""
        require_int("length", self.length, 1, 100_000)
        require_int("insert", self.insert, 1, 100_000)
        if self.errors and not LOWEST <= self.errors <= HIGHEST:
            raise BadParams(f"errors must be 0 or {LOWEST}..{HIGHEST}, got {self.errors}")


class MateTexts(NamedTuple):
    """FASTQ text of first and of second mates."""

    first: bytes
    second: bytes


def mates_of(references: RandomReferences, made: ReadsMade, seed: int) -> Iterator[MateTexts]:
    """Yield the reads of references, one pair per copy.

    Pairs are named r17.3: copy 3 of reference r17.
    """
    rng = np.random.default_rng([seed, references.first, 1])
    whole = molecules(references)
    owner = np.repeat(np.arange(len(references)), references.copies)
    ends = np.cumsum(references.copies)
    copy = np.arange(owner.size) - np.repeat(ends - references.copies, references.copies)
    for at in range(0, owner.size, RUN):
        own = slice(at, at + RUN)
        names = [
            f"{PREFIX}{references.first + r}.{c}"
            for r, c in zip(owner[own].tolist(), copy[own].tolist(), strict=True)
        ]
        yield _texts(rng, ragged_of(names), _mates(rng, whole, owner[own], made), made)


def _mates(
    rng: np.random.Generator, molecules: Ragged, which: Ints, made: ReadsMade
) -> tuple[Ragged, Ragged]:
    """Return first and second mates without errors, of the molecules with these numbers."""
    begins, ends = molecules.offsets[which], molecules.offsets[which + 1]
    begins = np.maximum(begins, ends - made.insert)
    length = np.minimum(ends - begins, made.length)
    left = Ragged.gather(molecules.data, begins, begins + length)
    right = other_strands(Ragged.gather(molecules.data, ends - length, ends))
    turned = rng.integers(0, 2, which.size).astype(bool)
    text, (of_left, of_right) = together([left, right])
    first, second = np.where(turned, of_right, of_left), np.where(turned, of_left, of_right)
    return Ragged.gather(text, first, first + length), Ragged.gather(text, second, second + length)


def _texts(
    rng: np.random.Generator, names: Ragged, mates: tuple[Ragged, Ragged], made: ReadsMade
) -> MateTexts:
    found = [_with_errors(rng, mate, made.errors) for mate in mates]
    return MateTexts(*(_fastq(names, *lines) for lines in found))


def _with_errors(rng: np.random.Generator, lines: Ragged, rate: float) -> tuple[Ragged, Ragged]:
    """Return reads with random substitutions, and their qualities in FASTQ encoding."""
    bad = rng.random(lines.data.size) < _share_of_bad(lines, rate)
    quality = np.where(bad, BAD, GOOD)
    chance = 10.0 ** (-quality / 10) if rate else np.zeros(quality.size)
    wrong = rng.random(quality.size) < chance
    shift = rng.integers(1, 4, quality.size)
    codes = CODES[lines.data]
    letters: Bases = LETTER_OF_CODE[np.where(wrong, (codes + shift) % 4, codes)]
    return Ragged(letters, lines.offsets), Ragged((quality + PHRED).astype(np.uint8), lines.offsets)


def _share_of_bad(lines: Ragged, rate: float) -> NDArray[np.float64]:
    """Return the probability of low quality of each base; it rises threefold along a read."""
    good, bad = 10.0 ** (-GOOD / 10), 10.0 ** (-BAD / 10)
    mean = max(0.0, (rate - good) / (bad - good))
    lengths = lines.lengths
    place = np.arange(lines.data.size) - np.repeat(lines.offsets[:-1], lengths)
    along = (place + 0.5) / np.repeat(lengths, lengths)
    rising: NDArray[np.float64] = mean * (0.5 + along)
    return rising


def _fastq(names: Ragged, bases: Ragged, qualities: Ragged) -> bytes:
    """Return the FASTQ text of records."""
    n = len(names)
    at, _, newline, plus, _ = (signs := ragged_of(TEXTS))
    text, (sign, name, line, quality) = together([signs, names, bases, qualities])
    firsts = [np.full(n, sign[0]), name, np.full(n, sign[2]), line]
    firsts += [np.full(n, sign[3]), quality, np.full(n, sign[2])]
    fixed = [np.full(n, len(x)) for x in (at, newline, plus)]
    lengths = [fixed[0], names.lengths, fixed[1], bases.lengths, fixed[2], bases.lengths]
    lengths.append(fixed[1])
    return concatenate_slices(text, np.stack(firsts, 1), np.stack(lengths, 1)).data.tobytes()
