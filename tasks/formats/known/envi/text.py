"""The text of an ENVI header: its fields and their places.

A copy differs only where it must.

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

MARKS = {  # byte order marks, which ENVI's own reader takes for a part of the first line
    b"\xef\xbb\xbf": "a byte order mark of UTF-8: save it without one",
    b"\xff\xfe": "a byte order mark of UTF-16: save it as UTF-8",
    b"\xfe\xff": "a byte order mark of UTF-16: save it as UTF-8",
}
LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")  # str.splitlines ends some at Latin-1 \x85
END = re.compile(r"\}\s*(;.*)?$")  # of a value in braces
INNER = re.compile(r"^\s*[A-Za-z][\w ]*=\s*\{", re.MULTILINE)  # a field inside another's braces


@dataclass(frozen=True)
class HeaderEntry:
    """One field in its text.

    Attributes
    ----------
    name : as the text has it
    raw : its value without blanks around; lines of a value in braces are stripped
    start, stop : its characters in the text, the last line's end included
    """

    name: str
    raw: str
    start: int
    stop: int

    @property
    def value(self) -> str | list[str]:
        """Text, or a list of texts for {a, b}."""
        if not self.raw.startswith("{"):
            return self.raw
        inner = self.raw[1:-1]
        if self.name.lower() == "description":
            return inner.strip()
        return [part.strip() for part in inner.split(",")]


@dataclass(frozen=True)
class HeaderText:
    """The text of a header file, every character of it; `encoding` gives back its bytes."""

    text: str
    encoding: str
    entries: tuple[HeaderEntry, ...]


def read_text(path: Path) -> HeaderText:
    """Return the text of a header file; BadParams says which line is wrong."""
    try:
        with path.open("rb") as file:
            data = file.read(SMALL + 1)
    except FileNotFoundError:
        raise BadParams(f"{path}: no such file") from None
    _check_start(path, data)
    try:
        text, encoding = data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        text, encoding = data.decode("latin-1"), "latin-1"  # any byte has a letter there
    return HeaderText(text, encoding, tuple(entries(text, str(path))))


def _check_start(path: Path, data: bytes) -> None:
    """Raise BadParams for what is no text that starts with ENVI."""
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


def entries(text: str, path: str) -> Iterator[HeaderEntry]:
    """Yield the fields of a header's text; BadParams for a brace that is never closed."""
    lines = list(LINES.finditer(text))
    at = 1  # behind ENVI
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
    """Return the line of one field."""
    if name == "description":
        return f"description = {{{value}}}"
    return f"{name} = {{{', '.join(value)}}}" if isinstance(value, list) else f"{name} = {value}"


def header_text(fields: Mapping[str, str | list[str]]) -> str:
    """Return the text of a header file with these fields, in their order."""
    return "\n".join(["ENVI", *(field_text(name, value) for name, value in fields.items())]) + "\n"
