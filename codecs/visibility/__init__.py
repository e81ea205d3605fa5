"""Lossless codec of float arrays, designed for visibilities of radio interferometers.

Public names are imported at first use, so that importing the package loads no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.codecs.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from gangsaw.codecs.visibility.online import StepEncoder
    from gangsaw.codecs.visibility.params import Params

_HOMES = {"Params": "params", "StepEncoder": "online"}

__all__ = ["Params", "StepEncoder"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
