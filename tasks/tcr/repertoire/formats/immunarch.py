"""Tables of immunarch, https://immunarch.com: output of `repSave`, as TSV or CSV.

`CDR3.nt` has both anchor codons. A call of several genes is separated by commas.
"""

from __future__ import annotations

from gangsaw.tasks.tcr.repertoire.formats.format import RepertoireFormat

IMMUNARCH = RepertoireFormat(
    name="immunarch",
    signs=(("cdr3.nt", "v.name"), ("clones", "cdr3.nt")),
    columns={
        "junction": ("cdr3.nt",),
        "v": ("v.name",),
        "d": ("d.name",),
        "j": ("j.name",),
        "copies": ("clones",),
    },
)
