"""Results of a finished job, read from its store, so that a resumed one reports the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import zarr
from zarr.storage import StorePath

from gangsaw.tasks.store.chunks import METADATA
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.manifest import read_manifest

TOTALS = ("paths_total", "dp1_total", "dp1_paths")  # the last of V-J chains


@dataclass(frozen=True)
class CountRun:
    """What one run of a job did.

    Attributes
    ----------
    references : that it counted; the others were counted before
    seconds, read_seconds : wall clock of the run, and of its reading alone
    """

    references: int
    seconds: float
    read_seconds: float

    @property
    def references_per_second(self) -> float:
        """Over all its time: reading and writing included."""
        return self.references / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class CountSummary:
    """Results of a job.

    Attributes
    ----------
    store, table : where the store and the table of dropped rows are
    files : number of files
    problems : a line for each file that could not be read, or not to its end
    notes : a line for each thing that was assumed of a file, or is to be known of the locus
    rows, kept : of the files; those that are references of the store
    samples : number of samples
    dropped : rows by reason
    without_paths : of the rows that were kept, those that nothing was counted for
    raw_bytes, stored_bytes : of all variables along `reference`
    run : of this run
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
        """Raw over stored bytes."""
        return self.raw_bytes / self.stored_bytes if self.stored_bytes else 0.0


def _without_paths(store: Place, arrays: Mapping[str, object]) -> int:
    """Count the rows without any path at the greatest limits, a chunk at a time."""
    name = next(name for name in TOTALS if name in arrays)
    array = zarr.open_array(StorePath(store.store, store.path), path=name, mode="r")
    n, step = array.shape[0], array.chunks[0]
    runs = (
        np.asarray(array[i : i + step]).reshape(min(step, n - i), -1) for i in range(0, n, step)
    )
    return sum(int((counts == 0).all(axis=1).sum()) for counts in runs)


def summary_of(store: Place, table: str, run: CountRun) -> CountSummary:
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
