"""Check of a store against its manifests: each chunk exists, is decodable and equals its source.

Zarr itself reads fill values for a missing chunk, so only the manifest shows that it is missing.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import zarr
from zarr.abc.store import Store

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling.memory import transcode_bytes
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
from gangsaw.tasks.jobs.chunks.check import CheckChunks, CheckResult, same_items
from gangsaw.tasks.jobs.chunks.device import host_notes, launch_batches
from gangsaw.tasks.jobs.chunks.transcode import read_ahead_bytes
from gangsaw.tasks.jobs.runs.arrays import ArrayWork, run_arrays
from gangsaw.tasks.jobs.sizes import StoreSizes, original_bytes_of
from gangsaw.tasks.jobs.verification.attributes import attribute_differences
from gangsaw.tasks.jobs.verification.finished import FinishedArray, find_finished
from gangsaw.tasks.jobs.verification.grown import adopt as adopt_chunks
from gangsaw.tasks.jobs.verification.library_variables import library_variables, readers_of
from gangsaw.tasks.jobs.verification.surplus import surplus_of
from gangsaw.tasks.sources.library_errors import convert_library_errors
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.arrays.chunks import ArrayCoder
from gangsaw.tasks.store.dataset.carried import (
    DTYPE,
    TEXTS,
    list_variables,
    restore_variable,
    to_string_array,
)
from gangsaw.tasks.store.dataset.unpacked import is_packed
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
        wanted = _wanted(arrays, against)
        seen = library_variables(library, _by_name(arrays), getattr(against, "left_out", ()))
        problems = [*faulty.values()]
        if against is not None:
            there = [one for one in (*wanted, *seen) if one.name not in faulty]  # else it is told
            problems += dict.fromkeys(_differences(arrays, there))
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
                *_packed_notes(arrays, wanted),
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
    yield from attribute_differences(place, _by_name(arrays), against, list_variables(against))
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
    if source is None or not _is_packed_in_store(array, source):
        return 0
    return UNPACKED_COPIES * 8 * math.prod(array.coder.grid.chunks)


def _wanted(
    arrays: Sequence[FinishedArray], against: Source | None
) -> tuple[SourceArray | Coordinate, ...]:
    """Return arrays and coordinates of a source, as original items or as bytes like the store."""
    if against is None:
        return ()
    stored = _by_name(arrays)
    found = list_variables(against)
    return tuple(
        _in_stored_form(one, stored[one.name]) if one.name in stored else one for one in found
    )


def _by_name(arrays: Sequence[FinishedArray]) -> dict[str, FinishedArray]:
    return {array.name or ROOT_NAME: array for array in arrays}


def _in_stored_form(
    wanted: SourceArray | Coordinate, array: FinishedArray
) -> SourceArray | Coordinate:
    was = restore_variable(wanted)
    return was if _kind_of(was) == _kind(array.coder) else wanted


def _differences(
    arrays: Sequence[FinishedArray], wanted: Sequence[SourceArray | Coordinate]
) -> list[str]:
    """Return a line for each array and coordinate that differs between store and source."""
    stored = _by_name(arrays)
    pairs = ((one, stored.get(one.name)) for one in wanted)
    return [line for one, array in pairs for line in _lines(one, array)]


def _lines(wanted: SourceArray | Coordinate, array: FinishedArray | None) -> list[str]:
    try:
        if isinstance(wanted, Coordinate) and wanted.is_file and array is not None:
            return [f"{wanted.name}: {line}" for line in _of_file(wanted, array)]
        line = _difference(wanted, array)
    except CorruptChunk as error:  # raised for a coordinate, which is read whole
        line = str(error)
    return [line] if line else []


def _difference(wanted: SourceArray | Coordinate, array: FinishedArray | None) -> str:
    """Return a line on the difference of an array from its source, "" if there is none."""
    if array is None and isinstance(wanted, Coordinate) and wanted.is_mapping:
        return ""  # earlier versions derived no grid mapping
    if array is None:
        return f"{wanted.name}: in the source, not in the store"
    if _is_other_kind(array, wanted):
        return f"{wanted.name}: the store holds items of another type"
    if not isinstance(wanted, Coordinate):
        had, has = _kind(array.coder), _kind_of(wanted)
        if _is_packed_in_store(array, wanted):
            had, has = (had[0], "items"), (has[0], "items")
        return "" if had == has else f"{wanted.name}: the store has {had}, the source {has}"
    is_same = array.coder.grid.shape == wanted.values.shape and same_items(
        _whole(array, wanted.values.dtype), np.asarray(wanted.values), array.coder.array.attrs
    )
    return "" if is_same else f"{wanted.name}: the coordinate differs from the source's"


def _is_packed_in_store(array: FinishedArray, wanted: SourceArray | Coordinate) -> bool:
    """Return True if the store has packed integers for the floats of a source."""
    of = wanted.values if isinstance(wanted, Coordinate) else wanted
    return is_packed(array.coder.array.attrs, array.coder.dtype, of.dtype)


def _packed_notes(
    arrays: Sequence[FinishedArray], wanted: Sequence[SourceArray | Coordinate]
) -> Iterator[str]:
    """Yield a note for the user on each array of packed integers, compared by its values."""
    stored = _by_name(arrays)
    for one in wanted:
        if (array := stored.get(one.name)) is not None and _is_packed_in_store(array, one):
            yield f"{one.name} is packed as {array.coder.dtype.name}: its values are compared"


def _is_other_kind(array: FinishedArray, wanted: SourceArray | Coordinate) -> bool:
    """Return True if store and source both record an original dtype and these differ.

    Stores of earlier versions record none.
    """
    kinds = [attrs.get(DTYPE) for attrs in (array.coder.array.attrs, wanted.attrs)]
    return None not in kinds and kinds[0] != json.loads(json.dumps(kinds[1]))


def _of_file(coordinate: Coordinate, found: FinishedArray) -> list[str]:
    """Return a line for each difference in the remaining content of a file, stored as a coordinate.

    Files of different bytes may have the same content, since HDF5 chooses its own layout.
    """
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
    with convert_library_errors(str(place), array.name):
        values = np.asarray(zarr.open_array(place.store, path=place.path, mode="r")[...])
    if wanted.kind != "T" or values.dtype.kind not in TEXTS:
        return values
    try:
        return to_string_array(values)  # for a single text, zarr returns str
    except UnicodeError:
        return values
