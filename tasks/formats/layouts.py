"""How samples of an image lie in a file that holds nothing else; imported for every `--help`."""

from __future__ import annotations

from typing import Literal, TypedDict

from gangsaw.codecs.core.options import Option

INTERLEAVES = {"bsq": ("band", "y", "x"), "bil": ("y", "band", "x"), "bip": ("y", "x", "band")}
BYTE_ORDERS: dict[str, Literal["<", ">"]] = {"little": "<", "big": ">"}


class FlatLayout(TypedDict, total=False):
    """Values of the options of a target that holds samples alone."""

    interleave: str
    byte_order: str


class RawLayout(FlatLayout, total=False):
    """Values of the options of a source that holds samples alone; see `open_raw`."""

    shape: tuple[int, ...]
    dtype: str
    offset: int


# of a target that holds samples alone; what it gets by default is what the source had
INTERLEAVE = Option(
    "interleave", "Order of the axes.", "as the source was", choices=tuple(INTERLEAVES)
)
BYTE_ORDER = Option(
    "byte_order", "Of the samples.", "as the source was", choices=tuple(BYTE_ORDERS)
)
