"""Edit of an ENVI header text that changes only the fields with new values."""

from __future__ import annotations

import numpy as np

from gangsaw.tasks.formats.envi.header import standard_name
from gangsaw.tasks.formats.envi.metadata import parse_numbers
from gangsaw.tasks.formats.envi.text import Fields, HeaderText, field_text

# values of these fields in a header that omits them
DEFAULTS = {"header offset": "0", "interleave": "bsq", "byte order": "0"}


def edit_header(header: HeaderText, wanted: Fields) -> str:
    """Return the header text with exactly the wanted fields; unchanged fields keep their text.

    If a name occurs several times, its last field counts, as it does for readers.
    """
    last = {standard_name(entry): entry for entry in header.entries}
    new_line = "\r\n" if "\r\n" in header.text else "\n"
    pieces, at = [], 0
    for name, entry in sorted(last.items(), key=lambda item: item[1].start):
        if name in wanted and is_same_value(entry.value, wanted[name]):
            continue
        pieces.append(header.text[at : entry.start])
        at = entry.stop
        if name in wanted:
            pieces.append(field_text(name, wanted[name]) + new_line)
    text = "".join([*pieces, header.text[at:]])
    lacking = [
        field_text(name, value)
        for name, value in wanted.items()
        if name not in last and value != DEFAULTS.get(name) and name != "file type"
    ]
    if lacking and not text.endswith(("\n", "\r")):
        text += new_line
    return text + "".join(line + new_line for line in lacking)


def is_same_value(there: str | list[str], wanted: str | list[str]) -> bool:
    """Return True if two field values mean the same: equal numbers, or text in another case."""
    if _several(there) == _several(wanted):  # NetCDF stores a list of one text as a text
        return True
    if isinstance(there, str) and isinstance(wanted, str) and there.lower() == wanted.lower():
        return True
    n = len(wanted) if isinstance(wanted, list) else 1
    had, has = parse_numbers(there, n), parse_numbers(wanted, n)
    return had is not None and has is not None and np.array_equal(had, has, equal_nan=True)


def _several(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
