"""Seeded lines and params for the test suite of all codecs: typical, edge and hostile."""

from __future__ import annotations

from gangsaw.codecs.core.plugins.samples import Sample

KINDS = ("sequence", "quality", "name", "offset")
KERNELS = {
    "offset/encode.cu": [dict[str, int | str]()],
    "sequence/consensus.cu": [dict[str, int | str]()],
    **{f"{kind}/decode.cu": [dict[str, int | str]()] for kind in KINDS},
}


def samples() -> list[Sample]:
    """Return all samples; they are the same on every machine."""
    from gangsaw.codecs.reads.name import samples as name
    from gangsaw.codecs.reads.offset import samples as offset
    from gangsaw.codecs.reads.quality import samples as quality
    from gangsaw.codecs.reads.sequence import samples as sequence

    kinds = (sequence, quality, name, offset)
    return [sample for kind in kinds for sample in kind.samples()]
