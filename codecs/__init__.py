"""Codecs: what happens inside one chunk. Each is imported when it is first named."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gangsaw.codecs.ccsds123.codec import Ccsds123, Ccsds123V2
    from gangsaw.codecs.visibility.codec import Visibility, VisibilityV2

__all__ = ["Ccsds123", "Ccsds123V2", "Visibility", "VisibilityV2"]
_HOMES = {
    "Ccsds123": "ccsds123",
    "Ccsds123V2": "ccsds123",
    "Visibility": "visibility",
    "VisibilityV2": "visibility",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}.codec"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
