"""What is shared: nucleotypes, or clonotypes of amino acids, with the V gene or without."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.errors import BadParams


@dataclass(frozen=True)
class Receptor:
    """One kind of receptors that are counted as the same.

    Attributes
    ----------
    name : what options and tables call it
    word : in the plural, for messages
    keys : columns that are equal in rows of one receptor
    """

    name: str
    word: str
    keys: tuple[str, ...]

    @property
    def is_translated(self) -> bool:
        """Whether it goes by amino acids."""
        return "aa" in self.keys


NUCLEOTYPE = Receptor("nt", "nucleotypes", ("cdr3", "v", "j"))
KINDS = (
    NUCLEOTYPE,
    Receptor("aa", "amino-acid clonotypes", ("aa",)),
    Receptor("aa-v", "amino-acid clonotypes with V", ("aa", "v")),
)


def kind_of(name: str) -> Receptor:
    """Return the kind of a name; raise BadParams for others."""
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise BadParams(f"by must be one of {', '.join(kind.name for kind in KINDS)}, got {name!r}")
