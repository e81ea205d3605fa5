"""Capabilities of the codec: it codes any items of plain bytes, on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsaw.codecs.core.plugins.selection import ArrayFacts, Capabilities, Option


class _Capabilities(Capabilities):
    options = (Option("octets_block", "Bytes of a block.", "65536", int),)

    def settled(self, array: ArrayFacts, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"block": options["octets_block"]} if "octets_block" in options else {}


CAPABILITIES = _Capabilities()
