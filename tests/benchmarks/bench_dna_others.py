"""Genomes: what other programs take, as the specification's sheet has it; none of it ran here."""

from __future__ import annotations

from collections.abc import Iterator

from gangsaw.tasks.bench.table import Row

PROTOTYPE = "this, prototype of dense"
# bits a base of E. coli, human 1M, chloroplast; encoding, Mbases/s; None is not in the sheet
SHEET = {
    "order 2": (1.965, 1.927, 1.935, None),
    "zstd -19": (1.979, None, None, 1.3),
    "bsc": (1.952, 1.908, 1.959, 22),
    "NAF -22": (1.982, 1.904, 1.979, 1.4),
    "GeCo2 -l1": (1.945, 1.856, 1.655, 4.0),
    "GeCo2 -l5": (1.894, 1.803, 1.640, 1.7),
    "GeCo3 -l1": (1.925, 1.817, 1.619, 1.2),
    PROTOTYPE: (1.908, 1.824, 1.625, 7),
}
GENOMES = ("E. coli", "human 1M", "tobacco chloroplast")


def rows() -> Iterator[Row]:
    """Yield the figures of the sheet."""
    for program, (*bits, speed) in SHEET.items():
        for genome, value in zip(GENOMES, bits, strict=True):
            if value is not None:
                yield Row(f"{genome}, {program}", value, "bits a base", note="the sheet's")
        if speed is not None:
            yield Row(f"{program}, encode", speed, "Mbases/s", note="the sheet's")
