"""Reader of state files: JSON whose fields are type-checked before use.

A checksum proves that bytes are complete, not that Gangsaw wrote them: any program can compute a
valid checksum.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from gangsaw.codecs.core.errors import CorruptChunk

MOST = (1 << 63) - 1  # largest number in a state file


@dataclass(frozen=True)
class StateFields:
    """Fields of a JSON object in a state file, such as a lease, with typed access.

    Attributes
    ----------
    values : field values by name
    """

    values: Mapping[str, object]

    def text(self, name: str) -> str:
        """Return a string field."""
        value = self.values.get(name)
        if not isinstance(value, str):
            raise CorruptChunk(f"{name} is no text")
        return value

    def count(self, name: str, most: int = MOST) -> int:
        """Return an integer field in 0..most."""
        return as_count(self.values.get(name), name, most)

    def flag(self, name: str) -> bool:
        """Return a field that is true or false."""
        value = self.values.get(name)
        if not isinstance(value, bool):
            raise CorruptChunk(f"{name} is neither true nor false")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a field that is a list of strings; [] if it is absent."""
        values = self.values.get(name, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise CorruptChunk(f"{name} is no list of texts")
        return values

    def each(self, name: str) -> list[StateFields]:
        """Return a field that is a list of JSON objects."""
        values = self.values.get(name)
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise CorruptChunk(f"{name} is no list of JSON objects")
        return [StateFields(value) for value in values]

    def fields(self, name: str) -> StateFields:
        """Return a field that is a JSON object."""
        value = self.values.get(name)
        if not isinstance(value, dict):
            raise CorruptChunk(f"{name} is no JSON object")
        return StateFields(value)

    def counts(self, name: str, width: int) -> list[list[int]]:
        """Return a field that is a list of lists of `width` integers; [] if it is absent."""
        rows = self.values.get(name, [])
        if not isinstance(rows, list):
            raise CorruptChunk(f"{name} is no list")
        if not all(isinstance(row, list) and len(row) == width for row in rows):
            raise CorruptChunk(f"{name} is no list of {width} numbers each")
        return [[as_count(value, name) for value in row] for row in rows]


def as_count(value: object, name: str, most: int = MOST) -> int:
    """Return an integer in 0..most; raise CorruptChunk for other values."""
    if isinstance(value, float) and value.is_integer():  # size of a 0-d array may be 8.0
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise CorruptChunk(f"{name} is no count")
    return value


def read_fields(data: bytes | str) -> StateFields:
    """Return the fields of a JSON object; raise CorruptChunk for other bytes."""
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        raise CorruptChunk("no JSON can be read") from None
    if not isinstance(found, dict):
        raise CorruptChunk("not a JSON object")
    return StateFields(found)


def text_at(data: bytes, name: str, store: str, key: str) -> str:
    """Return the string field `name` of a state file; CorruptChunk names a file without it."""
    with naming_file(store, key):
        return read_fields(data).text(name)


def fields_at(data: bytes, store: str, key: str) -> StateFields:
    """Return the fields of a state file; raise CorruptChunk, which names the file, for other bytes.

    Parameters
    ----------
    data : content of the file
    store, key : location of the file, for the message
    """
    with naming_file(store, key):
        return read_fields(data)


@contextmanager
def naming_file(store: str, key: str) -> Iterator[None]:
    """Add the location of a state file to a CorruptChunk that is raised within the context."""
    try:
        yield
    except CorruptChunk as error:
        raise error.at(store=store, chunk=key) from None
