"""VDJtools clonotype tables, https://vdjtools-doc.readthedocs.io: its header may begin with #."""

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
