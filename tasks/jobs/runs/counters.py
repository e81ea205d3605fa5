"""Labels of batches for the job's counters: codec of the array and numbers of the chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, cast

from gangsaw.tasks.engine.report.counters import current_counters
from gangsaw.tasks.engine.scheduling.lazy import BatchRanges

OURS = "gangsaw."
# codecs that only serialize, reorder or checksum: they are not named
AROUND = {"bytes", "transpose", "crc32c", "vlen-utf8", "vlen-bytes"}
SHARDS = "sharding_indexed"  # its inner codecs are named instead
NONE = "none"  # plain samples, under the name that `compress` has for them


class CountedWork(Protocol):
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


def _chunk_ranges(works: Sequence[CountedWork]) -> Iterator[tuple[int, object]]:
    """Yield array index and remaining chunks: single batches, or ranges from `BatchRanges`."""
    for number, work in enumerate(works):
        units = getattr(work.batches, "units", work.batches)  # the chunk numbers alone
        runs = units.ranges if isinstance(units, BatchRanges) else units
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
    def for_works(cls, works: Sequence[CountedWork]) -> Labels:
        """Return the labels of a job's arrays; start its map of chunks on the dashboard."""
        metadata = [getattr(work.function, "metadata", None) for work in works]
        codecs = tuple("" if one is None else codec_named(one) for one in metadata)
        *firsts, total = accumulate((work.n_chunks for work in works), initial=0)
        labels = cls(codecs, tuple(firsts))
        if (counters := current_counters()) is not None and all(work.n_chunks for work in works):
            counters.expect_chunks(
                total, (labels.chunk_numbers(i, run) for i, run in _chunk_ranges(works))
            )
        return labels

    def chunk_numbers(self, array: int, batch: object) -> range:
        """Return the numbers of a batch's chunks among the chunks of all arrays."""
        own = getattr(batch, "batch", batch)
        first = self.firsts[array]
        return range(first + own.start, first + own.stop) if isinstance(own, range) else range(0)

    def attribute_next(self, array: int, batch: object, result: object) -> None:
        """Attribute the next progress report to the codec and the chunks of a batch.

        Chunks with problems in the result are counted as failed.
        """
        if (counters := current_counters()) is not None:
            counters.attribute_to_chunks(self.codecs[array], self.chunk_numbers(array, batch))
            counters.record_failures(getattr(result, "problems", ()))
