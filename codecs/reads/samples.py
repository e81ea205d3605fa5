"""Seeded lines x Params for the suite over all codecs: typical, edge and hostile. Each is small."""

from __future__ import annotations

from gangsaw.codecs.core.samples import Sample

KERNELS = {
    **{f"offset_{name}.cu": [dict[str, int | str]()] for name in ("encode", "decode")},
    "sequence/consensus.cu": [dict[str, int | str]()],
    **{f"{kind}/decode.cu": [dict[str, int | str]()] for kind in ("sequence", "quality", "name")},
}


def samples() -> list[Sample]:
    """Return all samples; the same on every machine."""
    from gangsaw.codecs.reads import name_samples, offset_samples, quality_samples, sequence_samples

    kinds = (sequence_samples, quality_samples, name_samples, offset_samples)
    return [sample for kind in kinds for sample in kind.samples()]
