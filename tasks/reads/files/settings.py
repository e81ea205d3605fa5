"""What a user chooses of reads."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.parameters import require_choice

QUALITIES = ("lossless", "binned", "none")
NAMES = ("keep", "number", "none")
ORDERS = ("kept", "bins", "sorted", "smallest")
PLACED = ("bins", "sorted")  # orders by places of the genome, whatever names cost
PHREDS = (33, 64)
PAIRINGS = ("checked", "trusted")


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
    """

    order: str = "kept"
    qualities: str = "lossless"
    names: str = "keep"
    interleaved: bool = False
    phred: int | None = None
    pairing: str = "checked"

    def __post_init__(self) -> None:
        """Check each choice; BadParams lists what it may be."""
        require_choice("order", self.order, ORDERS)
        require_choice("qualities", self.qualities, QUALITIES)
        require_choice("names", self.names, NAMES)
        require_choice("pairing", self.pairing, PAIRINGS)
        require_choice("phred", self.zero, PHREDS)

    @property
    def zero(self) -> int:
        """The letter of quality 0."""
        return self.phred or PHREDS[0]
