"""Recombination paths of T-cell receptors: `gangsaw.tcr.count_paths(cdr3, v, j, d)`.

Names are imported at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.tasks import tcr

if TYPE_CHECKING:
    from gangsaw.tasks.tcr import *  # noqa: F403 - its __all__ is ours

__all__ = tcr.__all__


def __getattr__(name: str) -> object:
    return getattr(tcr, name)


def __dir__() -> list[str]:
    return __all__
