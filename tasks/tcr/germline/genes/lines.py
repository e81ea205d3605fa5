"""Vectorised construction of lines from slices of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.codes import COMPLEMENT_OF_LETTER
from gangsaw.tasks.genomics.sequences.ragged import Ragged

Ints = NDArray[np.int64]
Bases = NDArray[np.uint8]


def concatenate_slices(text: Bases, firsts: Ints, lengths: Ints) -> Ragged:
    """Return lines, each of which concatenates slices of a text.

    Parameters
    ----------
    text : (m,) uint8
        Bases to copy from.
    firsts, lengths : (n, slices) int64
        Start and length of each slice.
    """
    flat = lengths.ravel()
    ends = np.cumsum(flat)
    total = int(ends[-1]) if ends.size else 0
    at = np.arange(total) + np.repeat(firsts.ravel() - ends + flat, flat)
    offsets = np.concatenate(([0], np.cumsum(lengths.sum(axis=1))))
    return Ragged(text[at], offsets)


def ragged_of(texts: Sequence[str]) -> Ragged:
    """Return ASCII texts as a ragged array of bases."""
    data = np.frombuffer("".join(texts).encode("ascii"), np.uint8)
    return Ragged(data, np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=int))))


def together(parts: Sequence[Ragged]) -> tuple[Bases, list[Ints]]:
    """Concatenate the bases of several sets of lines; return them and each set's line starts."""
    shifts = np.cumsum([0, *(part.data.size for part in parts)])
    starts = [part.offsets[:-1] + shift for part, shift in zip(parts, shifts[:-1], strict=True)]
    return np.concatenate([part.data for part in parts]), starts


def other_strands(lines: Ragged) -> Ragged:
    """Return the reverse complement of each sequence of bases."""
    lengths = lines.lengths
    mirror = np.repeat(lines.offsets[:-1] + lines.offsets[1:] - 1, lengths)
    return Ragged(
        COMPLEMENT_OF_LETTER[lines.data[mirror - np.arange(lines.data.size)]], lines.offsets
    )


def some(lines: Ragged, which: Ints) -> Ragged:
    """Return the lines with the given numbers, which may repeat."""
    return concatenate_slices(lines.data, lines.offsets[which, None], lines.lengths[which, None])
