"""Simulated long reads of a sample that differs from its reference, with true positions of bases.

The reference is a real genome with tandem repeats put in and stretches replaced by N. The sample
has the same repeats with other numbers of copies, some that the reference lacks, insertions and
deletions of 50 to 5,000 bases, and substitutions. Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.genomics.align.sets.pairs import Codes

UNKNOWN = 4  # the code of N
NOWHERE = -1  # position of a base that the reference lacks
UNITS, COPIES = (8, 60), (10, 150)  # bases of a repeat's unit, and how many of them
DIVERGENCES = (0.0, 0.01, 0.03)  # of a repeat's copies
REPEAT_EVERY, CHANGE_EVERY, GAP_EVERY = 30_000, 25_000, 60_000  # bases, on average
CHANGES, GAPS = (50, 5000), (10, 5000)  # bases of an insertion or deletion, and of a run of N
MARGIN = 2000  # bases between two of these
SUBSTITUTIONS = 0.001  # of the sample
READ_LENGTHS = (10_000, 100_000)
ERRORS = {"hifi": 0.002, "ont": 0.05}

Positions = npt.NDArray[np.int64]


class Sample(NamedTuple):
    """A reference and a sample of it.

    Attributes
    ----------
    reference : (n,) uint8, codes
    codes : (m,) uint8, of the sample
    positions : (m,) int64, of its bases in the reference, or NOWHERE
    """

    reference: Codes
    codes: Codes
    positions: Positions


class LongRead(NamedTuple):
    """A read.

    Attributes
    ----------
    codes : (n,) uint8
    positions : (n,) int64, of its bases in the reference, or NOWHERE
    is_reverse : whether it is the reverse complement of the reference
    """

    codes: Codes
    positions: Positions
    is_reverse: bool


def simulate_sample(genome: Codes, seed: int) -> Sample:
    """Return a sample of a genome, codes (n,) uint8; its own N are replaced by bases at random."""
    rng = np.random.default_rng(seed)
    genome = np.where(genome < UNKNOWN, genome, _random(genome.size, rng))
    reference: list[Codes] = []
    sample: list[tuple[Codes, Positions]] = []
    done, size = 0, 0
    for position, kind in _events(genome.size, rng):
        if position < done:
            continue
        size = _copy(genome[done:position], size, reference, sample)
        done = position
        if kind == "repeat":
            repeat = _repeat(rng)
            kept = _kept_copies(rng)
            reference.append(repeat.data)
            sample += _other_copies(repeat, kept, size, rng)
            size += repeat.data.size
        elif kind == "new repeat":
            repeat = _repeat(rng)
            sample.append((repeat.data, np.full(repeat.data.size, NOWHERE)))
        elif kind == "insertion":
            own = _random(_length(rng, CHANGES), rng)
            sample.append((own, np.full(own.size, NOWHERE)))
        elif kind == "deletion":
            own = genome[done : done + _length(rng, CHANGES)]
            reference.append(own)
            done, size = done + own.size, size + own.size
        else:
            own = genome[done : done + _length(rng, GAPS)]
            sample.append((own, np.arange(size, size + own.size)))
            reference.append(np.full(own.size, UNKNOWN, np.uint8))
            done, size = done + own.size, size + own.size
    _copy(genome[done:], size, reference, sample)
    codes = np.concatenate([own for own, _ in sample])
    positions = np.concatenate([own for _, own in sample])
    is_other = rng.random(codes.size) < SUBSTITUTIONS
    codes[is_other] = (codes[is_other] + rng.integers(1, 4, int(is_other.sum()))) % 4
    return Sample(np.concatenate(reference), codes, positions)


def simulate_reads(sample: Sample, kind: str, n: int, seed: int) -> Iterator[LongRead]:
    """Yield n reads with the errors of a kind, one of ERRORS; their lengths are log-uniform."""
    for number in range(n):
        rng = np.random.default_rng((seed, number))
        size = min(_length(rng, READ_LENGTHS), sample.codes.size)
        begin = int(rng.integers(0, sample.codes.size - size + 1))
        part = slice(begin, begin + size)
        yield _with_errors(
            sample.codes[part], sample.positions[part], ERRORS[kind], rng.random() < 0.5, rng
        )


def _events(size: int, rng: np.random.Generator) -> list[tuple[int, str]]:
    """Return positions and kinds of what is put into a genome, MARGIN bases apart at least."""
    rates = {
        "repeat": 1 / REPEAT_EVERY,
        "new repeat": 0.25 / REPEAT_EVERY,
        "insertion": 0.5 / CHANGE_EVERY,
        "deletion": 0.5 / CHANGE_EVERY,
        "gap": 1 / GAP_EVERY,
    }
    found = [
        (int(position), kind)
        for kind, rate in rates.items()
        for position in rng.integers(0, size, max(1, round(size * rate)))
    ]
    found.sort()
    apart: list[tuple[int, str]] = []
    for position, kind in found:
        if not apart or position >= apart[-1][0] + MARGIN:
            apart.append((position, kind))
    return apart


@dataclass(frozen=True)
class TandemRepeat:
    """Copies of a unit.

    Attributes
    ----------
    data : (n,) uint8, codes
    unit : bases of a copy, on average
    """

    data: Codes
    unit: int


def _repeat(rng: np.random.Generator) -> TandemRepeat:
    unit = _random(_length(rng, UNITS), rng)
    data = np.tile(unit, _length(rng, COPIES))
    is_other = rng.random(data.size) < rng.choice(DIVERGENCES)
    data[is_other] = rng.integers(0, 4, int(is_other.sum()))
    return TandemRepeat(data, unit.size)


def _kept_copies(rng: np.random.Generator) -> float:
    """Return the share of a repeat's copies that the sample has: up to half more, or fewer."""
    return float(rng.choice([1.0, rng.uniform(0.5, 1.0), rng.uniform(1.0, 1.5)]))


def _other_copies(
    repeat: TandemRepeat, share: float, first: int, rng: np.random.Generator
) -> list[tuple[Codes, Positions]]:
    """Return a repeat with some of its copies lost or doubled; `first` is its position."""
    data, positions = repeat.data, np.arange(first, first + repeat.data.size)
    n = data.size // repeat.unit
    changed = round(abs(share - 1.0) * n)
    begin = int(rng.integers(0, n - changed + 1)) * repeat.unit
    end = begin + changed * repeat.unit
    if share <= 1.0:
        return [(data[:begin], positions[:begin]), (data[end:], positions[end:])]
    again = data[begin:end].copy(), np.full(end - begin, NOWHERE)
    return [(data[:end], positions[:end]), again, (data[end:], positions[end:])]


def _copy(
    genome: Codes, first: int, reference: list[Codes], sample: list[tuple[Codes, Positions]]
) -> int:
    """Add bases that both have, from a position in the reference on; return the position behind."""
    reference.append(genome)
    sample.append((genome, np.arange(first, first + genome.size)))
    return first + genome.size


def _with_errors(
    codes: Codes, positions: Positions, rate: float, is_reverse: bool, rng: np.random.Generator
) -> LongRead:
    """Return a read with errors: substitutions, insertions and deletions, a third of them each."""
    draw = rng.random(codes.size)
    is_other = draw < rate / 3
    codes = np.where(is_other, (codes + rng.integers(1, 4, codes.size)) % 4, codes)
    times = np.where(draw > 1 - rate / 3, 0, np.where(draw > 1 - 2 * rate / 3, 2, 1))
    index = np.repeat(np.arange(codes.size), times)
    is_new = np.concatenate(([False], index[1:] == index[:-1]))
    codes = np.where(is_new, rng.integers(0, 4, index.size), codes[index]).astype(np.uint8)
    positions = np.where(is_new, NOWHERE, positions[index])
    if is_reverse:
        codes, positions = (3 - codes[::-1]).astype(np.uint8), positions[::-1]
    return LongRead(codes, positions, is_reverse)


def _length(rng: np.random.Generator, bounds: tuple[int, int]) -> int:
    """Return a length between bounds, each order of magnitude as often."""
    return int(np.exp(rng.uniform(np.log(bounds[0]), np.log(bounds[1]))))


def _random(n: int, rng: np.random.Generator) -> Codes:
    return rng.integers(0, 4, n).astype(np.uint8)
