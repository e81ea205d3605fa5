"""User's settings for reads."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import require_choice

QUALITIES = ("lossless", "binned", "none")
NAMES = ("keep", "number", "none")
ORDERS = ("kept", "bins", "sorted", "smallest")
PLACED = ("bins", "sorted")  # orders by position in the genome, whatever the cost for names
PHREDS = (33, 64)
PAIRINGS = ("checked", "trusted")
ALL, NONE = "all", "none"  # special values of `tags`
TAG = re.compile("[A-Za-z][A-Za-z0-9]")


@dataclass(frozen=True)
class Settings:
    """User's settings of the order, qualities, names and tags of reads to store.

    Attributes
    ----------
    order : "kept"; "bins" groups reads of one region of the genome; "sorted" also sorts them by
        their position in each chunk's consensus; "smallest" puts reads of one region into one
        chunk, in the order with the fewest bytes, including names
    qualities : "lossless", "binned" to eight values, or "none"
    phred : ASCII offset of quality 0, 33 or 64; None is 33, and refuses to bin qualities that look
        like offset 64
    names : "keep"; "number" numbers the records; "none" stores empty names
    interleaved : True if mates alternate in one file
    pairing : "checked" by the names of mates, or "trusted"
    tags : BAM tags that are appended to names, such as "RX,CB"; "all", or "" for none
    """

    order: str = "kept"
    qualities: str = "lossless"
    names: str = "keep"
    interleaved: bool = False
    phred: int | None = None
    pairing: str = "checked"
    tags: str = ""

    def __post_init__(self) -> None:
        """Check each setting; BadParams lists the allowed values."""
        require_choice("order", self.order, ORDERS)
        require_choice("qualities", self.qualities, QUALITIES)
        require_choice("names", self.names, NAMES)
        require_choice("pairing", self.pairing, PAIRINGS)
        require_choice("phred", self.zero, PHREDS)
        if tags_of(self.tags) and self.names != "keep":
            raise BadParams("--tags are stored after names: leave --names out")

    @property
    def zero(self) -> int:
        """ASCII offset of quality 0."""
        return self.phred or PHREDS[0]


def tags_of(text: str) -> tuple[str, ...]:
    """Return the tags of a list such as "RX,CB", (ALL,) for "all"; raise BadParams if invalid."""
    tags = tuple(tag.strip() for tag in text.split(",")) if text not in ("", NONE) else ()
    wrong = [tag for tag in tags if tags != (ALL,) and not TAG.fullmatch(tag)]
    if wrong:
        raise BadParams(f"tags must be like RX,CB or all, got {wrong[0]!r}")
    return tags
