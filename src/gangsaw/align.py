"""Alignment of nucleotide sequences: `gangsaw.align.smith_waterman(queries, targets)`.

Names are imported at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.tasks.genomics import align

if TYPE_CHECKING:
    from gangsaw.tasks.genomics.align import *  # noqa: F403 - its __all__ is ours

__all__ = align.__all__


def __getattr__(name: str) -> object:
    return getattr(align, name)


def __dir__() -> list[str]:
    return __all__
