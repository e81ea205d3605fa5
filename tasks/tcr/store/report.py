"""Report of `gangsaw info` on a counts store."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangsaw.tasks.jobs.figures.contents import Content
from gangsaw.tasks.jobs.figures.report import StoreInfo
from gangsaw.tasks.tcr.store.counts_store import CountsStore, open_counts

SHOWN = 3  # alleles in the text
KINDS = {"dp1": "DP-1", "dp2": "DP-2", "both": "DP-1 and DP-2"}


def read_counts_content(info: StoreInfo) -> Content:
    """Return the content of a counts store; raise `BadParams` or `CorruptChunk` for others."""
    store = open_counts(info.store)
    attrs = store.attrs
    kind = KINDS.get(str(attrs.get("model")), "")
    limits = f"{kind}, max_p {attrs.get('max_p')}, max_n {attrs.get('max_n')}"
    samples = store.names["sample"]
    lacking = dict(_lacking(store)) if "genotypes" in attrs else {}
    rows = (
        ("references", f"{store.rows:,} of {len(samples):,} samples"),
        ("genes", f"{attrs['germline_locus']} of {attrs.get('germline')}"),
        ("model", limits),
        *((("genotypes", str(attrs["genotypes"])),) if lacking else ()),
        *((f"  {sample}", _named(alleles)) for sample, alleles in lacking.items()),
    )
    figures = {
        "references": store.rows,
        "samples": list(samples),
        "germline": attrs.get("germline"),
        "locus": attrs["germline_locus"],
        "genotypes": attrs.get("genotypes"),
        "lacking": {sample: list(alleles) for sample, alleles in lacking.items()},
    }
    return Content("paths", rows, figures)


def _lacking(store: CountsStore) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the alleles that the donor of each sample lacks."""
    samples = store.names["sample"]
    found: list[list[str]] = [[] for _ in samples]
    for gene in "vdj":
        if (name := f"sample_has_{gene}") in store.shapes:
            has = np.asarray(store.read(name, range(len(samples))), bool)
            for row, place in np.argwhere(~has).tolist():
                found[row].append(store.names[f"{gene}_gene"][place])
    yield from zip(samples, map(tuple, found), strict=True)


def _named(alleles: tuple[str, ...]) -> str:
    if not alleles:
        return "all alleles"
    more = f" and {len(alleles) - SHOWN} more" if len(alleles) > SHOWN else ""
    return f"without {', '.join(alleles[:SHOWN])}{more}"
