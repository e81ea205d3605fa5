"""Addresses of stores with what opens them: text like any other, which keeps its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

Named = TypeVar("Named")

NEAR = ("file", "memory")  # protocols without a network


class Address(str):
    """An address with the options of its file system; equal where both are.

    It is passed on, pickled and shown as the text that the user wrote. Its options, which may be
    secret, are shown nowhere.

    Attributes
    ----------
    options : keywords of the file system of fsspec, such as key, secret and endpoint_url of s3fs
    """

    options: Mapping[str, object]

    def __new__(cls, text: str, options: Mapping[str, object] | None = None) -> Address:
        """Return the text with its options."""
        made = super().__new__(cls, text)
        made.options = dict(options or {})
        return made

    def __str__(self) -> str:
        """Return the address itself: `str` of it is used where a path might come, too."""
        return self

    def __eq__(self, other: object) -> bool:
        """Whether text and options are equal."""
        return str.__eq__(self, other) is True and self.options == options_of(other)

    def __ne__(self, other: object) -> bool:
        """Whether text or options differ."""
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling."""
        return Address, (str.__str__(self), dict(self.options))


def options_of(address: object) -> Mapping[str, object]:
    """Return the options of an address, {} of a path or a plain text."""
    return address.options if isinstance(address, Address) else {}


def is_far(address: object) -> bool:
    """Whether an address is reached by a network."""
    protocol, mark, _ = str(address).partition("://")
    return bool(mark) and protocol not in NEAR


def opened_with(named: Named, options: Mapping[str, object] | None) -> Named:
    """Return what a user names, its addresses with the options that open them."""
    if not options:
        return named
    if isinstance(named, list | tuple):
        return cast("Named", [opened_with(one, options) for one in named])
    if isinstance(named, str) and "://" in named:
        return cast("Named", Address(named, options))
    return named
