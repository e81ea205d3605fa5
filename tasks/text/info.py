"""Attribute of a store that holds a text file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.text.text_detection import detect_encoding, line_ends_of

ATTRIBUTE = "gangsaw_text"
VERSION = 1


@dataclass(frozen=True)
class TextInfo:
    """Encoding and line ends of a text file, detected from its first bytes.

    Attributes
    ----------
    encoding : such as "UTF-8", or "other bytes"
    line_ends : such as "LF" or "LF and CR LF"
    """

    encoding: str
    line_ends: str

    @classmethod
    def detect(cls, start: bytes) -> Self:
        """Detect encoding and line ends of a file from its first bytes."""
        return cls(detect_encoding(start), line_ends_of(start))

    def to_dict(self) -> dict[str, object]:
        """Return the properties as a Zarr attribute."""
        return {"version": VERSION, **vars(self)}

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, object]) -> Self | None:
        """Parse a group's attribute; return None if it is missing, raise BadParams if invalid."""
        data = attrs.get(ATTRIBUTE)
        if data is None:
            return None
        if not isinstance(data, Mapping) or data.get("version") != VERSION:
            raise BadParams(f"attribute {ATTRIBUTE} has an unsupported version")
        try:
            return cls(str(data["encoding"]), str(data["line_ends"]))
        except KeyError as error:
            raise BadParams(f"attribute {ATTRIBUTE} is incomplete: it lacks {error}") from error
