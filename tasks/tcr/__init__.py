"""Recombination paths of T-cell receptors: number of V(D)J recombination paths to a CDR3.

Public names are imported on first use, so that `import` compiles no kernel.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.annotation.job import AnnotateChoice, annotate
    from gangsaw.tasks.tcr.annotation.nucleotypes import MergeRule
    from gangsaw.tasks.tcr.counting.paths.count import count_paths
    from gangsaw.tasks.tcr.germline import open_germline
    from gangsaw.tasks.tcr.germline.genes.genes import open_genes
    from gangsaw.tasks.tcr.model import Model
    from gangsaw.tasks.tcr.repertoire.inputs import open_inputs
    from gangsaw.tasks.tcr.sharing.share import share
    from gangsaw.tasks.tcr.simulation.job import ModelChoice, SimulateChoice, simulate
    from gangsaw.tasks.tcr.simulation.reads import ReadsMade
    from gangsaw.tasks.tcr.simulation.references import Wanted
    from gangsaw.tasks.tcr.statistics.associate import associate
    from gangsaw.tasks.tcr.store.job import CountChoice, PhaseProgress, count_repertoires
    from gangsaw.tasks.tcr.store.setup import Setup
    from gangsaw.tasks.tcr.store.tables.airr_export import export_airr
    from gangsaw.tasks.tcr.store.tables.export import export

_HOMES = {
    "AnnotateChoice": "gangsaw.tasks.tcr.annotation.job",
    "CountChoice": "gangsaw.tasks.tcr.store.job",
    "MergeRule": "gangsaw.tasks.tcr.annotation.nucleotypes",
    "Model": "gangsaw.tasks.tcr.model",
    "ModelChoice": "gangsaw.tasks.tcr.simulation.job",
    "PhaseProgress": "gangsaw.tasks.tcr.store.job",
    "ReadsMade": "gangsaw.tasks.tcr.simulation.reads",
    "Setup": "gangsaw.tasks.tcr.store.setup",
    "SimulateChoice": "gangsaw.tasks.tcr.simulation.job",
    "Wanted": "gangsaw.tasks.tcr.simulation.references",
    "annotate": "gangsaw.tasks.tcr.annotation.job",
    "associate": "gangsaw.tasks.tcr.statistics.associate",
    "count_paths": "gangsaw.tasks.tcr.counting.paths.count",
    "count_repertoires": "gangsaw.tasks.tcr.store.job",
    "export": "gangsaw.tasks.tcr.store.tables.export",
    "export_airr": "gangsaw.tasks.tcr.store.tables.airr_export",
    "open_genes": "gangsaw.tasks.tcr.germline.genes.genes",
    "open_germline": "gangsaw.tasks.tcr.germline",
    "open_inputs": "gangsaw.tasks.tcr.repertoire.inputs",
    "share": "gangsaw.tasks.tcr.sharing.share",
    "simulate": "gangsaw.tasks.tcr.simulation.job",
}
__all__ = [
    "AnnotateChoice",
    "CountChoice",
    "MergeRule",
    "Model",
    "ModelChoice",
    "PhaseProgress",
    "ReadsMade",
    "Setup",
    "SimulateChoice",
    "Wanted",
    "annotate",
    "associate",
    "count_paths",
    "count_repertoires",
    "export",
    "export_airr",
    "open_genes",
    "open_germline",
    "open_inputs",
    "share",
    "simulate",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
