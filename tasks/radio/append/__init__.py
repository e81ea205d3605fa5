"""Stores that grow by one time step after another, as a correlator delivers them."""

from __future__ import annotations

from gangsaw.tasks.radio.append.appender import Appender
from gangsaw.tasks.radio.append.steps import Steps

__all__ = ["Appender", "Steps"]
