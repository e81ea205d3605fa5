"""Exports of Adaptive's immunoSEQ, v1 to v4.

A row has the nucleotides of the read, and the 0-based start and the length of its CDR3, which
includes both anchor codons. An ambiguous gene is named by its ties.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.plugins.extras import extras_named

with extras_named():
    import pyarrow as pa
    import pyarrow.compute as pc

from gangsaw.tasks.tcr.repertoire.formats.format import Columns, RepertoireFormat
from gangsaw.tasks.tcr.repertoire.tables.kernels import PLAIN, SAME
from gangsaw.tasks.tcr.repertoire.tables.numbers import written_numbers
from gangsaw.tasks.tcr.repertoire.tables.strings import buffers, by_distinct, is_missing, slices

FRAMES = {"in": "true", "out": "false", "stop": "false"}


def _prepare(columns: Columns) -> Columns:
    roles = dict(columns)
    roles["junction"] = _junction(roles.pop("read"), roles.pop("begin"), roles.pop("length"))
    for gene in "vdj":
        roles[gene] = _call(*(roles.pop(f"{gene}{kind}", None) for kind in ("", "gene", "ties")))
    roles = {role: column for role, column in roles.items() if column is not None}
    if "frame" in roles:
        frame = roles.pop("frame")
        roles["productive"] = by_distinct(frame, lambda word: FRAMES.get(word.strip().lower(), ""))
    return roles


def _junction(read: pa.Array, begin: pa.Array, length: pa.Array) -> pa.Array:
    """Return the CDR3 of each read, or "" if its range is outside the read."""
    offsets, _ = buffers(read)
    first, first_written = written_numbers(begin)
    size, size_written = written_numbers(length)
    room = np.diff(offsets)
    there = (first_written == PLAIN) & (size_written == PLAIN)
    there &= (first <= room) & (size <= room - np.minimum(first, room))
    starts = offsets[:-1] + np.where(there, first, 0)
    return slices(read, starts, starts + np.where(there, size, 0), SAME)


def _call(call: pa.Array | None, gene: pa.Array | None, ties: pa.Array | None) -> pa.Array | None:
    """Return for each row the most specific gene call, or the ties of an ambiguous gene."""
    if call is None:
        call = gene
    if gene is None or ties is None:
        return call
    tied = pc.and_(_is_unresolved(gene), pc.invert(_is_unresolved(ties)))
    return pc.if_else(tied, ties, call)


def _is_unresolved(column: pa.Array) -> pa.Array:
    return by_distinct(column, is_missing, pa.bool_())


def _gene(gene: str) -> dict[str, tuple[str, ...]]:
    return {
        gene: (f"{gene}_resolved", f"{gene}maxresolved"),
        f"{gene}gene": (f"{gene}_gene", f"{gene}genename"),
        f"{gene}ties": (f"{gene}_gene_ties", f"{gene}genenameties", f"{gene}ties"),
    }


IMMUNOSEQ = RepertoireFormat(
    name="immunoSEQ",
    signs=(
        ("rearrangement", "v_index"),
        ("nucleotide", "vindex"),
        ("rearrangement", "cdr3_length"),
        ("nucleotide", "cdr3length"),
    ),
    columns={
        "read": ("rearrangement", "nucleotide"),
        "begin": ("v_index", "vindex"),
        "length": ("cdr3_length", "cdr3length"),
        **_gene("v"),
        **_gene("d"),
        **_gene("j"),
        "copies": (
            "templates",
            "count (templates)",
            "count (templates/reads)",
            "count (reads)",
            "seq_reads",
            "reads",
            "copy",
            "count",
        ),
        "sample": ("sample_name",),
        "frame": ("frame_type", "sequencestatus"),
    },
    needed=(("read",), ("begin",), ("length",), ("v", "vgene"), ("j", "jgene")),
    prepare=_prepare,
)
