"""What a user chooses of reads."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.parameters import require_choice

QUALITIES = ("lossless", "binned", "none")
NAMES = ("keep", "number", "none")
ORDERS = ("kept", "bins", "sorted", "smallest")
PLACED = ("bins", "sorted")  # orders by places of the genome, whatever names cost
PHREDS = (33, 64)
PAIRINGS = ("checked", "trusted")
ALL, NONE = "all", "none"  # tags
TAG = re.compile("[A-Za-z][A-Za-z0-9]")


@dataclass(frozen=True)
class Settings:
    """What of the reads is kept.

    Attributes
    ----------
    order : "kept"; "bins" puts reads of one place of the genome near to each other, "sorted" also
        sorts them by their places in each chunk's consensus; "smallest" puts those of one place
        into one chunk, and there into the order that takes fewest bytes, names and all
    qualities : "lossless", "binned" to eight values, or "none"
    phred : letter of quality 0, 33 or 64; None is 33, and refuses to bin what looks like 64
    names : "keep", "number" gives each record its number, "none" gives it an empty name
    interleaved : whether mates follow each other in one file
    pairing : "checked" by the names of mates, or "trusted"
    tags : those of BAM that are kept behind the names, such as "RX,CB"; "all", or "" for none
    """

    order: str = "kept"
    qualities: str = "lossless"
    names: str = "keep"
    interleaved: bool = False
    phred: int | None = None
    pairing: str = "checked"
    tags: str = ""

    def __post_init__(self) -> None:
        """Check each choice; BadParams lists what it may be."""
        require_choice("order", self.order, ORDERS)
        require_choice("qualities", self.qualities, QUALITIES)
        require_choice("names", self.names, NAMES)
        require_choice("pairing", self.pairing, PAIRINGS)
        require_choice("phred", self.zero, PHREDS)
        if tags_of(self.tags) and self.names != "keep":
            raise BadParams("--tags are kept behind names: leave --names out")

    @property
    def zero(self) -> int:
        """The letter of quality 0."""
        return self.phred or PHREDS[0]


def tags_of(text: str) -> tuple[str, ...]:
    """Return the tags of a list such as "RX,CB", (ALL,) of "all"; BadParams for what is none."""
    tags = tuple(tag.strip() for tag in text.split(",")) if text not in ("", NONE) else ()
    wrong = [tag for tag in tags if tags != (ALL,) and not TAG.fullmatch(tag)]
    if wrong:
        raise BadParams(f"tags must be like RX,CB or all, got {wrong[0]!r}")
    return tags
