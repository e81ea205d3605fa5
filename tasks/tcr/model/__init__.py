"""What is counted, and of which symbols: the models of recombination; nucleotides as sets."""

from gangsaw.tasks.tcr.model.model import (
    LOCI,
    MAX_D,
    MAX_LENGTH,
    MAX_N,
    MAX_P,
    USUAL_N,
    EndLimits,
    Kind,
    Model,
    ModelLimits,
    empty_d_cuts,
)

__all__ = [
    "LOCI",
    "MAX_D",
    "MAX_LENGTH",
    "MAX_N",
    "MAX_P",
    "USUAL_N",
    "EndLimits",
    "Kind",
    "Model",
    "ModelLimits",
    "empty_d_cuts",
]
