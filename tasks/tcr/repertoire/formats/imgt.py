"""Tables of IMGT/HighV-QUEST: 6_Junction, and 3_Nt-sequences, which also has JUNCTION.

https://www.imgt.org/IMGT_vquest/user_guide. A call names species and functionality, and lists
ties: "Homsap TRBV6-2*01 F, or Homsap TRBV6-3*01 F (see comment)".
"""

from __future__ import annotations

import re

from gangsaw.tasks.tcr.repertoire.formats.format import Columns, RepertoireFormat
from gangsaw.tasks.tcr.repertoire.tables.strings import by_distinct

GENE = re.compile(r"(?:TR[ABGD]|IG[HKL])[VDJ][^\s,*]*(?:\*\d+)?")
PRODUCTIVE = {"productive": "true", "unproductive": "false"}


def named_genes(call: str) -> str:
    """Return the gene names in an IMGT/HighV-QUEST call, separated by commas."""
    return ",".join(dict.fromkeys(GENE.findall(call)))


def _functional(words: str) -> str:
    return PRODUCTIVE.get(words.partition("(")[0].strip().lower(), "")


def _prepare(columns: Columns) -> Columns:
    made = {role: by_distinct(columns[role], named_genes) for role in "vdj" if role in columns}
    if "productive" in columns:
        made["productive"] = by_distinct(columns["productive"], _functional)
    return columns | made


IMGT = RepertoireFormat(
    name="IMGT/HighV-QUEST",
    signs=(
        ("v-gene and allele", "j-gene and allele", "junction"),
        ("sequence id", "v-gene and allele"),
    ),
    columns={
        "junction": ("junction",),
        "v": ("v-gene and allele",),
        "d": ("d-gene and allele",),
        "j": ("j-gene and allele",),
        "id": ("sequence id",),
        "productive": ("v-domain functionality", "functionality"),
    },
    prepare=_prepare,
)
