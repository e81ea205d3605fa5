"""Alignment of nucleotide sequences: `gangsaw.align.smith_waterman(queries, targets)`.

Names are imported at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.tasks import align

if TYPE_CHECKING:
    from gangsaw.tasks.align import (
        Alignments,
        Scores,
        SequenceSet,
        edit_distance,
        gapped,
        needleman_wunsch,
        smith_waterman,
        ungapped,
    )

__all__ = [
    "Alignments",
    "Scores",
    "SequenceSet",
    "edit_distance",
    "gapped",
    "needleman_wunsch",
    "smith_waterman",
    "ungapped",
]


def __getattr__(name: str) -> object:
    return getattr(align, name)
