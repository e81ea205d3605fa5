"""Text of an ENVI header, its fields and their positions.

The positions allow an edited copy that differs only in the changed fields.

Source: NV5 Geospatial, "ENVI Header Files" (the format's documentation).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.dataset.variables import SMALL

Fields = dict[str, str | list[str]]

MARKS = {  # byte order marks, which the reader of ENVI treats as part of the first line
    b"\xef\xbb\xbf": "a byte order mark of UTF-8: save it without one",
    b"\xff\xfe": "a byte order mark of UTF-16: save it as UTF-8",
    b"\xfe\xff": "a byte order mark of UTF-16: save it as UTF-8",
}
LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")  # str.splitlines also splits at \x85
END = re.compile(r"\}\s*(;.*)?$")  # end of a value in braces
INNER = re.compile(r"^\s*[A-Za-z][\w ]*=\s*\{", re.MULTILINE)  # field inside the braces of another


@dataclass(frozen=True)
class HeaderEntry:
    """Field of a header with its position in the text.

    Attributes
    ----------
    name : name as written in the text
    raw : stripped text of the value; each line of a value in braces is stripped
    start, stop : range of characters in the text, the last line end included
    """

    name: str
    raw: str
    start: int
    stop: int

    @property
    def value(self) -> str | list[str]:
        """Value of the field: a text, or a list of texts for {a, b}."""
        if not self.raw.startswith("{"):
            return self.raw
        inner = self.raw[1:-1]
        if self.name.lower() == "description":
            return inner.strip()
        return [part.strip() for part in inner.split(",")]


@dataclass(frozen=True)
class HeaderText:
    """Complete text of a header file with its fields; `encoding` restores the bytes."""

    text: str
    encoding: str
    entries: tuple[HeaderEntry, ...]


def read_header_text(path: Path) -> HeaderText:
    """Return the text of a header file; raise BadParams with the line number of an error."""
    try:
        with path.open("rb") as file:
            data = file.read(SMALL + 1)
    except FileNotFoundError:
        raise BadParams(f"{path}: no such file") from None
    _check_start(path, data)
    try:
        text, encoding = data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        text, encoding = data.decode("latin-1"), "latin-1"  # defined for every byte
    return HeaderText(text, encoding, tuple(parse_fields(text, str(path))))


def _check_start(path: Path, data: bytes) -> None:
    """Raise BadParams unless the data are a text whose first line starts with ENVI."""
    what = f"{path} is not an ENVI header"
    for mark, said in MARKS.items():
        if data.startswith(mark):
            raise BadParams(f"{what}: line 1 starts with {said}")
    if len(data) > SMALL or b"\0" in data:
        raise BadParams(f"{what}: it is no text, or longer than {SMALL >> 20} MiB")
    first = re.split(rb"[\r\n]", data, maxsplit=1)[0].strip()
    if not first:
        raise BadParams(f"{what}: line 1 is blank; it must be ENVI")
    if not first.startswith(b"ENVI"):
        said = first[:40].decode("ascii", "replace")
        raise BadParams(f"{what}: line 1 is {said!r}; it must be ENVI")


def parse_fields(text: str, path: str) -> Iterator[HeaderEntry]:
    """Yield the fields of a header text; raise BadParams for a brace that is never closed."""
    lines = list(LINES.finditer(text))
    at = 1  # skip the line "ENVI"
    while at < len(lines):
        first, line = at, lines[at].group()
        at += 1
        name, sign, value = line.partition("=")
        if not sign or line.startswith(";"):
            continue
        parts = [value.strip()]
        while parts[0].startswith("{") and not END.search(parts[-1]):
            if at == len(lines):
                raise _unclosed(path, first, name)
            if not lines[at].group().startswith(";"):
                parts.append(lines[at].group().strip())
            at += 1
        raw = "\n".join(parts)
        if raw.startswith("{"):
            raw = END.sub("}", raw)
            if raw.count("{") > raw.count("}") and INNER.search(
                raw, raw.find("\n") + 1 or len(raw)
            ):
                raise _unclosed(path, first, name)
        yield HeaderEntry(name.strip(), raw, lines[first].start(), lines[at - 1].end())


def _unclosed(path: str, line: int, name: str) -> BadParams:
    return BadParams(f"{path}, line {line + 1}: the brace of {name.strip()!r} is not closed")


def field_text(name: str, value: str | list[str]) -> str:
    """Return the text line of a field."""
    if name == "description":
        return f"description = {{{value}}}"
    return f"{name} = {{{', '.join(value)}}}" if isinstance(value, list) else f"{name} = {value}"


def header_text(fields: Mapping[str, str | list[str]]) -> str:
    """Return the text of a new header file with these fields, in their order."""
    return "\n".join(["ENVI", *(field_text(name, value) for name, value in fields.items())]) + "\n"
