"""The formats that hits are written in, by name."""

from __future__ import annotations

from collections.abc import Mapping

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.align.output.bam import Bam
from gangsaw.tasks.align.output.lines import LineFormat
from gangsaw.tasks.align.output.paf import Paf
from gangsaw.tasks.align.output.sam import Sam
from gangsaw.tasks.align.output.tabular import Tabular

FORMATS: Mapping[str, LineFormat] = {
    "paf": Paf(),
    "sam": Sam(),
    "bam": Bam(),
    "blast6": Tabular(),
}
PACKED = (".gz", ".bgz")


def is_packed(target: str, kind: str) -> bool:
    """Return whether the lines of a target are packed by gzip; BAM is packed by itself."""
    return target.lower().endswith(PACKED) and FORMATS[kind].is_text


def format_of(target: str, named: str) -> str:
    """Return the name of the format of a target; BadParams where neither it nor `named` says it."""
    if named:
        if named not in FORMATS:
            raise BadParams(f"--format must be {listed(tuple(FORMATS), 'or')}, got {named!r}")
        return named
    if target == "-":
        return "paf"
    is_gz = target.lower().endswith(PACKED)
    inner = target.lower().rpartition(".")[0] if is_gz else target.lower()
    for name, own in FORMATS.items():
        if inner.endswith(own.suffixes) and (own.is_text or not is_gz):
            return name
    ends = [end for own in FORMATS.values() for end in own.suffixes]
    raise BadParams(f"{target}: name a file that ends with {listed(ends, 'or')}, or say --format")
