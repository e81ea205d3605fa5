"""Tables of nucleotide letters of either case: codes, upper case, complements (IUPAC)."""

from __future__ import annotations

import numpy as np

from gangsaw.tasks.sequences.text import Text

OTHER = 4
# what each letter pairs with (IUPAC-IUB, 1984); all other bytes with themselves
LETTERS, PARTNERS = b"ACGTUMRWSYKVHDBN", b"TGCAAKYWSRMBDHVN"


def _table(letters: bytes, values: bytes, start: Text) -> Text:
    table = start.copy()
    table[np.frombuffer(letters, np.uint8)] = np.frombuffer(values, np.uint8)
    return table


BYTES = np.arange(256, dtype=np.uint8)
CODES = _table(b"ACGTacgt", bytes([0, 1, 2, 3] * 2), np.full(256, OTHER, np.uint8))
UPPER = np.frombuffer(bytes(range(256)).upper(), np.uint8)
COMPLEMENTS = _table(LETTERS + LETTERS.lower(), PARTNERS + PARTNERS.lower(), BYTES)


def reverse_complement(letters: Text) -> Text:
    """Return the other strand of residues (n,) uint8, case and IUPAC letters as they are."""
    return COMPLEMENTS[letters[::-1]]
