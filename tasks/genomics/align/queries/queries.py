"""`Queries`: names, bases and qualities of a batch."""

from __future__ import annotations

from typing import NamedTuple, cast

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.sequences.ragged import Ragged


class Queries(NamedTuple):
    """Batch of query sequences (reads or genome records) to align.

    Attributes
    ----------
    names, sequences, qualities : ragged lines, one per query; qualities are empty if there are none
    """

    names: Ragged
    sequences: Ragged
    qualities: Ragged

    def arrays(self) -> dict[str, NumpyArray]:
        """Return the queries as arrays by name."""
        own = zip(self._fields, self, strict=True)
        return {
            f"{name}_{what}": getattr(lines, what)
            for name, lines in own
            for what in ("data", "offsets")
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NumpyArray]) -> Queries:
        """Return the queries from the result of `arrays`."""
        own = (
            Ragged(cast(Text, arrays[f"{name}_data"]), cast(Positions, arrays[f"{name}_offsets"]))
            for name in cls._fields
        )
        return cls(*own)
