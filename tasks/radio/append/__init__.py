"""Stores that grow by one step of time after another, as a correlator gives them."""

from __future__ import annotations

from gangsaw.tasks.radio.append.appender import Appender
from gangsaw.tasks.radio.append.steps import Steps

__all__ = ["Appender", "Steps"]
