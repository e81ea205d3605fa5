"""Labels of batches for the job's counters: codec of the array and numbers of the chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, cast

from gangsaw.tasks.engine.report.counters import current_counters
from gangsaw.tasks.engine.scheduling.lazy import Units

OURS = "gangsaw."
# codecs that only serialize, reorder or checksum: they are not named
AROUND = {"bytes", "transpose", "crc32c", "vlen-utf8", "vlen-bytes"}
SHARDS = "sharding_indexed"  # its inner codecs are named instead
NONE = "none"  # plain samples, under the name that `compress` has for them


class Counted(Protocol):
    """Subset of `arrays.ArrayWork` that `Labels` reads."""

    @property
    def function(self) -> object:
        """Batch function; it may have the zarr.json of the array as `metadata`."""

    @property
    def batches(self) -> Sequence[object]:
        """Remaining batches."""

    @property
    def n_chunks(self) -> int:
        """Number of chunks of the array, finished ones included; 0 if unknown."""


def codec_named(metadata: bytes) -> str:
    """Return the Zarr name of Gangsaw's codec in a zarr.json, or else of the last codec."""
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
    """Yield array index and remaining chunks: single batches, or longer ranges from `Units`."""
    for number, work in enumerate(works):
        units = getattr(work.batches, "units", work.batches)  # the chunk numbers alone
        runs = units.runs if isinstance(units, Units) else units
        yield from ((number, run) for run in runs)


@dataclass(frozen=True)
class Labels:
    """Codec and chunk numbers of each array of a job, to which its progress reports are attributed.

    Attributes
    ----------
    codecs : Zarr name of the codec of each array
    firsts : number of the first chunk of each array among the chunks of all arrays
    """

    codecs: tuple[str, ...]
    firsts: tuple[int, ...]

    @classmethod
    def of(cls, works: Sequence[Counted]) -> Labels:
        """Return the labels of a job's arrays; start its map of chunks on the dashboard."""
        metadata = [getattr(work.function, "metadata", None) for work in works]
        codecs = tuple("" if one is None else codec_named(one) for one in metadata)
        *firsts, total = accumulate((work.n_chunks for work in works), initial=0)
        labels = cls(codecs, tuple(firsts))
        if (counters := current_counters()) is not None and all(work.n_chunks for work in works):
            counters.expect_chunks(total, (labels.place(i, run) for i, run in _runs(works)))
        return labels

    def place(self, array: int, batch: object) -> range:
        """Return the numbers of a batch's chunks among the chunks of all arrays."""
        own = getattr(batch, "batch", batch)
        first = self.firsts[array]
        return range(first + own.start, first + own.stop) if isinstance(own, range) else range(0)

    def tell(self, array: int, batch: object, result: object) -> None:
        """Attribute the next progress report to the codec and the chunks of a batch.

        Chunks with problems in the result are counted as failed.
        """
        if (counters := current_counters()) is not None:
            counters.at(self.codecs[array], self.place(array, batch))
            counters.failed(getattr(result, "problems", ()))
