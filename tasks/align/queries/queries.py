"""Some queries: names, letters and qualities."""

from __future__ import annotations

from typing import NamedTuple, cast

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.sequences.files.text import Places, Text
from gangsaw.tasks.sequences.ragged import Ragged


class Queries(NamedTuple):
    """Some queries.

    Attributes
    ----------
    names, sequences, qualities : a line of each; qualities are empty where there are none
    """

    names: Ragged
    sequences: Ragged
    qualities: Ragged

    def arrays(self) -> dict[str, NumpyArray]:
        """Return them as arrays."""
        own = zip(self._fields, self, strict=True)
        return {
            f"{name}_{what}": getattr(lines, what)
            for name, lines in own
            for what in ("data", "offsets")
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NumpyArray]) -> Queries:
        """Return what `arrays` gave."""
        own = (
            Ragged(cast(Text, arrays[f"{name}_data"]), cast(Places, arrays[f"{name}_offsets"]))
            for name in cls._fields
        )
        return cls(*own)
