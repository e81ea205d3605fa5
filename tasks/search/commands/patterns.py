"""Parsing of search patterns: plain, with escapes, in hexadecimal digits, or from a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import read_blocks
from gangsaw.tasks.search.results.hits import check_length

ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.|$)", re.DOTALL)
SHORT = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}


def patterns_of(
    texts: Sequence[str], file: Path | None, *, in_hex: bool = False, escaped: bool = False
) -> list[bytes]:
    r"""Return the given search patterns, then those in a file or pipe, one per line.

    Blank lines are skipped. Raises BadParams if there is none, if one is empty or too long, for an
    invalid hexadecimal number, and for escapes other than \n, \t, \r, \0, \\ and \xHH.
    """
    found = [text.encode("utf-8", "surrogateescape") for text in texts]
    found += [] if file is None else _lines(file)
    if not found:
        raise BadParams("name a pattern, or a file of them by --file")
    if in_hex and escaped:
        raise BadParams("patterns are in --hex, or have --escapes: not both")
    if in_hex or escaped:
        found = [_hex(pattern) if in_hex else _plain(pattern) for pattern in found]
    for pattern in found:
        check_length(pattern)
    return found


def _lines(file: Path) -> list[bytes]:
    try:
        lines = b"".join(block.tobytes() for block in read_blocks(str(file))).split(b"\n")
    except FileNotFoundError:
        raise BadParams(f"{file}: no such file") from None
    found = [line.removesuffix(b"\r") for line in lines]
    return [line for line in found if line]


def _hex(pattern: bytes) -> bytes:
    try:
        return bytes.fromhex(pattern.decode("ascii"))
    except ValueError:
        raise BadParams(f"{pattern!r} is no hexadecimal number of whole bytes") from None


def _plain(pattern: bytes) -> bytes:
    def byte(match: re.Match[bytes]) -> bytes:
        name = match[1]
        if name[:1] == b"x" and len(name) == 3:
            return bytes([int(name[1:], 16)])
        if name not in SHORT:
            raise BadParams(f"{pattern!r} has an escape that is none of \\n \\t \\r \\0 \\\\ \\xHH")
        return SHORT[name]

    return ESCAPE.sub(byte, pattern)
