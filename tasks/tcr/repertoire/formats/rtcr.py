"""Results of RTCR, https://github.com/uubram/RTCR: its table has a row per clone."""

from __future__ import annotations

from gangsaw.tasks.tcr.repertoire.formats.format import RepertoireFormat

RTCR = RepertoireFormat(
    name="RTCR",
    signs=(("junction nucleotide sequence", "number of reads"),),
    columns={
        "junction": ("junction nucleotide sequence",),
        "v": ("v gene",),
        "j": ("j gene",),
        "copies": ("number of reads",),
    },
)
