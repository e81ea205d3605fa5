"""Recombination paths of T-cell receptors: `gangsaw.tcr.count_paths(cdr3, v, j, d)`.

Names are imported at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.tasks import tcr

if TYPE_CHECKING:
    from gangsaw.tasks.tcr import (
        CountChoice,
        Model,
        PhaseProgress,
        Setup,
        associate,
        count_paths,
        count_repertoires,
        export,
        export_airr,
        open_germline,
        open_inputs,
        share,
    )

__all__ = [
    "CountChoice",
    "Model",
    "PhaseProgress",
    "Setup",
    "associate",
    "count_paths",
    "count_repertoires",
    "export",
    "export_airr",
    "open_germline",
    "open_inputs",
    "share",
]


def __getattr__(name: str) -> object:
    return getattr(tcr, name)
