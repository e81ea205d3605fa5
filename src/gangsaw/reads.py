"""Sequencing reads in a store: `gangsaw.reads.open("reads.zarr")[1000:2000].sequences`."""

from __future__ import annotations

from gangsaw.tasks.genomics.reads.index.build import add_index
from gangsaw.tasks.genomics.reads.views.reads import Reads, SingleRead
from gangsaw.tasks.genomics.reads.views.readset import ReadSet, open
from gangsaw.tasks.genomics.sequences.ragged import Packed, Ragged

__all__ = ["Packed", "Ragged", "ReadSet", "Reads", "SingleRead", "add_index", "open"]
