"""CCSDS 123.0-B lossless multispectral and hyperspectral image compression.

Names are imported at their first use, so that importing the package loads no kernel.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangsaw.codecs.ccsds123.header.header import read_header, write_header
    from gangsaw.codecs.ccsds123.params import Image, Params, SupplementaryTable
    from gangsaw.codecs.ccsds123.stream import decode_stream, encode_stream

_HOMES = {
    "Image": "params",
    "Params": "params",
    "SupplementaryTable": "params",
    "decode_stream": "stream",
    "encode_stream": "stream",
    "read_header": "header.header",
    "write_header": "header.header",
}

__all__ = [
    "Image",
    "Params",
    "SupplementaryTable",
    "decode_stream",
    "encode_stream",
    "read_header",
    "write_header",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
