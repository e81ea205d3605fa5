"""Clonotype tables of VDJtools, https://vdjtools-doc.readthedocs.io; # may precede the header."""

from __future__ import annotations

from gangsaw.tasks.tcr.repertoire.formats.format import RepertoireFormat

VDJTOOLS = RepertoireFormat(
    name="VDJtools",
    signs=(("cdr3nt", "v", "j"), ("cdr3nt", "cdr3aa", "count")),
    columns={
        "junction": ("cdr3nt",),
        "v": ("v",),
        "d": ("d",),
        "j": ("j",),
        "copies": ("count",),
    },
)
