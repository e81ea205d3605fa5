"""Alignment of nucleotide sequences, pair by pair: exact, on packed bytes, by edits.

Names are imported at their first use: nothing is compiled before something is aligned.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangsaw.tasks.genomics.align.affine.affine import needleman_wunsch, smith_waterman
    from gangsaw.tasks.genomics.align.edits.edits import edit_distance, edit_paths
    from gangsaw.tasks.genomics.align.packed.packed import gapped, ungapped
    from gangsaw.tasks.genomics.align.sets.alignments import Alignments
    from gangsaw.tasks.genomics.align.sets.pairs import SequenceSet
    from gangsaw.tasks.genomics.align.sets.scores import Scores

# No module has the name of a function: it would take its place here once it is imported.
_HOMES = {
    "Alignments": "gangsaw.tasks.genomics.align.sets.alignments",
    "Scores": "gangsaw.tasks.genomics.align.sets.scores",
    "SequenceSet": "gangsaw.tasks.genomics.align.sets.pairs",
    "edit_distance": "gangsaw.tasks.genomics.align.edits.edits",
    "edit_paths": "gangsaw.tasks.genomics.align.edits.edits",
    "gapped": "gangsaw.tasks.genomics.align.packed.packed",
    "needleman_wunsch": "gangsaw.tasks.genomics.align.affine.affine",
    "smith_waterman": "gangsaw.tasks.genomics.align.affine.affine",
    "ungapped": "gangsaw.tasks.genomics.align.packed.packed",
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


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
