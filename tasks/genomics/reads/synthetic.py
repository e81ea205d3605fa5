"""Synthetic reads: pairs from a random genome, with errors at the rates of their qualities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.nucleotides.codes import COMPLEMENT_OF_CODE, LETTER_OF_CODE

Integers = npt.NDArray[np.int64]

BEST, WORST = 40, 8  # Phred values


class MadeReads(NamedTuple):
    """Synthetic paired reads as FASTQ, and the genome they were drawn from.

    Attributes
    ----------
    first, second : FASTQ text
    genome : bases in ASCII
    """

    first: bytes
    second: bytes
    genome: bytes


def make_reads(
    n_pairs: int, length: int = 100, *, genome: int = 20_000, insert: int = 300, seed: int = 1
) -> MadeReads:
    """Draw random pairs of reads from both strands of a random circular genome.

    The result depends on the arguments alone.

    Parameters
    ----------
    n_pairs, length : number of pairs, and bases of each mate
    genome : bases of the random genome
    insert : bases from the outer end of one mate to the outer end of the other
    seed : seed of the random numbers
    """
    rng = np.random.default_rng(seed)
    letters = rng.integers(0, 4, genome)
    starts, strands = rng.integers(0, genome, n_pairs), rng.integers(0, 2, n_pairs)
    ahead = (starts[:, None] + np.arange(length)) % genome
    behind = (starts[:, None] + insert - 1 - np.arange(length)) % genome
    mates = letters[ahead], COMPLEMENT_OF_CODE[letters[behind]]
    pair = [np.where(strands[:, None] == i, *mates) for i in (0, 1)]
    tiles = np.sort(rng.integers(1101, 1119, n_pairs))
    texts = [_text(rng, codes, tiles, which) for which, codes in enumerate(pair, 1)]
    return MadeReads(texts[0], texts[1], LETTER_OF_CODE[letters].tobytes())


def _text(rng: np.random.Generator, codes: Integers, tiles: Integers, mate: int) -> bytes:
    """Return the FASTQ text of reads, base codes (n, length), with random errors.

    `tiles` (n,) are the tile numbers in their names.
    """
    n, length = codes.shape
    fall = np.linspace(0, 8, length) * rng.random((n, 1))
    qualities = np.clip(BEST - fall - rng.exponential(1.5, codes.shape), WORST, BEST).astype(int)
    is_wrong = rng.random(codes.shape) < 10 ** (-qualities / 10)
    codes = np.where(is_wrong, (codes + rng.integers(1, 4, codes.shape)) % 4, codes)
    unread = rng.random(codes.shape) < 1e-4
    sequences = LETTER_OF_CODE[np.where(unread, NOT_A_BASE, codes)]
    letters = (33 + np.where(unread, 2, qualities)).astype(np.uint8)
    records = (
        b"@MADE:7:%d:%d/%d\n%s\n+\n%s\n"
        % (tiles[i], i, mate, bytes(sequences[i]), bytes(letters[i]))
        for i in range(n)
    )
    return b"".join(records)
