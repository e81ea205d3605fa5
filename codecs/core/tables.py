"""Tables: entry points of a group, by name, whoever installed them."""

from __future__ import annotations

import warnings
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

OURS = "gangsaw"


@lru_cache(maxsize=8)
def load(group: str) -> dict[str, Any]:
    """Return what the entry points of a group name, sorted by name, our own first of equal ones.

    One that cannot be imported, and the second of one name, are left out with a warning that names
    the distribution: a broken plugin must not take the rest with it.
    """
    found: dict[str, Any] = {}
    owners: dict[str, str] = {}
    for entry in sorted(entry_points(group=group), key=_order):
        if entry.name in found:
            _warn(entry, f"is a second one: that of {owners[entry.name]} is taken")
            continue
        try:
            found[entry.name] = entry.load()
        except Exception as error:  # whatever the plugin's modules raise
            _warn(entry, f"cannot be loaded: {type(error).__name__}: {error}")
            continue
        owners[entry.name] = _owner(entry)
    return dict(sorted(found.items()))


def _order(entry: EntryPoint) -> tuple[str, bool, str]:
    owner = _owner(entry)
    return entry.name, owner != OURS, owner


def _owner(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unnamed distribution"


def _warn(entry: EntryPoint, what: str) -> None:
    line = f"{_owner(entry)}: {entry.name!r} of the table {entry.group} {what}"
    warnings.warn(line, RuntimeWarning, stacklevel=3)
