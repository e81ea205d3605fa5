"""A header's text, changed only where a field has another value than the file will have."""

from __future__ import annotations

import numpy as np

from gangsaw.tasks.formats.known.envi.header import standard_name
from gangsaw.tasks.formats.known.envi.metadata import numbers
from gangsaw.tasks.formats.known.envi.text import Fields, HeaderText, field_text

# what a header says that does not have these fields
DEFAULTS = {"header offset": "0", "interleave": "bsq", "byte order": "0"}


def edited(header: HeaderText, wanted: Fields) -> str:
    """Return the text with the wanted fields and no others; those that say the same stay as is.

    The last one of a name counts, as for readers.
    """
    last = {standard_name(entry): entry for entry in header.entries}
    new_line = "\r\n" if "\r\n" in header.text else "\n"
    pieces, at = [], 0
    for name, entry in sorted(last.items(), key=lambda item: item[1].start):
        if name in wanted and is_same(entry.value, wanted[name]):
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


def is_same(there: str | list[str], wanted: str | list[str]) -> bool:
    """Whether two values say the same: equal text, a word in other capitals, equal numbers."""
    if _several(there) == _several(wanted):  # of one text NetCDF makes no list
        return True
    if isinstance(there, str) and isinstance(wanted, str) and there.lower() == wanted.lower():
        return True
    n = len(wanted) if isinstance(wanted, list) else 1
    had, has = numbers(there, n), numbers(wanted, n)
    return had is not None and has is not None and np.array_equal(had, has, equal_nan=True)


def _several(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
