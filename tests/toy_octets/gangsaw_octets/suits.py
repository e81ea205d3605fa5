"""What the codec answers of itself: it takes whatever has plain bytes, where a user names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangsaw.codecs.core.plugins.selection import Answers, ArrayFacts, Option


class _Answers(Answers):
    options = (Option("octets_block", "Bytes of a block.", "65536", int),)

    def settled(self, array: ArrayFacts, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"block": options["octets_block"]} if "octets_block" in options else {}


ANSWERS = _Answers()
