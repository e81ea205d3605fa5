"""Reads of a store as FASTA text, with the original line lengths if the source was FASTA."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.files.fasta import NUMBERING
from gangsaw.tasks.genomics.reads.files.fasta_kernels import fold_records
from gangsaw.tasks.genomics.reads.files.records import Field, Int64s
from gangsaw.tasks.genomics.reads.stored.record_text import RecordText
from gangsaw.tasks.genomics.reads.stored.stored import Stored

UNFOLDED = 1 << 62  # bases of a line


class FastaText(RecordText):
    """Writer of a store's reads as FASTA text."""

    def __init__(self, stored: Stored) -> None:
        super().__init__(stored, "fasta")
        known = self.contents.widths if self.is_own else ()
        widths = [width if width > 0 else UNFOLDED for width in known]
        self.widths = np.array(widths or [UNFOLDED], np.int64)

    def texts(self, first: int, last: int, n_targets: int) -> list[Text]:
        """Return the text of records first..last - 1 for each target.

        Targets take records in turns.
        """
        names = self.names(first, last)
        sequences = self.stored.lines("sequence", first, last)
        folds = self._folds(first, last, sequences.ends - sequences.begins)
        ends = self.has_returns(first, last), self.numbers("odd_end", first, last, NUMBERING)
        sizes = _most_bytes((names, sequences), folds)
        texts = []
        for which in range(n_targets):
            out = np.empty(int(sizes[which::n_targets].sum()), np.uint8)
            n = fold_records((names, sequences), folds, ends, which, n_targets, out)
            texts.append(out[: int(n)])
        return texts

    def _folds(self, first: int, last: int, bases: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Return line widths of records, and the stored line lengths of records without a width.

        These are the widths (n,), offsets (n + 1,) and lengths (k,). Raises CorruptChunk if lengths
        do not add up to the record's bases.
        """
        files = self.contents.files_of(first, last)
        widths = self.widths[np.minimum(files, self.widths.size - 1)]
        none = np.zeros(last - first + 1, np.int64)
        if not self.is_own:
            return widths, none, none[:0]
        begin, end = self.stored.between("fold_record", first, last)
        owners = self.stored.some_numbers("fold_record", begin, end) - first
        lengths = self.stored.some_numbers("fold_length", begin, end)
        starts = np.searchsorted(owners, np.arange(last - first + 1))
        sums = np.concatenate(([0], np.cumsum(lengths)))
        own = np.diff(starts) > 0
        is_order = owners.size == lengths.size and (np.diff(owners) >= 0).all()
        are_lengths = ((lengths >= 0) & (lengths <= bases.max(initial=0))).all()
        if not (is_order and are_lengths and (np.diff(sums[starts]) == bases)[own].all()):
            raise CorruptChunk("fold_length does not add up to the bases of the sequences")
        return widths, starts, lengths


def _most_bytes(fields: tuple[Field, Field], folds: tuple[Int64s, Int64s, Int64s]) -> Int64s:
    """Return an upper bound of the bytes of each record as FASTA text: (n,) int64."""
    widths, starts, _ = folds
    letters = fields[1].ends - fields[1].begins
    lines = 1 + -(-letters // widths) + np.diff(starts)
    sizes: Int64s = 1 + (fields[0].ends - fields[0].begins) + letters + 2 * lines
    return sizes
