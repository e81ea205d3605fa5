"""AIRR rearrangements, as TSV or Parquet: https://docs.airr-community.org, schema 1.2 to 1.6.

`junction` has the anchor codons, `cdr3` does not. Both are in the direction of the gene even if
`rev_comp` is true, so that column is ignored.
"""

from __future__ import annotations

from gangsaw.tasks.tcr.repertoire.formats.format import RepertoireFormat

AIRR = RepertoireFormat(
    name="AIRR",
    signs=(("v_call", "j_call"), ("sequence_id", "junction"), ("v_call", "junction")),
    columns={
        "junction": ("junction", "junction_nt"),
        "cdr3": ("cdr3", "cdr3_nt"),
        "v": ("v_call",),
        "d": ("d_call",),
        "j": ("j_call",),
        "copies": ("duplicate_count", "umi_count", "consensus_count"),
        "id": ("sequence_id", "clone_id"),
        "sample": ("repertoire_id", "sample_id"),
        "locus": ("locus",),
        "productive": ("productive",),
    },
)
