"""Sequencing reads of a store: `gangsaw.reads.open("reads.zarr")[1000:2000].sequences`."""

from __future__ import annotations

from gangsaw.tasks.reads.readset import Ragged, Reads, ReadSet, open

__all__ = ["Ragged", "ReadSet", "Reads", "open"]
