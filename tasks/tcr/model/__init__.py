"""What is counted, and of which symbols: the models of recombination; nucleotides as sets."""

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
