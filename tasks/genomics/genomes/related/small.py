"""Encoding of small sets: with edits or as plain bases, whichever takes fewer bytes."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.dna.codec import Dna
from gangsaw.codecs.dna.selection import KNOWN_BLOCK
from gangsaw.codecs.integers.codec import Integers
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.genomes.related.batch import Collected

MOST = KNOWN_BLOCK  # bases: all of them are one block, in which the mode `dense` finds repeats


def better(genomes: Sequence[Text]) -> Collected:
    """Encode small genomes with edits and without; return the encoder that takes fewer bytes.

    Parameters
    ----------
    genomes : codes (n,) uint8 of each genome
    """
    related = _collected(genomes, seeks=True)
    if sum(codes.size for codes in genomes) > MOST:
        return related
    return min(related, _collected(genomes, seeks=False), key=_size)


def _collected(genomes: Sequence[Text], *, seeks: bool) -> Collected:
    found = Collected(genomes[0].size, seeks=seeks)
    for codes in genomes:
        found.add(codes)
    return found


def _size(genomes: Collected) -> int:
    """Return the approximate number of bytes that encoded genomes take in a store."""
    letters, tables = LETTER_OF_CODE[genomes.known.letters[: genomes.known.n]], genomes.tables()
    rows = sum(len(Integers().encode_chunk(table)) for table in tables.values() if table.size)
    dense = Dna(mode="dense", block=KNOWN_BLOCK)
    return rows + (len(dense.encode_chunk(letters)) if letters.size else 0)
