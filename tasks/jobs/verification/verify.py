"""Compare a store with its manifests: every chunk is there, decodable, and equal to its source.
Zarr itself gives fill values for a missing chunk, so only the manifest shows that it is missing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.abc.store import Store

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.engine.memory import transcode_bytes
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.window import Options
from gangsaw.tasks.formats.witness import Witness
from gangsaw.tasks.jobs.arrays import ArrayWork, run_arrays
from gangsaw.tasks.jobs.check import CheckChunks, Checked, same_items
from gangsaw.tasks.jobs.device import host_notes, launch_batches
from gangsaw.tasks.jobs.transcode import ahead_bytes
from gangsaw.tasks.jobs.verification.attributes import unlike_attributes
from gangsaw.tasks.jobs.verification.finished import FinishedArray, find_finished
from gangsaw.tasks.jobs.verification.surplus import surplus_of
from gangsaw.tasks.jobs.verification.witnessed import readers_of, seen_of
from gangsaw.tasks.reading import reading
from gangsaw.tasks.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.dataset.carried import DTYPE, TEXTS, as_text, restored, variables_of
from gangsaw.tasks.store.place import open_place
from gangsaw.tasks.store.source import ROOT_NAME
from gangsaw.tasks.store.state.records import Records

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
    readers : what read the source: libraries of its field with their versions, and "gangsaw" for
        arrays that none of them reads
    problems : one line each
    extra : objects below the arrays that no manifest names; harmless
    seconds : wall clock
    notes : what else a user should know, such as what a device left to the host
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
    notes: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(
    store: str | Path | Store,
    *,
    against: Source | None = None,
    is_part: bool = False,
    accept_loss: bool = False,
    witness: Witness | None = None,
    client: Client | None = None,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
) -> Report:
    """Check every chunk of every array of a store that a job wrote.

    Parameters
    ----------
    store : path, address or Zarr store
    against : source whose samples and coordinates the store must hold, bit for bit, and whose
        attributes
    is_part : `against` is some of what the store was made of, which may hold more
    accept_loss : what of `against` no store can hold is no problem
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
    wanted = _wanted(arrays, against)
    seen = seen_of(witness, _by_name(arrays), getattr(against, "left_out", ()))
    if against is not None:
        problems += dict.fromkeys([*_differences(arrays, wanted), *_differences(arrays, seen)])
        problems += [] if is_part else surplus_of(place, arrays, against)
        problems += unlike_attributes(place, _by_name(arrays), against, variables_of(against))
        lost = () if accept_loss else getattr(against, "left_out", ())
        problems += [f"{one}: in the source, not in the store" for one in lost]
    n_chunks = sum(array.n_chunks for array in arrays)
    meter = Meter(n_chunks, on_progress, started)
    paths = (place.folder, None if against is None else against.name)
    sees = (options or Options()).seeing(*paths)
    checked = _check(arrays, [*wanted, *seen], meter, client, sees)
    problems += checked.problems
    return Report(
        store=str(place),
        arrays=tuple(array.name for array in arrays),
        chunks=n_chunks,
        raw_bytes=checked.raw_bytes,
        stored_bytes=checked.stored_bytes,
        compared=against is not None,
        problems=tuple(problems),
        extra=tuple(key for array in arrays for key in array.unknown_objects()),
        seconds=time.monotonic() - started,
        notes=host_notes({a.name: a.metadata for a in arrays}, "decode", options),
        readers=readers_of(against, witness, seen),
    )


def _check(
    arrays: Sequence[FinishedArray],
    wanted: Sequence[SourceArray | Coordinate],
    meter: Meter,
    client: Client | None,
    options: Options | None,
) -> Checked:
    """Return the result of all batches of all arrays; of two with a name the latter is wanted."""
    sources = {one.name: one for one in wanted if not isinstance(one, Coordinate)}
    problems: list[str] = []

    def on_done(_: int, result: Checked) -> None:
        problems.extend(result.problems)
        meter.add(result.chunks, result.raw_bytes, result.stored_bytes)

    works = [_work(array, _comparable(array, sources)) for array in arrays]
    run_arrays("verify", works, on_done, client=client, options=options)
    found = meter.progress
    return Checked(found.done, found.raw_bytes, found.stored_bytes, tuple(problems))


def _comparable(array: FinishedArray, sources: Mapping[str, SourceArray]) -> SourceArray | None:
    """Return the source of an array; None where its extents differ, which is told already."""
    source = sources.get(array.name or ROOT_NAME)
    is_alike = source is not None and source.shape == array.coder.grid.shape
    return source if is_alike else None


def _work(array: FinishedArray, source: SourceArray | None) -> ArrayWork[Records, Checked]:
    coder = array.coder
    return ArrayWork(
        function=CheckChunks(array.place, array.metadata, source),
        batches=array.batches(),
        batch_bytes=array.batch_chunks * coder.chunk_bytes,
        peak_bytes=transcode_bytes(
            coder.grid.shape, coder.grid.chunks, coder.dtype, source.chunks if source else None
        )
        + ahead_bytes(source, array.place, coder.chunk_bytes),
        launch_batches=launch_batches(coder, array.batch_chunks, "decode"),
        n_chunks=array.n_chunks,
    )


def _wanted(
    arrays: Sequence[FinishedArray], against: Source | None
) -> tuple[SourceArray | Coordinate, ...]:
    """Return arrays and coordinates of a source, each carried or as it was, as the store has it."""
    if against is None:
        return ()
    stored = _by_name(arrays)
    found = variables_of(against)
    return tuple(_alike(one, stored[one.name]) if one.name in stored else one for one in found)


def _by_name(arrays: Sequence[FinishedArray]) -> dict[str, FinishedArray]:
    return {array.name or ROOT_NAME: array for array in arrays}


def _alike(wanted: SourceArray | Coordinate, array: FinishedArray) -> SourceArray | Coordinate:
    was = restored(wanted)
    return was if _kind_of(was) == _kind(array.coder) else wanted


def _differences(
    arrays: Sequence[FinishedArray], wanted: Sequence[SourceArray | Coordinate]
) -> list[str]:
    """List where arrays and coordinates of store and source do not match."""
    stored = _by_name(arrays)
    pairs = ((one, stored.get(one.name)) for one in wanted)
    return [line for one, array in pairs for line in _lines(one, array)]


def _lines(wanted: SourceArray | Coordinate, array: FinishedArray | None) -> list[str]:
    try:
        if isinstance(wanted, Coordinate) and wanted.is_file and array is not None:
            return [f"{wanted.name}: {line}" for line in _of_file(wanted, array)]
        line = _difference(wanted, array)
    except CorruptChunk as error:  # of a coordinate, which is read whole
        line = str(error)
    return [line] if line else []


def _difference(wanted: SourceArray | Coordinate, array: FinishedArray | None) -> str:
    """Say what is wrong with an array of a store, "" where nothing is."""
    if array is None and isinstance(wanted, Coordinate) and wanted.is_mapping:
        return ""  # earlier versions derived none
    if array is None:
        return f"{wanted.name}: in the source, not in the store"
    if _is_other_kind(array, wanted):
        return f"{wanted.name}: the store holds items of another type"
    if not isinstance(wanted, Coordinate):
        had, has = _kind(array.coder), _kind_of(wanted)
        return "" if had == has else f"{wanted.name}: the store has {had}, the source {has}"
    is_same = array.coder.grid.shape == wanted.values.shape and same_items(
        _whole(array, wanted.values.dtype), np.asarray(wanted.values), array.coder.array.attrs
    )
    return "" if is_same else f"{wanted.name}: the coordinate differs from the source's"


def _is_other_kind(array: FinishedArray, wanted: SourceArray | Coordinate) -> bool:
    """Whether both say what their items were, and differ; stores of old did not say it."""
    kinds = [attrs.get(DTYPE) for attrs in (array.coder.array.attrs, wanted.attrs)]
    return None not in kinds and kinds[0] != json.loads(json.dumps(kinds[1]))


def _of_file(coordinate: Coordinate, found: FinishedArray) -> list[str]:
    """List what differs in a file; other bytes can be the same: HDF5 chooses its layout."""
    if coordinate.unlike is None:
        return []
    return coordinate.unlike(_whole(found, np.dtype(np.uint8)), np.asarray(coordinate.values))


def _kind(coder: ArrayCoder) -> tuple[tuple[int, ...], str]:
    return coder.grid.shape, coder.dtype.name


def _kind_of(variable: SourceArray | Coordinate) -> tuple[tuple[int, ...], str]:
    of = variable.values if isinstance(variable, Coordinate) else variable
    return of.shape, of.dtype.name


def _whole(array: FinishedArray, wanted: Dtype) -> NumpyArray:
    place = array.place
    with reading(str(place), array.name):
        values = np.asarray(zarr.open_array(place.store, path=place.path, mode="r")[...])
    if wanted.kind != "T" or values.dtype.kind not in TEXTS:
        return values
    try:
        return as_text(values)  # of one text zarr gives str
    except UnicodeError:
        return values
