"""Vectorised construction of lines from slices of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.codes import COMPLEMENT_OF_LETTER
from gangsaw.codecs.core.ragged import offsets_of
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
    begins = firsts.ravel()
    slices = Ragged.gather(text, begins, begins + lengths.ravel())
    return slices.join_rows(firsts.shape[1])


def ragged_of(texts: Sequence[str]) -> Ragged:
    """Return ASCII texts as a ragged array of bases."""
    data = np.frombuffer("".join(texts).encode("ascii"), np.uint8)
    return Ragged(data, offsets_of([len(text) for text in texts]))


def together(parts: Sequence[Ragged]) -> tuple[Bases, list[Ints]]:
    """Concatenate the bases of several sets of lines; return them and each set's line starts."""
    shifts = np.cumsum([0, *(part.data.size for part in parts)])
    starts = [part.offsets[:-1] + shift for part, shift in zip(parts, shifts[:-1], strict=True)]
    return np.concatenate([part.data for part in parts]), starts


def other_strands(lines: Ragged) -> Ragged:
    """Return the reverse complement of each sequence of bases."""
    turned = lines.reverse_rows()
    return Ragged(COMPLEMENT_OF_LETTER[turned.data], turned.offsets)
