"""Genomes of a few strains, and files of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.codes import reverse_complement_bases

Text = npt.NDArray[np.uint8]
N_BASES = 90_000


def strains() -> list[Text]:
    """An ancestor, and strains with edits, N, lower case and IUPAC, turned and moved parts."""
    rng = np.random.default_rng(3)
    first = rng.choice(list(b"ACGT"), N_BASES).astype(np.uint8)
    found = [first]
    for _ in range(3):
        letters = found[-1].copy()
        at = rng.integers(0, letters.size, 200)
        letters[at] = rng.choice(list(b"ACGT"), at.size)
        letters = np.delete(letters, slice(4000, 4007))
        letters = np.insert(letters, 30_000, rng.choice(list(b"ACGT"), 40))
        letters[50_000:58_000] = reverse_complement_bases(letters[50_000:58_000])
        found.append(letters)
    found[1][100:400] = ord("N")
    found[2][7000:9000] += 32
    found[2][12_345] = ord("R")
    found[3] = np.concatenate((found[3][40_000:], rng.choice(list(b"ACGT"), 3000)))
    return [letters.astype(np.uint8) for letters in found]


def fasta(letters: Text, width: int, end: bytes = b"\n") -> bytes:
    """Two records on lines."""
    text, cut = letters.tobytes(), letters.size // 3
    lines = []
    for name, part in ((b">one of two", text[:cut]), (b">two", text[cut:])):
        lines += [name, *(part[i : i + width] for i in range(0, len(part), width))]
    return end.join(lines) + end
