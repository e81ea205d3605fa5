"""Read group in the syntax of BWA and minimap2: `@RG\\tID:x\\tSM:y`, with `\\t` or tabs."""

from __future__ import annotations

import re

from gangsaw.codecs.core.errors import BadParams

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9]:[ -~]+")
_TAB = "\\t"


def read_group_of(text: str) -> str:
    """Return the header line of a read group, without a newline; "" for an empty text.

    Raises
    ------
    BadParams : the text is no SAM header line or has no ID
    """
    if not text:
        return ""
    first, *rest = text.replace(_TAB, "\t").split("\t")
    is_line = first == "@RG" and all(_FIELD.fullmatch(field) for field in rest)
    if not is_line or sum(field.startswith("ID:") for field in rest) != 1:
        raise BadParams(f"--read-group must be such as '@RG\\tID:x\\tSM:y', got {text!r}")
    return "\t".join([first, *rest])


def id_of(line: str) -> str:
    """Return the ID in a read group line, or "" if it has none."""
    return next((one[3:] for one in line.split("\t") if one.startswith("ID:")), "")
