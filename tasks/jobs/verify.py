"""Compare a store with its manifests: every chunk is there, decodable, and equal to its source.
Zarr itself gives fill values for a missing chunk, so only the manifest shows that it is missing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.abc.store import Store

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.engine.memory import transcode_bytes
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.window import Options
from gangsaw.tasks.jobs.arrays import ArrayWork, run_arrays
from gangsaw.tasks.jobs.check import CheckChunks, Checked, same_bits
from gangsaw.tasks.jobs.device import launch_batches
from gangsaw.tasks.jobs.finished import FinishedArray, find_finished
from gangsaw.tasks.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.place import open_place
from gangsaw.tasks.store.records import Records
from gangsaw.tasks.store.variables import TEXTS, as_text

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class Report:
    """What `verify` found.

    Attributes
    ----------
    store : where the store is
    arrays : names of the arrays that were verified; "" is an array at the root
    chunks : chunks of their manifests
    raw_bytes, stored_bytes : of the correct chunks
    compared : whether samples were compared with a source
    problems : one line each
    extra : objects below the arrays that no manifest names; harmless
    seconds : wall clock
    """

    store: str
    arrays: tuple[str, ...]
    chunks: int
    raw_bytes: int
    stored_bytes: int
    compared: bool
    problems: tuple[str, ...]
    extra: tuple[str, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(
    store: str | Path | Store,
    *,
    against: Source | None = None,
    client: Client | None = None,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
) -> Report:
    """Check every chunk of every array of a store that a job wrote.

    Parameters
    ----------
    store : path, address or Zarr store
    against : source whose samples and coordinates the store must hold, bit for bit
    client : Dask client; None works in this thread
    options : resources, retries
    on_progress : called after each batch

    Raises
    ------
    BadParams
        There is no store, or no job wrote it.
    JobFailed
        The job that writes it is not finished, or the check itself could not be done.
    """
    started = time.monotonic()
    place = open_place(store)
    arrays, problems = find_finished(place)
    if against is not None:
        problems += _differences(arrays, against)
    n_chunks = sum(array.n_chunks for array in arrays)
    checked = _check(arrays, against, Meter(n_chunks, on_progress, started), client, options)
    problems += [line for part in checked for line in part.problems]
    return Report(
        store=str(place),
        arrays=tuple(array.name for array in arrays),
        chunks=n_chunks,
        raw_bytes=sum(part.raw_bytes for part in checked),
        stored_bytes=sum(part.stored_bytes for part in checked),
        compared=against is not None,
        problems=tuple(problems),
        extra=tuple(key for array in arrays for key in array.unknown_objects()),
        seconds=time.monotonic() - started,
    )


def _check(
    arrays: Sequence[FinishedArray],
    against: Source | None,
    meter: Meter,
    client: Client | None,
    options: Options | None,
) -> list[Checked]:
    """Return the results of all batches of all arrays."""
    sources = {a.name: a for a in against.arrays} if against is not None else {}
    results = []

    def on_done(_: int, result: Checked) -> None:
        results.append(result)
        meter.add(result.chunks, result.raw_bytes, result.stored_bytes)

    works = [_work(array, sources.get(array.name)) for array in arrays]
    run_arrays("verify", works, on_done, client=client, options=options)
    return results


def _work(array: FinishedArray, source: SourceArray | None) -> ArrayWork[Records, Checked]:
    coder = array.coder
    return ArrayWork(
        function=CheckChunks(array.place, array.metadata, source),
        batches=list(array.batches()),
        batch_bytes=array.batch_chunks * coder.chunk_bytes,
        peak_bytes=transcode_bytes(
            coder.grid.shape, coder.grid.chunks, coder.dtype, source.chunks if source else None
        ),
        launch_batches=launch_batches(coder, array.batch_chunks),
    )


def _differences(arrays: list[FinishedArray], against: Source) -> list[str]:
    """List where arrays and coordinates of store and source do not match."""
    stored = {array.name: array for array in arrays}
    problems = []
    for wanted in against.arrays:
        if (array := stored.get(wanted.name)) is None:
            problems.append(f"{wanted.name}: in the source, not in the store")
        elif (had := _kind(array.coder)) != (has := (wanted.shape, wanted.dtype.name)):
            problems.append(f"{wanted.name}: the store has {had}, the source {has}")
    for coordinate in against.coords:
        found = stored.get(coordinate.name)
        if coordinate.is_file and found is not None:
            problems += [f"{coordinate.name}: {line}" for line in _of_file(coordinate, found)]
            continue
        if (
            found is None
            or found.coder.grid.shape != coordinate.values.shape
            or not same_bits(_whole(found), np.asarray(coordinate.values))
        ):
            problems.append(f"{coordinate.name}: the coordinate differs from the source's")
    return problems


def _of_file(coordinate: Coordinate, found: FinishedArray) -> list[str]:
    """List what differs in a file; other bytes can be the same: HDF5 chooses its layout."""
    if coordinate.unlike is None:
        return []
    return coordinate.unlike(_whole(found), np.asarray(coordinate.values))


def _kind(coder: ArrayCoder) -> tuple[tuple[int, ...], str]:
    return coder.grid.shape, coder.dtype.name


def _whole(array: FinishedArray) -> NumpyArray:
    place = array.place
    values = np.asarray(zarr.open_array(place.store, path=place.path, mode="r")[...])
    return as_text(values) if values.dtype.kind in TEXTS else values  # of one text zarr gives str
