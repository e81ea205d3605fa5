"""Store addresses: strings that carry the options of their file system."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar, cast

from gangsaw.codecs.core.errors import BadParams

Named = TypeVar("Named")

ONE_SLASH = re.compile(r"(s3|gs|gcs|az|abfs|https?|file|memory):/(?!/)(.*)")
LOCAL_PROTOCOLS = ("file", "memory")  # protocols without a network


class Address(str):
    """Address with the options of its file system; equal if text and options are equal.

    It is passed on, pickled and shown as the text that the user wrote. Its options, which may be
    secret, are shown nowhere.

    Attributes
    ----------
    options : keyword arguments of the fsspec file system, such as key, secret and endpoint_url of
        s3fs
    """

    options: Mapping[str, object]

    def __new__(cls, text: str, options: Mapping[str, object] | None = None) -> Address:
        """Return the address with these options."""
        made = super().__new__(cls, text)
        made.options = dict(options or {})
        return made

    def __str__(self) -> str:
        """Return the address itself, not its bare text, which would lose the options.

        Callers apply `str` to paths and addresses alike.
        """
        return self

    def __eq__(self, other: object) -> bool:
        """Return True if text and options are equal."""
        return str.__eq__(self, other) is True and self.options == options_of(other)

    def __ne__(self, other: object) -> bool:
        """Return True if text or options differ."""
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the text with its options."""
        return Address, (str.__str__(self), dict(self.options))


def options_of(address: object) -> Mapping[str, object]:
    """Return the options of an address; {} for a path or a plain string."""
    return address.options if isinstance(address, Address) else {}


def is_remote_address(address: object) -> bool:
    """Return True if the address is reached over a network."""
    protocol, mark, _ = str(address).partition("://")
    return bool(mark) and protocol not in LOCAL_PROTOCOLS


def check_slashes(address: object) -> None:
    """Raise BadParams for an address with one slash: s3:/bucket would be a local folder s3:."""
    found = ONE_SLASH.match(str(address))
    if found is not None and not Path(found[1] + ":").exists():
        raise BadParams(f"{address}: an address has two slashes: use {found[1]}://{found[2]}")


def explain_missing_store(address: object) -> str:
    """Return the end of the message about a path without a Zarr store, with advice."""
    path = Path(str(address).removeprefix("file://"))
    if "://" in str(path) or is_remote_address(address):
        return ": correct the address, or compress to it first"
    if path.is_dir():
        return ": name the folder of a store, which gangsaw compress writes"
    if path.exists():
        return ": it is a file; gangsaw compress makes a store of it"
    return ": no such file or directory, correct the path"


def add_options(named: Named, options: Mapping[str, object] | None) -> Named:
    """Return the argument (a path or several) with file system options on each address in it."""
    if not options:
        return named
    if isinstance(named, list | tuple):
        return cast("Named", [add_options(one, options) for one in named])
    if isinstance(named, str) and "://" in named:
        return cast("Named", Address(named, options))
    return named
