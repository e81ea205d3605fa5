"""Paired tables of tcrdist: both chains in a row, one of which is read."""

from __future__ import annotations

from gangsaw.tasks.tcr.repertoire.formats.format import RepertoireFormat


def tcrdist(locus: str) -> RepertoireFormat:
    """Return the tcrdist format with the columns of one chain: `v_b_gene` for TRB."""
    chain = locus[-1:].lower()
    return RepertoireFormat(
        name="tcrdist",
        signs=(
            (f"cdr3_{chain}_nucseq",),
            (f"v_{chain}_gene", f"j_{chain}_gene"),
            ("v_a_gene", "v_b_gene"),
        ),
        columns={
            "junction": (f"cdr3_{chain}_nucseq",),
            "v": (f"v_{chain}_gene",),
            "d": (f"d_{chain}_gene",),
            "j": (f"j_{chain}_gene",),
            "copies": ("count",),
            "id": ("clone_id",),
            "sample": ("subject",),
        },
    )
