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
        ModelChoice,
        PhaseProgress,
        ReadsMade,
        Setup,
        SimulateChoice,
        Wanted,
        associate,
        count_paths,
        count_repertoires,
        open_germline,
        open_inputs,
        share,
        simulate,
    )

__all__ = [
    "CountChoice",
    "Model",
    "ModelChoice",
    "PhaseProgress",
    "ReadsMade",
    "Setup",
    "SimulateChoice",
    "Wanted",
    "associate",
    "count_paths",
    "count_repertoires",
    "open_germline",
    "open_inputs",
    "share",
    "simulate",
]


def __getattr__(name: str) -> object:
    return getattr(tcr, name)
