"""What a tally is told of each batch: the codec of its array, and which chunks it has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, cast

from gangsaw.tasks.engine.lazy import Units
from gangsaw.tasks.engine.tally import current

OURS = "gangsaw."
# codecs that put bytes in order and add to them, and one whose codecs count
AROUND = {"bytes", "transpose", "crc32c", "vlen-utf8", "vlen-bytes"}
SHARDS = "sharding_indexed"
NONE = "none"  # plain samples, as `compress` calls them


class Counted(Protocol):
    """What is asked of `arrays.ArrayWork`."""

    @property
    def function(self) -> object:
        """What is done with a batch; `metadata` is the zarr.json of the array, where it has one."""

    @property
    def batches(self) -> Sequence[object]:
        """The batches that remain."""

    @property
    def n_chunks(self) -> int:
        """Of the array, those that are done included; 0 where nothing says it."""


def codec_named(metadata: bytes) -> str:
    """Return the Zarr name of what codes the chunks of a zarr.json: ours, else the last one."""
    named = [name for name in _names(json.loads(metadata).get("codecs", ())) if name not in AROUND]
    return next((name for name in named if name.startswith(OURS)), named[-1] if named else NONE)


def _names(codecs: Iterable[Mapping[str, object]]) -> Iterable[str]:
    for codec in codecs:
        if codec["name"] == SHARDS:
            inner = cast("Mapping[str, Iterable[Mapping[str, object]]]", codec["configuration"])
            yield from _names(inner["codecs"])
        else:
            yield str(codec["name"])


def _runs(works: Sequence[Counted]) -> Iterator[tuple[int, object]]:
    """Yield what is left of each array, in few pieces where its batches are runs of numbers."""
    for number, work in enumerate(works):
        units = getattr(work.batches, "units", work.batches)  # as long, and numbers alone
        runs = units.runs if isinstance(units, Units) else units
        yield from ((number, run) for run in runs)


@dataclass(frozen=True)
class Labels:
    """The arrays of a job.

    Attributes
    ----------
    codecs : of each
    firsts : number of its first chunk among the chunks of all arrays
    """

    codecs: tuple[str, ...]
    firsts: tuple[int, ...]

    @classmethod
    def of(cls, works: Sequence[Counted]) -> Labels:
        """Return those of arrays; the map of the job begins."""
        metadata = [getattr(work.function, "metadata", None) for work in works]
        codecs = tuple("" if one is None else codec_named(one) for one in metadata)
        *firsts, total = accumulate((work.n_chunks for work in works), initial=0)
        labels = cls(codecs, tuple(firsts))
        if (tally := current()) is not None and all(work.n_chunks for work in works):
            tally.expect_chunks(total, (labels.place(i, run) for i, run in _runs(works)))
        return labels

    def place(self, array: int, batch: object) -> range:
        """Return the numbers of a batch's chunks among those of all arrays."""
        own = getattr(batch, "batch", batch)
        first = self.firsts[array]
        return range(first + own.start, first + own.stop) if isinstance(own, range) else range(0)

    def tell(self, array: int, batch: object, result: object) -> None:
        """Say of what the job tells next; damaged chunks that it found have failed."""
        if (tally := current()) is not None:
            tally.at(self.codecs[array], self.place(array, batch))
            tally.failed(getattr(result, "problems", ()))
