"""Repertoire formats: the roles of columns, and their conversion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams

if TYPE_CHECKING:
    import pyarrow as pa

Columns = dict[str, "pa.Array"]  # role -> string array

# roles of columns; a junction has the codons of Cys and Phe/Trp, a cdr3 does not
ROLES = ("junction", "cdr3", "v", "d", "j", "copies", "id", "sample", "locus", "productive")
NEEDED = (("junction", "cdr3"), ("v",), ("j",))


@dataclass(frozen=True)
class RepertoireFormat:
    """Format of repertoire tables.

    Attributes
    ----------
    name : display name
    signs : sets of columns, each of which identifies the format
    columns : role -> possible columns; the first in the header wins
    needed : sets of roles; one role of each set must have a column
    prepare : converts the columns to the roles of `ROLES`
    """

    name: str
    signs: tuple[tuple[str, ...], ...]
    columns: Mapping[str, tuple[str, ...]]
    needed: tuple[tuple[str, ...], ...] = NEEDED
    prepare: Callable[[Columns], Columns] = dict

    def recognises(self, names: tuple[str, ...]) -> bool:
        """Return True if a header with these names has this format; case is ignored."""
        there = {name.lower() for name in names}
        return any(there.issuperset(sign) for sign in self.signs)

    def resembles(self, names: tuple[str, ...]) -> int:
        """Return how many roles of the format have a column among these names."""
        there = {name.lower() for name in names}
        return sum(not there.isdisjoint(columns) for columns in self.columns.values())

    def chosen(self, names: tuple[str, ...], what: object) -> dict[str, str]:
        """Return role -> column name in the file.

        Raises
        ------
        BadParams : a required column is missing or duplicated; the message names `what`
        """
        there: dict[str, list[str]] = {}
        for name in names:
            there.setdefault(name.lower(), []).append(name)
        roles: dict[str, str] = {}
        for role, columns in self.columns.items():
            if found := [name for column in columns for name in there.get(column, ())]:
                roles[role] = found[0]
                if names.count(found[0]) > 1:
                    raise BadParams(f"{what} has two columns {found[0]!r}")
        for alternatives in self.needed:
            if not any(role in roles for role in alternatives):
                lacks = [column for role in alternatives for column in self.columns.get(role, ())]
                needs = f"{what} ({self.name}) needs a column {' or '.join(lacks)}"
                raise BadParams(f"{needs}; it has {list_columns(names)}")
        return roles


def list_columns(names: tuple[str, ...]) -> str:
    """Return column names for a message, the first hundred."""
    shown = ", ".join(name[:60] for name in names[:100])
    return f"{shown}, ..." if len(names) > 100 else shown
