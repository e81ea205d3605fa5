"""Interleaves, byte orders and their options for flat image files; imported for every `--help`."""

from __future__ import annotations

from typing import Literal, TypedDict

from gangsaw.codecs.core.plugins.options import Option

INTERLEAVES = {"bsq": ("band", "y", "x"), "bil": ("y", "band", "x"), "bip": ("y", "x", "band")}
BYTE_ORDERS: dict[str, Literal["<", ">"]] = {"little": "<", "big": ">"}


class FlatLayout(TypedDict, total=False):
    """Option values of a flat target file."""

    interleave: str
    byte_order: str


class RawLayout(FlatLayout, total=False):
    """Option values of a flat source file; see `open_raw`."""

    shape: tuple[int, ...]
    dtype: str
    offset: int


# options of a flat target file; the default is the layout of the source
INTERLEAVE = Option(
    "interleave", "Order of the axes.", "as the source was", choices=tuple(INTERLEAVES)
)
BYTE_ORDER = Option(
    "byte_order", "Byte order of the samples.", "as the source was", choices=tuple(BYTE_ORDERS)
)
