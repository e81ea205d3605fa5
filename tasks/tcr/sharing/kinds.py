"""Kinds of shared receptors: nucleotypes, and amino-acid clonotypes with or without the V gene."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.plugins.options import none_of


@dataclass(frozen=True)
class Receptor:
    """Kind of receptor: the columns whose equality makes rows the same receptor.

    Attributes
    ----------
    name : name in options and tables
    word : plural for messages
    keys : columns that are equal in rows of one receptor
    """

    name: str
    word: str
    keys: tuple[str, ...]

    @property
    def is_translated(self) -> bool:
        """True if amino acids are compared."""
        return "aa" in self.keys


NUCLEOTYPE = Receptor("nt", "nucleotypes", ("cdr3", "v", "j"))
KINDS = (
    NUCLEOTYPE,
    Receptor("aa", "amino-acid clonotypes", ("aa",)),
    Receptor("aa-v", "amino-acid clonotypes with V", ("aa", "v")),
)


def find_kind(name: str) -> Receptor:
    """Return the kind with a name; raise `BadParams` for unknown names."""
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise none_of("by", (kind.name for kind in KINDS), name)
