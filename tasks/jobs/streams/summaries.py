"""Summary of a job that stored a stream."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace

from gangsaw.tasks.engine.report.progress import Meter
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.streams.growing import GrowingArray
from gangsaw.tasks.sources.source import Stream
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.objects.prefix import Prefix


def find_summary(store: str, arrays: Mapping[str, GrowingArray], meter: Meter) -> Summary:
    """Return the summary of a job that stored a stream, by the records of its steps."""
    done = meter.progress
    return Summary(
        store=store,
        arrays=tuple(arrays),
        chunks=done.done,
        resumed=done.resumed,
        samples=sum(math.prod(array.shape) for array in arrays.values()),
        raw_bytes=done.raw_bytes,
        stored_bytes=done.stored_bytes,
        run_bytes=done.run_bytes,
        seconds=done.seconds,
        array_bytes={
            name: sum(records.stored_bytes for records in array.entries)
            for name, array in arrays.items()
        },
    )


def count_encoded(summary: Summary, stream: Stream, attrs: Mapping[str, object]) -> Summary:
    """Return a summary with the bytes of the sequences that the arrays of a stream encode.

    If the arrays of a stream are shorter than its sequences, it has `letters_of`. This function
    returns the number of residues from the attributes of the store. Other summaries are returned
    unchanged.
    """
    letters_of = getattr(stream, "letters_of", None)
    if letters_of is None:
        return summary
    n = int(letters_of(attrs))
    run = summary.run_bytes * n // max(1, summary.raw_bytes)
    return replace(summary, samples=n, raw_bytes=n, run_bytes=run)


def summary_attributes(store: Prefix) -> Mapping[str, object]:
    """Return the attributes of a store's group."""
    data = store.get(METADATA)
    found: Mapping[str, object] = {} if data is None else json.loads(data.to_bytes())["attributes"]
    return found
