"""Public names of `gangsaw.tasks.radio.append`, for appending time steps to a store."""

from __future__ import annotations

from gangsaw.tasks.radio.append import Appender, Steps

__all__ = ["Appender", "Steps"]
