"""Contig annotations of 10x Genomics Cell Ranger: a row is a contig of a cell."""

from __future__ import annotations

from gangsaw.tasks.tcr.repertoire.formats.format import RepertoireFormat

TENX = RepertoireFormat(
    name="10x contig annotations",
    signs=(("contig_id", "chain"), ("barcode", "cdr3_nt")),
    columns={
        "junction": ("cdr3_nt",),
        "v": ("v_gene",),
        "d": ("d_gene",),
        "j": ("j_gene",),
        "copies": ("umis", "reads"),
        "id": ("contig_id",),
        "locus": ("chain",),
        "productive": ("productive",),
    },
)
