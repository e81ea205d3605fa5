"""CCSDS 123.0-B lossless multispectral and hyperspectral image compression.

Names are imported at their first use, so that importing the package loads no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.codecs.core.lazy_names import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
