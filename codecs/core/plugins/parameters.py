"""Checks of parameters, with messages that all codecs share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, Self, TypeVar

from gangsaw.codecs.core.errors import BadParams


class _Checking(Protocol):
    """Interface of a class that accepts any keywords, and raises an error for wrong values."""

    def __init__(self, **values: object) -> None: ...


class Parameters(Protocol):
    """Interface of a codec's parameters: a frozen class whose fields are the codec's keywords."""

    def __init__(self, **values: object) -> None: ...

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration."""

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names and wrong values."""


Built = TypeVar("Built", bound=_Checking)


def built(kind: type[Built], values: Mapping[str, object]) -> Built:
    """Construct parameters from unchecked values; the class raises BadParams for wrong ones."""
    return kind(**values)


def require_int(name: str, value: object, low: int, high: int) -> None:
    """Raise BadParams unless the value is a plain int in low..high."""
    plain = isinstance(value, int) and not isinstance(value, bool)
    if not plain or not low <= value <= high:  # type: ignore[operator]
        # NumPy integers print as if they were in the range
        hint = "" if plain else ": give a plain int"
        raise BadParams(f"{name} must be in {low}..{high}, got {value!r}{hint}")


def require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise BadParams unless the value is one of the choices, with their type."""
    if isinstance(value, bool) or type(value) is not type(choices[0]) or value not in choices:
        raise BadParams(f"{name} must be one of {', '.join(map(str, choices))}, got {value!r}")


def require_known(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise BadParams if a configuration has a name that is not in `known`."""
    if unknown := sorted(set(names) - set(known)):
        raise BadParams(f"unknown parameter {unknown[0]!r}; known are {', '.join(sorted(known))}")
