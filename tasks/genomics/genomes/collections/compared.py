"""Comparison of a collection's genomes with their files, as text.

The encoder chooses the reference of each genome, and chooses differently for genomes that were
added. So the decoded texts are compared, not the arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import Text, read_blocks
from gangsaw.tasks.genomics.genomes.samples import sample_names
from gangsaw.tasks.genomics.genomes.stored.fasta_text import fasta_blocks
from gangsaw.tasks.genomics.genomes.stored.sample import StoredSample
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.sources.library_errors import convert_library_errors
from gangsaw.tasks.store.source import open_zarr


def genome_differences(store: str, paths: Sequence[str]) -> Iterator[str]:
    """Yield a line for each genome that differs between collection and files, or is in one only."""
    source = open_zarr(store)
    try:
        whole = StoredGenome(source.arrays, source.attrs)
    except BadParams as error:
        yield f"{error}"
        return
    numbers = {sample.name: n for n, sample in enumerate(whole.info.samples)}
    there = dict(zip(sample_names(paths), paths, strict=True))
    yield from _lacking(numbers, there)
    for name, path in there.items():
        if name in numbers:
            with convert_library_errors(store, f"genome {name}"):
                line = _difference(StoredSample(whole, numbers[name]), path)
            if line:
                yield f"genome {name}: {line}"


def _lacking(numbers: Mapping[str, int], there: Mapping[str, str]) -> Iterator[str]:
    less = [name for name in there if name not in numbers]
    yield from (f"genome {name}: in the source, not in the store" for name in less)
    more = sorted(numbers.keys() - there.keys(), key=lambda name: numbers[name])
    yield from (f"genome {name}: in the store, not in the source" for name in more)
    both = [name for name in there if name in numbers]
    if both != sorted(both, key=lambda name: numbers[name]):
        yield "the store has the genomes in another order than the source"


def _difference(stored: StoredGenome, path: str) -> str:
    """Return a description of the first difference of a genome's text from its file, or ""."""
    ours, theirs, at = _ReadBlocks(fasta_blocks(stored)), _ReadBlocks(read_blocks(path)), 0
    while n := min(ours.ready(), theirs.ready()):
        is_same = ours.take(n) == theirs.take(n)
        if not is_same.all():
            return f"it differs from the source's text at byte {at + int(np.argmin(is_same))}"
        at += n
    if ours.ready() or theirs.ready():
        longer = "store" if ours.ready() else "source"
        return f"its texts are equal for {at} bytes, and that of the {longer} is longer"
    return ""


class _ReadBlocks:
    """Buffered reader of text that arrives in blocks."""

    def __init__(self, blocks: Iterator[Text]) -> None:
        self._blocks, self._left = blocks, np.empty(0, np.uint8)

    def ready(self) -> int:
        """Return the number of buffered bytes, after a refill of an empty buffer; 0 at the end."""
        while not self._left.size and (block := next(self._blocks, None)) is not None:
            self._left = block
        return self._left.size

    def take(self, n: int) -> Text:
        """Return the next n bytes of the buffer."""
        found, self._left = self._left[:n], self._left[n:]
        return found
