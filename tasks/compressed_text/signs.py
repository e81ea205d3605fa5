"""Magic bytes of files that are often mistaken for another format."""

from __future__ import annotations

import re

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import BASES

START = 16  # bytes of a file that may identify it
# first bytes of files often mistaken for another format; binary formats have other signatures
STARTS = {
    b">": "it is FASTA: pass --format fasta",
    b"@": "it is FASTQ: pass --format fastq",
    b"#": "a comment precedes it, as in .csfasta of SOLiD: --format text keeps all of it",
    b"BAM\1": "it is BAM: pass --format bam",
    b"CRAM": "it is CRAM: pass --format bam",
    b"\xff\xfe": "it is text of UTF-16: save it as ASCII",
    b"\xfe\xff": "it is text of UTF-16: save it as ASCII",
    b"\xef\xbb\xbf": "a byte order mark of UTF-8 precedes it: remove these three bytes",
}
# a base of the adapter, then a digit for each two neighbours (Applied Biosystems' SOLiD)
COLOURS = re.compile(b"[%b][0-3.]+" % BASES, re.IGNORECASE)
IN_COLOURS = "it is in colour space, of SOLiD: --format text stores it to the byte"


def is_in_colours(sequence: bytes) -> bool:
    """Return True if a read is in SOLiD colour space: a letter, then digits and dots."""
    return COLOURS.fullmatch(sequence) is not None and sequence[1:].strip(b".") != b""


def refuse_bare_returns(text: bytes, path: str, mark: bytes = b"") -> None:
    """Raise BadParams for lines that end with CR alone, as on old Macs.

    `text` is the start of the file; its records begin with `mark`.
    """
    at = text.find(b"\r" + mark) if mark else -1
    if b"\n" not in text[:-1]:
        at = text.rstrip(b"\r\n").find(b"\r")
    if at >= 0:
        line = text[:at].count(b"\n") + 1
        raise BadParams(
            f"{path}: line {line} ends with CR alone, which is no end of a line here: "
            "tr '\\r' '\\n' converts such a file"
        )


def hint(start: bytes) -> str:
    """Return a guess of the format of a file with these first bytes, for a message; else ""."""
    found = [what for sign, what in STARTS.items() if start.startswith(sign)]
    if not found and b"\0" in start:
        found = ["it is no text"]
    return f" ({found[0]})" if found else ""
