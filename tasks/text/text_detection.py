"""Detection of text, its encoding and line ends, from the first bytes of a file."""

from __future__ import annotations

from pathlib import Path

from gangsaw.tasks.compressed_text.streams import packed_sign

# the most common suffixes; other files are recognized by their first bytes
NAMES = (".txt", ".log", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".html", ".md")
START = 1 << 16  # bytes to read
# control characters that text does not contain
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
MARKS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
ENDS = {b"\r\n": "CR LF", b"\n": "LF", b"\r": "CR"}
OTHER = "other bytes"
# magic bytes of compressors that are not supported
PACKED_BY = {
    b"\x1f\x9d": "compress (.Z)",
    b"\x1f\xa0": "compress (.Z)",
    b"\x04\x22\x4d\x18": "LZ4",
    b"\x02\x21\x4c\x18": "LZ4",
    b"LZIP\x01": "lzip",
    b"\x89LZO\0\r\n\x1a\n": "lzop",
    b"\xff\x06\0\0sNaPpY": "Snappy",
    b"PK\x03\x04": "ZIP",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
    **{bytes((low,)) + b"\xb5\x2f\xfd": "an old Zstandard" for low in range(0x1E, 0x28)},
    **{b"\x78" + bytes((low,)): "zlib" for low in (0x01, 0x5E, 0x9C, 0xDA)},
}


def read_start(path: str) -> bytes:
    """Return the first START bytes of a file."""
    with Path(path).open("rb") as file:
        return file.read(START)


def detect_compressor(start: bytes) -> str:
    """Return the name of the unsupported compressor of a file with these first bytes, else ""."""
    if detect_encoding(start) != OTHER:
        return ""
    return next((name for sign, name in PACKED_BY.items() if start.startswith(sign)), "")


def is_text(start: bytes) -> bool:
    """Return True if a file with these first bytes is certainly uncompressed lines of text."""
    has_ends = b"\n" in start and packed_sign(start) is None
    return has_ends and detect_encoding(start) != OTHER


def detect_encoding(start: bytes) -> str:
    """Return the encoding of text with these first bytes, in words; OTHER if it is not text."""
    mark = next((mark for mark in MARKS if start.startswith(mark)), b"")
    if mark and MARKS[mark] == "UTF-16":
        return MARKS[mark]
    if len(start.translate(None, CONTROLS)) < len(start):
        return OTHER
    if start.isascii():
        return "ASCII"
    try:
        start[: _end_of_characters(start)].decode()
    except UnicodeDecodeError:
        return OTHER
    return MARKS[mark] + " with a byte order mark" if mark else "UTF-8"


def _end_of_characters(start: bytes) -> int:
    """Return the end of the last complete UTF-8 character of `start`, which may cut one."""
    if len(start) < START:
        return len(start)
    begins = [i for i in range(len(start) - 3, len(start)) if start[i] & 0xC0 != 0x80]
    return begins[-1] if begins and start[begins[-1]] >= 0xC0 else len(start)


def line_ends_of(start: bytes) -> str:
    """Describe the line ends in text with these first bytes, such as "LF and CR LF"."""
    counts = {end: start.count(end) for end in ENDS}
    counts[b"\n"] -= counts[b"\r\n"]
    counts[b"\r"] -= counts[b"\r\n"]
    found = [ENDS[end] for end, n in counts.items() if n]
    return " and ".join(found) or "none"
