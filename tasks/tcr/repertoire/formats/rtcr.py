"""Clone tables of RTCR, https://github.com/uubram/RTCR, with a row per clone.

The header is `output_hdr` of its rtcr/config.ini; the junction has both anchor codons
(`include_cysphe`). Versions up to 0.2.4 wrote other names (`LegacyCloneSetFormat`).
"""

from __future__ import annotations

from gangsaw.tasks.tcr.repertoire.formats.format import RepertoireFormat

RTCR = RepertoireFormat(
    name="RTCR",
    signs=(("junction nucleotide sequence", "number of reads"), ("nt_jnc", "vid", "jid")),
    columns={
        "junction": ("junction nucleotide sequence", "nt_jnc"),
        "v": ("v gene", "vid"),
        "j": ("j gene", "jid"),
        "copies": ("number of reads", "depth"),
    },
)
