"""Germline genes: the parts that a CDR3 can contain, and their names in repertoires."""

from gangsaw.tasks.tcr.germline.germline import Germline
from gangsaw.tasks.tcr.germline.names import d_pairs_with_j
from gangsaw.tasks.tcr.germline.opening import open_germline
from gangsaw.tasks.tcr.germline.parts import Part
from gangsaw.tasks.tcr.germline.resolve import (
    AMBIGUOUS,
    MISSING,
    OTHER_LOCUS,
    UNKNOWN,
    OnAmbiguous,
    OnUnknownAllele,
    Resolver,
)
from gangsaw.tasks.tcr.model import LOCI

__all__ = [
    "AMBIGUOUS",
    "LOCI",
    "MISSING",
    "OTHER_LOCUS",
    "UNKNOWN",
    "Germline",
    "OnAmbiguous",
    "OnUnknownAllele",
    "Part",
    "Resolver",
    "d_pairs_with_j",
    "open_germline",
]
