"""Output formats of hits, by name."""

from __future__ import annotations

from collections.abc import Mapping

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import join_words, none_of
from gangsaw.tasks.formats.contract.pipes import descriptor_of
from gangsaw.tasks.genomics.align.output.bam import Bam
from gangsaw.tasks.genomics.align.output.lines import LineFormat
from gangsaw.tasks.genomics.align.output.paf import Paf
from gangsaw.tasks.genomics.align.output.sam import Sam
from gangsaw.tasks.genomics.align.output.tabular import Tabular

FORMATS: Mapping[str, LineFormat] = {
    "paf": Paf(),
    "sam": Sam(),
    "bam": Bam(),
    "blast6": Tabular(),
}
PACKED = (".gz", ".bgz")


def is_gzip_target(target: str, kind: str) -> bool:
    """Return True if the output lines are to be compressed by gzip; BAM has its own compression."""
    return target.lower().endswith(PACKED) and FORMATS[kind].is_text


def format_of(target: str, named: str) -> str:
    """Return the output format `named`, or that of a file's suffix; raise BadParams for neither."""
    if named:
        if named not in FORMATS:
            raise none_of("--format", FORMATS, named)
        return named
    if target == "-" or descriptor_of(target) is not None:
        return "paf"
    is_gz = target.lower().endswith(PACKED)
    inner = target.lower().rpartition(".")[0] if is_gz else target.lower()
    for name, own in FORMATS.items():
        if inner.endswith(own.suffixes) and (own.is_text or not is_gz):
            return name
    ends = [end for own in FORMATS.values() for end in own.suffixes]
    raise BadParams(
        f"{target}: name a file that ends with {join_words(ends, 'or')}, or pass --format"
    )
