"""Compare a store with its manifests: every chunk is there, decodable, and equal to its source.
Zarr itself gives fill values for a missing chunk, so only the manifest shows that it is missing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from gangsaw.tasks.formats.witness import Witness
from gangsaw.tasks.jobs.arrays import ArrayWork, run_arrays
from gangsaw.tasks.jobs.check import CheckChunks, Checked, same_bits
from gangsaw.tasks.jobs.device import launch_batches
from gangsaw.tasks.jobs.finished import FinishedArray, find_finished
from gangsaw.tasks.source import Source, SourceArray
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.place import open_place
from gangsaw.tasks.store.records import Records
from gangsaw.tasks.store.variables import TEXTS, as_text

if TYPE_CHECKING:
    from distributed import Client


OURS = "gangsaw"  # what reads the arrays of a source that no library reads


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
    readers : what read the source: libraries of its field with their versions, and "gangsaw" for
        arrays that none of them reads
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
    readers: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(
    store: str | Path | Store,
    *,
    against: Source | None = None,
    witness: Witness | None = None,
    client: Client | None = None,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
) -> Report:
    """Check every chunk of every array of a store that a job wrote.

    Parameters
    ----------
    store : path, address or Zarr store
    against : source whose samples and coordinates the store must hold, bit for bit
    witness : what the field's own library reads of that source, which is compared in its place
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
    seen = () if witness is None else witness.arrays
    if against is not None:
        problems += dict.fromkeys([*_differences(arrays, against), *_unlike(arrays, seen)])
    sources = {array.name: array for array in (*(against.arrays if against else ()), *seen)}
    n_chunks = sum(array.n_chunks for array in arrays)
    checked = _check(arrays, sources, Meter(n_chunks, on_progress, started), client, options)
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
        readers=_readers(against, witness),
    )


def _check(
    arrays: Sequence[FinishedArray],
    sources: Mapping[str, SourceArray],
    meter: Meter,
    client: Client | None,
    options: Options | None,
) -> list[Checked]:
    """Return the results of all batches of all arrays; `sources` are what they must equal."""
    results = []

    def on_done(_: int, result: Checked) -> None:
        results.append(result)
        meter.add(result.chunks, result.raw_bytes, result.stored_bytes)

    works = [_work(array, _comparable(array, sources.get(array.name))) for array in arrays]
    run_arrays("verify", works, on_done, client=client, options=options)
    return results


def _comparable(array: FinishedArray, source: SourceArray | None) -> SourceArray | None:
    """Return the source of an array; None where its extents differ, which is told already."""
    is_alike = source is not None and source.shape == array.coder.grid.shape
    return source if is_alike else None


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
    problems = list(_unlike(arrays, against.arrays))
    for coordinate in against.coords:
        if coordinate.is_file:  # different bytes can be the same file: HDF5 chooses its layout
            continue
        found = stored.get(coordinate.name)
        if (
            found is None
            or found.coder.grid.shape != coordinate.values.shape
            or not same_bits(_whole(found), np.asarray(coordinate.values))
        ):
            problems.append(f"{coordinate.name}: the coordinate differs from the source's")
    return problems


def _unlike(arrays: Sequence[FinishedArray], seen: Iterable[SourceArray]) -> Iterator[str]:
    """Yield what a library reads of the source and the store has not, or has otherwise."""
    stored = {array.name: array for array in arrays}
    for wanted in seen:
        if (array := stored.get(wanted.name)) is None:
            yield f"{wanted.name}: in the source, not in the store"
        elif (had := _kind(array.coder)) != (has := (wanted.shape, wanted.dtype.name)):
            yield f"{wanted.name}: the store has {had}, the source {has}"


def _readers(against: Source | None, witness: Witness | None) -> tuple[str, ...]:
    """Return what read the source: the library, and ourselves for what it does not read."""
    if against is None:
        return ()
    seen = {array.name for array in witness.arrays} if witness is not None else set()
    is_whole = seen.issuperset(array.name for array in against.arrays)
    return (*((witness.reader,) if witness and seen else ()), *(() if is_whole else (OURS,)))


def _kind(coder: ArrayCoder) -> tuple[tuple[int, ...], str]:
    return coder.grid.shape, coder.dtype.name


def _whole(array: FinishedArray) -> NumpyArray:
    place = array.place
    values = np.asarray(zarr.open_array(place.store, path=place.path, mode="r")[...])
    return as_text(values) if values.dtype.kind in TEXTS else values  # of one text zarr gives str
