"""Signatures of reads: the p-mer of either strand that hashes lowest, of a read or of its halves.

Reads of one place share most p-mers, whichever strand they are of, and so, mostly, signatures
(M. Roberts et al., 2004: minimizers; ORCOM's bins, S. Grabowski et al., 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit, jit_inline

LENGTH = 14  # letters of a p-mer
HALVED = 60  # letters from which a read has a signature for each half
BIN_BITS = 20
NO_BIN = 1 << BIN_BITS  # of a read without any p-mer that is allowed
HASH = np.uint64(0x9E3779B97F4A7C15)
MASK = np.uint64((1 << 2 * LENGTH) - 1)
TOP = np.uint64(2 * LENGTH - 2)
PAIRS = np.uint64(0x5555555555555555) & MASK  # the low bit of each letter
CODES = np.full(256, 4, np.uint8)
CODES[np.frombuffer(b"ACGT", np.uint8)] = range(4)


@jit_inline
def _has_run(word: Any) -> Any:
    """Whether three letters of a p-mer that follow each other are equal."""
    change = word ^ word >> np.uint64(2)
    differs = (change | change >> np.uint64(1)) & (PAIRS >> np.uint64(2))
    same = ~differs & (PAIRS >> np.uint64(2))
    return (same & same >> np.uint64(2) & (PAIRS >> np.uint64(4))) != np.uint64(0)


@jit_inline
def _bin_of(best: Any) -> Any:
    """Return the bin of a hash, which is low: its bits are mixed once more."""
    return np.int64(best * HASH >> np.uint64(64 - BIN_BITS))


@jit
def sign_part(text: Any, begin: int, end: int, codes: Any) -> Any:
    """Return the bin of text[begin:end]."""
    forward, reverse, good = np.uint64(0), np.uint64(0), 0
    best, found = ~np.uint64(0), False
    for i in range(begin, end):
        code = codes[text[i]]
        good = good + 1 if code < 4 else 0
        letter = np.uint64(code & 3)
        forward = (forward << np.uint64(2) | letter) & MASK
        reverse = reverse >> np.uint64(2) | (np.uint64(3) - letter) << TOP
        if good >= LENGTH and not _has_run(forward):
            hashed = min(forward * HASH, reverse * HASH)
            found, best = True, min(best, hashed)
    return _bin_of(best) if found else NO_BIN


@jit
def sign_lines(text: Any, begins: Any, ends: Any, codes: Any, bins: Any) -> None:
    """Fill bins (n, 2) int64 of the halves of lines; short lines have one, twice."""
    for i in range(len(begins)):
        begin, end = begins[i], ends[i]
        middle = (begin + end) // 2
        if end - begin < HALVED:
            bins[i, 0] = sign_part(text, begin, end, codes)
            bins[i, 1] = bins[i, 0]
        else:
            bins[i, 0] = sign_part(text, begin, middle, codes)
            bins[i, 1] = sign_part(text, middle, end, codes)
            for k in range(2):
                if bins[i, k] == NO_BIN:
                    bins[i, k] = bins[i, 1 - k]
