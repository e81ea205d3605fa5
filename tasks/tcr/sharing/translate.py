"""Translation of CDR3s to amino acids by the standard genetic code."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# for TTT, TTC, TTA, TTG, TCT, ...: NCBI's translation table 1
AMINO_ACIDS = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
UNKNOWN = "X"  # translation of a codon with a wildcard
_CODON_BASES = "TCAG"
_NONE = 64


def _digits() -> NDArray[np.uint8]:
    table = np.full(256, _NONE, np.uint8)
    for digit, letter in enumerate(_CODON_BASES):
        table[[ord(letter), ord(letter.lower())]] = digit
    return table


_DIGIT = _digits()
_OF_CODON = np.frombuffer((AMINO_ACIDS + UNKNOWN).encode(), np.uint8)


def in_frame(texts: pa.Array) -> NDArray[np.bool_]:
    """Return a mask (n,): True for texts of whole codons."""
    found: NDArray[np.bool_] = np.diff(_parts(texts)[0]) % 3 == 0
    return found


def translated(texts: pa.Array) -> pa.Array:
    """Return amino acids (n,), with * for stop codons and X for codons with wildcards.

    Parameters
    ----------
    texts : (n,) string array
        Nucleotides, in whole codons.
    """
    ends, symbols = _parts(texts)
    codons = _DIGIT[symbols[ends[0] : ends[-1]]].reshape(-1, 3)
    number = codons.astype(np.int64) @ np.array([16, 4, 1])
    letters = _OF_CODON[np.where((codons == _NONE).any(axis=1), len(AMINO_ACIDS), number)]
    offsets = ((ends - ends[0]) // 3).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(letters.tobytes())]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers).cast(pa.string())


def _parts(texts: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the offsets (n + 1,) of texts, and their bytes."""
    texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return ends, np.frombuffer(data if data is not None else b"", np.uint8)
