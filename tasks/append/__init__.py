"""The public names of `gangsaw.tasks.radio.append`: to append steps to a store."""

from __future__ import annotations

from gangsaw.tasks.radio.append import Appender, Steps

__all__ = ["Appender", "Steps"]
