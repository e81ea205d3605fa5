"""Small sets: letters that are known and edits, or all letters as they are; whichever is less."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.dna.codec import Dna
from gangsaw.codecs.dna.suits import KNOWN_BLOCK
from gangsaw.codecs.integers.codec import Integers
from gangsaw.tasks.genomes.collection.batch import Collected
from gangsaw.tasks.sequences.files.text import Text

MOST = KNOWN_BLOCK  # letters: all of them are one block, in which `dense` finds what is alike


def better(genomes: Sequence[Text]) -> Collected:
    """Return genomes, codes (n,) uint8 each, in the form that takes fewer bytes."""
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
    """Return about how many bytes are stored."""
    letters, tables = LETTER_OF_CODE[genomes.known.letters[: genomes.known.n]], genomes.tables()
    rows = sum(len(Integers().encode_chunk(table)) for table in tables.values() if table.size)
    dense = Dna(mode="dense", block=KNOWN_BLOCK)
    return rows + (len(dense.encode_chunk(letters)) if letters.size else 0)
