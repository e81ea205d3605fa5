"""Recombination paths of T-cell receptors: number of V(D)J recombination paths to a CDR3.

Public names are imported on first use, so that `import` compiles no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.codecs.core.lazy_names import lazy_names

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
    from gangsaw.tasks.tcr.store.job import count_repertoires
    from gangsaw.tasks.tcr.store.setup import CountChoice, PhaseProgress, Setup
    from gangsaw.tasks.tcr.store.tables.airr_export import export_airr
    from gangsaw.tasks.tcr.store.tables.export import export

_HOMES = {
    "AnnotateChoice": "annotation.job",
    "CountChoice": "store.setup",
    "MergeRule": "annotation.nucleotypes",
    "Model": "model",
    "ModelChoice": "simulation.job",
    "PhaseProgress": "store.setup",
    "ReadsMade": "simulation.reads",
    "Setup": "store.setup",
    "SimulateChoice": "simulation.job",
    "Wanted": "simulation.references",
    "annotate": "annotation.job",
    "associate": "statistics.associate",
    "count_paths": "counting.paths.count",
    "count_repertoires": "store.job",
    "export": "store.tables.export",
    "export_airr": "store.tables.airr_export",
    "open_genes": "germline.genes.genes",
    "open_germline": "germline",
    "open_inputs": "repertoire.inputs",
    "share": "sharing.share",
    "simulate": "simulation.job",
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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
