"""Nucleotypes of reads as columns, for all junctions of one length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.tcr.annotation.index import Ints

Bytes = NDArray[np.uint8]


class KeyTable(NamedTuple):
    """Table with one row per distinct combination of genes and junction, or per read.

    Attributes
    ----------
    genes : (n, ties) int16
        Numbers of the V genes, then of the J genes, that fit equally well, padded with negatives.
    junctions : (n, L) uint8
        Codes of the bases, from the Cys codon to the Phe or Trp codon.
    reads : (n,) int64
        Number of reads.
    best : (n, L) uint8
        Highest Phred value of each base.
    sums : (n, L) int64
        Sum of the Phred values of each base over all reads.
    scores : (n,) int64
        Sum of the Phred values of the read in `texts`.
    places : (n,) int64
        Offset of the junction in that read.
    texts : codes of the first read of the highest score, per row
    """

    genes: NDArray[np.int16]
    junctions: Bytes
    reads: Ints
    best: Bytes
    sums: Ints
    scores: Ints
    places: Ints
    texts: Ragged

    def arrays(self) -> dict[str, NumpyArray]:
        """Return the table of one batch as arrays by name, for the file of a batch."""
        own = self._asdict()
        del own["texts"]
        own["sums"] = self.sums.astype(np.uint32)  # overflows at 10^8 reads in a batch
        return {**own, "data": self.texts.data, "offsets": self.texts.offsets}

    @classmethod
    def of(cls, arrays: Mapping[str, NumpyArray]) -> KeyTable:
        """Return the table whose named arrays the method `arrays` returned."""
        return cls(
            arrays["genes"].astype(np.int16, copy=False),
            arrays["junctions"].astype(np.uint8, copy=False),
            arrays["reads"].astype(np.int64, copy=False),
            arrays["best"].astype(np.uint8, copy=False),
            arrays["sums"].astype(np.int64, copy=False),
            arrays["scores"].astype(np.int64, copy=False),
            arrays["places"].astype(np.int64, copy=False),
            Ragged(
                arrays["data"].astype(np.uint8, copy=False),
                arrays["offsets"].astype(np.int64, copy=False),
            ),
        )


def stacked(tables: Sequence[KeyTable]) -> KeyTable:
    """Concatenate the rows of tables whose junctions all have the same length."""
    columns = {
        name: np.concatenate([table._asdict()[name] for table in tables])
        for name in KeyTable._fields[:-1]
    }
    lines = Ragged.concatenate([table.texts for table in tables])
    return KeyTable.of(columns | {"data": lines.data, "offsets": lines.offsets})


def grouped(table: KeyTable) -> KeyTable:
    """Merge the rows with equal genes and junction; sort the result by both."""
    n = len(table.reads)
    words = np.concatenate([table.genes.astype(">i2").view(np.uint8), table.junctions], axis=1)
    keys = np.ascontiguousarray(words).view(f"V{words.shape[1]}").reshape(n)
    _, owner = np.unique(keys, return_inverse=True)
    order = np.lexsort((-table.scores, owner))  # stable, so that the first of equal scores wins
    begins = np.flatnonzero(np.diff(owner[order], prepend=-1))
    first = order[begins]
    return KeyTable(
        table.genes[first],
        table.junctions[first],
        np.add.reduceat(table.reads[order], begins),
        np.maximum.reduceat(table.best[order], begins, axis=0),
        np.add.reduceat(table.sums[order], begins, axis=0),
        table.scores[first],
        table.places[first],
        table.texts.take(first),
    )
