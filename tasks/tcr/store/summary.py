"""Summary of a counting job, read from its store, so that a resumed one reports the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import zarr
from zarr.storage import StorePath

from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.manifest import read_manifest

TOTALS = ("paths_total", "dp1_total", "dp1_paths")  # the last for V-J chains


@dataclass(frozen=True)
class CountRun:
    """Figures of one run of a job.

    Attributes
    ----------
    references : number of references counted by this run
    seconds, read_seconds : duration of the run, and of its reading phase
    """

    references: int
    seconds: float
    read_seconds: float

    @property
    def references_per_second(self) -> float:
        """References per second of the whole run, including reading and writing."""
        return self.references / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class CountSummary:
    """Summary of a counting job.

    Attributes
    ----------
    store, table : addresses of the store and of the table of dropped rows
    files : number of files
    problems : a line for each file that could not be read, or not completely
    notes : messages on assumptions about files, and on the locus
    rows, kept : number of rows of the files, and of references of the store
    samples : number of samples
    dropped : number of dropped rows by reason
    without_paths : kept rows without a path
    raw_bytes, stored_bytes : of all variables along `reference`
    run : figures of this run
    """

    store: str
    table: str
    files: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    rows: int
    kept: int
    samples: int
    dropped: Mapping[str, int]
    without_paths: int
    raw_bytes: int
    stored_bytes: int
    run: CountRun

    @property
    def ratio(self) -> float:
        """Raw bytes divided by stored bytes."""
        return self.raw_bytes / self.stored_bytes if self.stored_bytes else 0.0


def _without_paths(store: Prefix, arrays: Mapping[str, object]) -> int:
    """Return the number of rows without a path at the greatest limits, one chunk at a time."""
    name = next(name for name in TOTALS if name in arrays)
    array = zarr.open_array(StorePath(store.store, store.path), path=name, mode="r")
    n, step = array.shape[0], array.chunks[0]
    runs = (
        np.asarray(array[i : i + step]).reshape(min(step, n - i), -1) for i in range(0, n, step)
    )
    return sum(int((counts == 0).all(axis=1).sum()) for counts in runs)


def summarize_counts(store: Prefix, table: str, run: CountRun) -> CountSummary:
    """Return the summary of a finished store."""
    metadata = store.get(METADATA)
    assert metadata is not None, "its job has just been finished"
    root = json.loads(metadata.to_bytes())
    attrs = root["attributes"]
    arrays = root["consolidated_metadata"]["metadata"]
    along = [name for name, array in arrays.items() if "reference" in array["dimension_names"]]
    manifests = [found for name in along if (found := read_manifest(store / name)) is not None]
    return CountSummary(
        store=str(store),
        table=table,
        files=len(attrs["input_files"]),
        problems=tuple(attrs["input_problems"]),
        notes=(*attrs.get("locus_notes", ()), *attrs["input_notes"]),
        rows=sum(attrs["input_rows"]),
        kept=sum(attrs["input_kept"]),
        samples=arrays["sample"]["shape"][0],
        dropped=dict(zip(attrs["dropped_reasons"], attrs["dropped_rows"], strict=True)),
        without_paths=_without_paths(store, arrays),
        raw_bytes=sum(manifest.raw_bytes for manifest in manifests),
        stored_bytes=sum(manifest.stored_bytes for manifest in manifests),
        run=run,
    )
