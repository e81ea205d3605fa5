"""How files begin that are often taken for another."""

from __future__ import annotations

START = 16  # bytes of a file by which it may be known
# how files begin that are often taken for another; binary ones have other signs
STARTS = {
    b">": "it is FASTA: say --format fasta",
    b"@": "it is FASTQ: say --format fastq",
    b"BAM\1": "it is BAM: say --format bam",
    b"CRAM": "it is CRAM: say --format bam",
    b"\xff\xfe": "it is text of UTF-16: save it as ASCII",
    b"\xfe\xff": "it is text of UTF-16: save it as ASCII",
    b"\xef\xbb\xbf": "a byte order mark of UTF-8 stands before it: remove these three bytes",
}


def hint(start: bytes) -> str:
    """Return what a file that begins so may be, for a message; "" where nobody knows."""
    found = [what for sign, what in STARTS.items() if start.startswith(sign)]
    if not found and b"\0" in start:
        found = ["it is no text"]
    return f" ({found[0]})" if found else ""
