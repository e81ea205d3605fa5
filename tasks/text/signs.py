"""What bytes are text, and how it is written: read of the beginning of a file."""

from __future__ import annotations

from pathlib import Path

from gangsaw.tasks.sequences.files.streams import packed_sign

# the most usual suffixes: what has others is known by its beginning
NAMES = (".txt", ".log", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".html", ".md")
START = 1 << 16  # bytes that are looked at
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))  # that text does not have
MARKS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
ENDS = {b"\r\n": "CR LF", b"\n": "LF", b"\r": "CR"}
OTHER = "other bytes"


def start_of(path: str) -> bytes:
    """Return the first bytes of a file."""
    with Path(path).open("rb") as file:
        return file.read(START)


def is_text(start: bytes) -> bool:
    """Whether a file that begins so is lines of text beyond doubt: none that is compressed."""
    has_ends = b"\n" in start and packed_sign(start) is None
    return has_ends and encoding_of(start) != OTHER


def encoding_of(start: bytes) -> str:
    """Return how text that begins so is encoded, in words; OTHER where it is no text."""
    mark = next((mark for mark in MARKS if start.startswith(mark)), b"")
    if mark and MARKS[mark] == "UTF-16":
        return MARKS[mark]
    if len(start.translate(None, CONTROLS)) < len(start):
        return OTHER
    if start.isascii():
        return "ASCII"
    try:
        start[: _whole(start)].decode()
    except UnicodeDecodeError:
        return OTHER
    return MARKS[mark] + " with a byte order mark" if mark else "UTF-8"


def _whole(start: bytes) -> int:
    """Return where the last letter ends that is there whole: START may cut one."""
    if len(start) < START:
        return len(start)
    begins = [i for i in range(len(start) - 3, len(start)) if start[i] & 0xC0 != 0x80]
    return begins[-1] if begins and start[begins[-1]] >= 0xC0 else len(start)


def line_ends_of(start: bytes) -> str:
    """Return how lines end, in words."""
    counts = {end: start.count(end) for end in ENDS}
    counts[b"\n"] -= counts[b"\r\n"]
    counts[b"\r"] -= counts[b"\r\n"]
    found = [ENDS[end] for end, n in counts.items() if n]
    return " and ".join(found) or "none"
