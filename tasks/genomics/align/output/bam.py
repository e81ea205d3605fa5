"""BAM: SAM records packed through pysam; the blocks of batches are concatenated in one file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.genomics.align.output.lines import Heading, LineSource
from gangsaw.tasks.genomics.align.output.sam import Sam

LAST_BLOCK = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


class Bam(Sam):
    """Output format BAM, with the records of SAM."""

    suffixes = (".bam",)
    footer = LAST_BLOCK
    is_text = False

    def header(self, heading: Heading) -> bytes:
        """Return the BGZF blocks of the header."""
        return _packed(super().header(heading).decode(), [])

    def lines(self, source: LineSource) -> bytes:
        """Return the BGZF blocks of the records of a batch."""
        text = super().header(Heading(source.names, source.lengths.tolist(), "", "")).decode()
        records = super().lines(source).decode().split("\n")[:-1]
        return _packed(text, records)[len(_packed(text, [])) :]


def _packed(header: str, records: list[str]) -> bytes:
    """Return SAM header and records as BGZF blocks of BAM, without the empty block at the end.

    As in htslib, a block ends after the header.
    """
    with extras_named("BAM"):
        from pysam import AlignedSegment, AlignmentFile, AlignmentHeader

    own = AlignmentHeader.from_text(header)
    with tempfile.TemporaryDirectory(prefix="gangsaw-bam-") as folder:
        path = Path(folder) / "out.bam"
        with AlignmentFile(str(path), "wb", header=own) as file:
            for record in records:
                file.write(AlignedSegment.fromstring(record, own))
        return path.read_bytes().removesuffix(LAST_BLOCK)
