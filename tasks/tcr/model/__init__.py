"""Recombination models: parameters of the counted paths, and nucleotides as 4-bit sets."""

from gangsaw.tasks.tcr.model.model import (
    ALL,
    LOCI,
    MAX_D,
    MAX_LENGTH,
    MAX_N,
    MAX_P,
    MOST,
    USUAL_N,
    EndLimits,
    Kind,
    Limit,
    Model,
    ModelLimits,
    empty_d_cuts,
)

__all__ = [
    "ALL",
    "LOCI",
    "MAX_D",
    "MAX_LENGTH",
    "MAX_N",
    "MAX_P",
    "MOST",
    "USUAL_N",
    "EndLimits",
    "Kind",
    "Limit",
    "Model",
    "ModelLimits",
    "empty_d_cuts",
]
