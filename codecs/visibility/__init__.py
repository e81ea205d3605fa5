"""Lossless codec of float arrays, designed for visibilities of radio interferometers.

Public names are imported at first use, so that importing the package loads no kernel.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangsaw.codecs.visibility.online import StepEncoder
    from gangsaw.codecs.visibility.params import Params

_HOMES = {"Params": "params", "StepEncoder": "online"}

__all__ = ["Params", "StepEncoder"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
