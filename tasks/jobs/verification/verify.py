"""Check of a store against its manifests: each chunk exists, is decodable and equals its source.

Zarr itself reads fill values for a missing chunk, so only the manifest shows that it is missing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from zarr.abc.store import Store

from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling.memory import transcode_bytes
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
from gangsaw.tasks.jobs.chunks.check import CheckChunks, CheckResult
from gangsaw.tasks.jobs.chunks.device import host_notes, launch_batches
from gangsaw.tasks.jobs.chunks.transcode import read_ahead_bytes
from gangsaw.tasks.jobs.runs.arrays import ArrayWork, run_arrays
from gangsaw.tasks.jobs.sizes import StoreSizes, original_bytes_of
from gangsaw.tasks.jobs.verification.attributes import attribute_differences
from gangsaw.tasks.jobs.verification.differences import (
    arrays_by_name,
    comparable_items,
    find_differences,
    is_packed_in_store,
    list_packed_notes,
)
from gangsaw.tasks.jobs.verification.finished import FinishedArray, find_finished
from gangsaw.tasks.jobs.verification.grown import adopt as adopt_chunks
from gangsaw.tasks.jobs.verification.library_variables import library_variables, readers_of
from gangsaw.tasks.jobs.verification.surplus import surplus_of
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.dataset.carried import (
    list_variables,
)
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.source import ROOT_NAME
from gangsaw.tasks.store.state.history import read_history
from gangsaw.tasks.store.state.job_folder import JobFolder
from gangsaw.tasks.store.state.lease import hold_lease
from gangsaw.tasks.store.state.records import Records

if TYPE_CHECKING:
    from distributed import Client

UNPACKED_COPIES = 4  # copies of a chunk's values in a comparison: unpacked, masked, of the source
NewChunks: TypeAlias = "dict[int, tuple[int, int]]"  # bytes and checksum by number


@dataclass(frozen=True)
class Report:
    """Report of `verify`.

    Parameters
    ----------
    store : str
        Path or address of the store.
    arrays : tuple of str
        Names of the verified arrays; "" is an array at the root.
    chunks : int
        Number of chunks in their manifests.
    raw_bytes, stored_bytes : int
        Bytes of the correct chunks, before and after compression.
    compared : bool
        True if samples were compared with a source.
    problems : tuple of str
        One line per problem.
    extra : tuple of str
        Objects below the arrays that no manifest names; they are harmless.
    seconds : float
        Wall time in seconds.
    notes : tuple of str, default ()
        Further lines for the user, such as arrays that were decoded on the host.
    readers : tuple of str, default ()
        Readers of the source: libraries of its field with their versions, and "gangsaw" for arrays
        that no library reads.
    sizes : `StoreSizes`, optional
        Sizes of the arrays without coordinates and of their original files; None if there are
        problems.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> cube = np.arange(2 * 8 * 8, dtype="uint16").reshape(2, 8, 8)
    >>> summary = gangsaw.compress(cube, "cube.zarr")
    >>> report = gangsaw.verify("cube.zarr", against=cube)
    >>> report.ok, report.compared, report.arrays, report.chunks
    (True, True, ('data',), 1)
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
    sizes: StoreSizes | None = None

    @property
    def ok(self) -> bool:
        """True if there are no problems."""
        return not self.problems


def verify(
    store: str | Path | Store,
    *,
    against: Source | None = None,
    is_part: bool = False,
    accept_loss: bool = False,
    adopt: bool = False,
    library: IndependentReader | None = None,
    client: Client | None = None,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
) -> Report:
    """Check every chunk of every array of a store that a job wrote.

    Parameters
    ----------
    store : path, address or Zarr store
    against : source whose samples, coordinates and attributes the store must have, bit for bit
    is_part : True if `against` is only a part of the source, so that the store may have more
    accept_loss : True to ignore items of `against` that no store can represent
    adopt : record chunks and arrays that another program added, if the store has no problems
    library : independent reader: arrays of `against` as read by the field's own library, which are
        compared instead
    client : Dask client; None works in this thread
    options : resources, retries
    on_progress : called after each batch

    Raises
    ------
    BadParams
        There is no store, no job wrote it, or one writes there that `adopt` would disturb.
    JobFailed
        The job that writes it is not finished, or the check itself could not be done.
    """
    started = time.monotonic()
    place = open_prefix(store, writable=adopt)
    with hold_lease(place) if adopt else nullcontext() as lease:
        arrays, faulty = find_finished(place, with_foreign=adopt)
        wanted = comparable_items(arrays, against)
        seen = library_variables(library, arrays_by_name(arrays), getattr(against, "left_out", ()))
        problems = [*faulty.values()]
        if against is not None:
            there = [one for one in (*wanted, *seen) if one.name not in faulty]  # else it is told
            problems += dict.fromkeys(find_differences(arrays, there))
            problems += _other_differences(
                place, arrays, against, is_part=is_part, accept_loss=accept_loss
            )
        n_chunks = sum(array.n_chunks for array in arrays)
        meter = Meter(n_chunks, on_progress, started)
        paths = (place.folder, None if against is None else against.name)
        sees = (options or Options()).with_paths(*paths)
        notes = host_notes({a.name: a.metadata for a in arrays}, "decode", options)
        checked, checked_new = _check(arrays, [*wanted, *seen], meter, client, sees)
        problems += checked.problems
        if lease is not None and not problems:
            lease.confirm()
            _adopt(arrays, checked_new)
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
            notes=(
                *_grown_notes(arrays, adopted=adopt and not problems),
                *list_packed_notes(arrays, wanted),
                *notes,
            ),
            readers=readers_of(against, library, seen),
            sizes=None if problems else _sizes(place, arrays),
        )


def _other_differences(
    place: Prefix,
    arrays: Sequence[FinishedArray],
    against: Source,
    *,
    is_part: bool,
    accept_loss: bool,
) -> Iterator[str]:
    """Yield a line for each surplus array, attribute that differs, and item that was lost."""
    if not is_part:
        yield from surplus_of(place, arrays, against)
    yield from attribute_differences(
        place, arrays_by_name(arrays), against, list_variables(against)
    )
    for one in () if accept_loss else getattr(against, "left_out", ()):
        yield f"{one}: in the source, not in the store"


def _adopt(arrays: Sequence[FinishedArray], new: Sequence[NewChunks]) -> None:
    """Record the chunks and arrays that another program added."""
    for array, chunks in zip(arrays, new, strict=True):
        if array.growth is not None or array.is_foreign:
            adopt_chunks(array.place, array.coder, array.manifest, array.unrecorded(), chunks)


def _sizes(place: Prefix, arrays: Sequence[FinishedArray]) -> StoreSizes:
    """Return the sizes of the arrays that jobs wrote in chunks, as `info` reports them."""
    own = [array for array in arrays if JobFolder(array.place).has_job] or list(arrays)
    raw = sum(array.manifest.raw_bytes for array in own)
    stored = sum(array.manifest.stored_bytes for array in own)
    return StoreSizes(
        raw, stored, original_bytes_of(read_history(place, [array.name for array in own]))
    )


def _check(
    arrays: Sequence[FinishedArray],
    wanted: Sequence[SourceArray | Coordinate],
    meter: Meter,
    client: Client | None,
    options: Options | None,
) -> tuple[CheckResult, list[NewChunks]]:
    """Check all batches of all arrays; return the total, and the new chunks of each array.

    New chunks have no record in the manifest. If two sources have the same name, the latter is
    compared.
    """
    sources = {one.name: one for one in wanted if not isinstance(one, Coordinate)}
    problems: list[str] = []
    new: list[NewChunks] = [{} for _ in arrays]

    def on_done(array: int, result: CheckResult) -> None:
        problems.extend(result.problems)
        new[array].update(result.new)
        meter.add(result.chunks, result.raw_bytes, result.stored_bytes)

    works = [_work(array, _find_comparable(array, sources)) for array in arrays]
    run_arrays("verify", works, on_done, client=client, options=options)
    found = meter.progress
    return CheckResult(found.done, found.raw_bytes, found.stored_bytes, tuple(problems)), new


def _grown_notes(arrays: Sequence[FinishedArray], *, adopted: bool) -> Iterator[str]:
    """Yield a note for the user on each array that grew."""
    for note in filter(None, (array.note() for array in arrays)):
        yield f"{note}: {'they are recorded now' if adopted else '--adopt records them'}"


def _find_comparable(
    array: FinishedArray, sources: Mapping[str, SourceArray]
) -> SourceArray | None:
    """Return the source of an array; None if its shape differs, which is reported already."""
    source = sources.get(array.name or ROOT_NAME)
    is_same_shape = source is not None and source.shape == array.coder.grid.shape
    return source if is_same_shape else None


def _work(array: FinishedArray, source: SourceArray | None) -> ArrayWork[Records, CheckResult]:
    coder = array.coder
    return ArrayWork(
        function=CheckChunks(
            array.place,
            array.metadata,
            source,
            None if array.growth is None else array.growth.known,
            array.is_foreign,
        ),
        batches=array.batches(),
        batch_bytes=array.batch_chunks * coder.chunk_bytes,
        peak_bytes=transcode_bytes(
            coder.grid.shape, coder.grid.chunks, coder.dtype, source.chunks if source else None
        )
        + read_ahead_bytes(source, array.place, coder.chunk_bytes)
        + _unpacked_bytes(array, source),
        launch_batches=launch_batches(coder, array.batch_chunks, "decode"),
        n_chunks=array.n_chunks,
    )


def _unpacked_bytes(array: FinishedArray, source: SourceArray | None) -> int:
    """Return the memory for the unpacked floats of a chunk in bytes; 0 if it is not packed."""
    if source is None or not is_packed_in_store(array, source):
        return 0
    return UNPACKED_COPIES * 8 * math.prod(array.coder.grid.chunks)
