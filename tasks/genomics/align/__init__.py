"""Alignment of nucleotide sequences, pair by pair: exact, on packed bytes, by edits.

Names are imported at their first use: nothing is compiled before something is aligned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.codecs.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from gangsaw.tasks.genomics.align.affine.affine import needleman_wunsch, smith_waterman
    from gangsaw.tasks.genomics.align.edits.edits import edit_distance, edit_paths
    from gangsaw.tasks.genomics.align.packed.packed import gapped, ungapped
    from gangsaw.tasks.genomics.align.sets.alignments import Alignments
    from gangsaw.tasks.genomics.align.sets.pairs import SequenceSet
    from gangsaw.tasks.genomics.align.sets.scores import Scores

# No module has the name of a function: it would take its place here once it is imported.
_HOMES = {
    "Alignments": "sets.alignments",
    "Scores": "sets.scores",
    "SequenceSet": "sets.pairs",
    "edit_distance": "edits.edits",
    "edit_paths": "edits.edits",
    "gapped": "packed.packed",
    "needleman_wunsch": "affine.affine",
    "smith_waterman": "affine.affine",
    "ungapped": "packed.packed",
}
__all__ = [
    "Alignments",
    "Scores",
    "SequenceSet",
    "edit_distance",
    "edit_paths",
    "gapped",
    "needleman_wunsch",
    "smith_waterman",
    "ungapped",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
