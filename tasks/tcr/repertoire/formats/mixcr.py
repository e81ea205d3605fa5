"""Clone tables of MiXCR (exportClones), versions 1 to 4, with different column names.

A call is a list of hits with scores, the best first: TRBV6-2*00(1123.4),TRBV6-3*00(1123.4). All
hits with the first one's score are selected. *00 means an unknown allele.
"""

from __future__ import annotations

from gangsaw.tasks.tcr.repertoire.formats.format import Columns, RepertoireFormat
from gangsaw.tasks.tcr.repertoire.tables.strings import by_distinct


def best_hits(call: str) -> str:
    """Return the genes with the highest score in a MiXCR call, without the score and *00."""
    hits = [hit.strip().rstrip(")").partition("(") for hit in call.split(",")]
    return ",".join(name.removesuffix("*00") for name, _, score in hits if score == hits[0][2])


def _prepare(columns: Columns) -> Columns:
    calls = {role: by_distinct(columns[role], best_hits) for role in "vdj" if role in columns}
    return columns | calls


def _calls(gene: str) -> tuple[str, ...]:
    names = ("all{}hitswithscore", "all{}hits", "best{}hit", "best{}gene")
    spaced = ("all {} hits", "best {} hit", "best {} gene")  # version 1
    return tuple(name.format(gene) for name in names + spaced)


MIXCR = RepertoireFormat(
    name="MiXCR",
    signs=(("nseqcdr3",), ("n. seq. cdr3",), ("nseqimputedcdr3",)),
    columns={
        "junction": ("nseqcdr3", "n. seq. cdr3", "nseqimputedcdr3"),
        "v": _calls("v"),
        "d": _calls("d"),
        "j": _calls("j"),
        "copies": (
            "uniquemoleculecount",
            "uniqueumicount",
            "readcount",
            "clonecount",
            "clone count",
        ),
        "id": ("cloneid", "clone id"),
        "locus": ("chains", "topchains"),
    },
    prepare=_prepare,
)
