"""Hold a store against its manifests: every chunk there, whole, decodable, and equal to its source.

Zarr itself gives fill values for a missing chunk, so only the manifest tells a hole from data.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.abc.store import Store

from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.engine.memory import transcode_bytes
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.window import Options, run
from gangsaw.tasks.formats.variables import TEXTS, as_text
from gangsaw.tasks.formats.zarr import told_in_a_line
from gangsaw.tasks.jobs.check import CheckChunks, Checked, same_bits
from gangsaw.tasks.jobs.device import COPIES, batches_per_task
from gangsaw.tasks.source import Source, SourceArray
from gangsaw.tasks.store.chunks import METADATA, ArrayCoder
from gangsaw.tasks.store.journal import FOLDER, batch_chunks
from gangsaw.tasks.store.manifest import read_manifest
from gangsaw.tasks.store.place import Place, open_place
from gangsaw.tasks.store.records import Records
from gangsaw.tasks.store.target import is_unfinished

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
    raw_bytes, stored_bytes : of the chunks that are right
    compared : whether samples were compared with a source
    problems : one line each
    extra : objects below the arrays that no manifest names; they do no harm
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


@dataclass(frozen=True)
class _Item:
    """A batch of one of the arrays."""

    check: CheckChunks
    expected: Records

    def __str__(self) -> str:
        batch = self.expected.batch
        return f"{self.check.place}, {batch.start}..{batch.stop - 1}"


@dataclass(frozen=True)
class _Work:
    """The chunk function over batches of several arrays."""

    peak_bytes: int
    device_batches: int
    device_peak_bytes: int
    name: str = "verify"

    def __call__(self, item: _Item) -> Checked:
        return item.check(item.expected)

    def on_device(self, items: Sequence[_Item]) -> list[Checked]:
        found: list[Checked] = []
        for _, own in groupby(items, key=lambda item: id(item.check)):
            part = list(own)
            found += part[0].check.on_device([item.expected for item in part])
        return found


@dataclass(frozen=True)
class _Array:
    """An array of the store that a job finished."""

    name: str
    place: Place
    metadata: bytes
    manifest: Records

    @property
    def coder(self) -> ArrayCoder:
        return ArrayCoder(self.metadata)


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
    arrays, problems = _arrays(place)
    if against is not None:
        problems += _differences(arrays, against)
    checked = _check(arrays, against, Meter(_total(arrays), on_progress, started), client, options)
    problems += [line for part in checked for line in part.problems]
    return Report(
        store=str(place),
        arrays=tuple(array.name for array in arrays),
        chunks=_total(arrays),
        raw_bytes=sum(part.raw_bytes for part in checked),
        stored_bytes=sum(part.stored_bytes for part in checked),
        compared=against is not None,
        problems=tuple(problems),
        extra=tuple(key for array in arrays for key in _extra(array)),
        seconds=time.monotonic() - started,
    )


def _check(
    arrays: list[_Array],
    against: Source | None,
    meter: Meter,
    client: Client | None,
    options: Options | None,
) -> list[Checked]:
    sources = {a.name: a for a in against.arrays} if against is not None else {}
    checks = {a.name: CheckChunks(a.place, a.metadata, sources.get(a.name)) for a in arrays}
    results = []

    def on_done(_: _Item, result: Checked) -> None:
        results.append(result)
        meter.add(result.chunks, result.raw_bytes, result.stored_bytes)

    items = [_Item(checks[a.name], batch) for a in arrays for batch in _batches(a)]
    run(_work(arrays, sources, len(items)), items, on_done, client=client, options=options)
    return results


def _work(arrays: list[_Array], sources: Mapping[str, SourceArray], n_batches: int) -> _Work:
    peak = max((_peak_bytes(a, sources.get(a.name)) for a in arrays), default=0)
    batch_bytes = max((_batch_chunks(a) * _chunk_bytes(a) for a in arrays), default=0)
    n = batches_per_task(n_batches, batch_bytes)
    return _Work(peak, n, peak + COPIES * n * batch_bytes)


def _arrays(place: Place) -> tuple[list[_Array], list[str]]:
    """Return the finished arrays, and a line for each that is not as it should be."""
    if place.is_empty or (root := place.get(METADATA)) is None:
        raise BadParams(f"{place}: no Zarr format 3 store there")
    arrays, problems = [], []
    for name in _names(place, json.loads(root.to_bytes())):
        try:
            arrays.append(_array(name, place / name if name else place))
        except CorruptChunk as error:
            problems.append(str(error))
    if not arrays and not problems:
        raise BadParams(f"{place} has no manifest: no Gangsaw job wrote it")
    return arrays, problems


def _names(place: Place, root: dict[str, Any]) -> list[str]:
    """Return the names of the arrays that jobs wrote, those included that have vanished."""
    if root["node_type"] == "array":
        return [""] if (place / FOLDER).names() else []
    inline = (root.get("consolidated_metadata") or {}).get("metadata", {})
    below = [name for name in place.names() if (place / name / FOLDER).names()]
    arrays = (name for name, node in inline.items() if node["node_type"] == "array")
    return sorted({*below, *(name for name in arrays if below)})


def _array(name: str, place: Place) -> _Array:
    if is_unfinished(place):
        raise JobFailed(f"the job that writes {place} is not finished: run it with --resume")
    manifest, metadata = read_manifest(place), place.get(METADATA)
    if metadata is None:
        raise CorruptChunk("the array's metadata is missing", store=str(place), chunk=METADATA)
    if manifest is None:
        raise CorruptChunk("no manifest: it cannot be verified", store=str(place))
    found = _Array(name, place, metadata.to_bytes(), manifest)
    with told_in_a_line(str(place)):
        n_chunks = found.coder.grid.n_chunks
    if n_chunks != len(manifest.rows):
        raise CorruptChunk("manifest and metadata differ in the number of chunks", store=str(place))
    return found


def _differences(arrays: list[_Array], against: Source) -> list[str]:
    """Say where arrays and coordinates of store and source do not pair."""
    stored = {array.name: array for array in arrays}
    problems = []
    for wanted in against.arrays:
        if (array := stored.get(wanted.name)) is None:
            problems.append(f"{wanted.name}: in the source, not in the store")
        elif (had := _kind(array.coder)) != (has := (wanted.shape, wanted.dtype.name)):
            problems.append(f"{wanted.name}: the store has {had}, the source {has}")
    for coordinate in against.coords:
        if coordinate.is_file:  # other bytes can be the same file: HDF5 has a layout of its own
            continue
        found = stored.get(coordinate.name)
        if found is None or not same_bits(_whole(found), np.asarray(coordinate.values)):
            problems.append(f"{coordinate.name}: the coordinate differs from the source's")
    return problems


def _kind(coder: ArrayCoder) -> tuple[tuple[int, ...], str]:
    return coder.grid.shape, coder.dtype.name


def _whole(array: _Array) -> NDArray[Any]:
    place = array.place
    values = np.asarray(zarr.open_array(place.store, path=place.path, mode="r")[...])
    return as_text(values) if values.dtype.kind in TEXTS else values  # of one text zarr gives str


def _extra(array: _Array) -> Iterator[str]:
    """Yield the objects below the array that are neither chunks nor ours."""
    coder = array.coder
    known = {coder.key(number) for number in array.manifest.batch} | {METADATA}
    for key in array.place.walk():
        if key not in known and not key.startswith(f"{FOLDER}/"):
            yield f"{array.place}/{key}"


def _batches(array: _Array) -> Iterator[Records]:
    manifest, step = array.manifest, _batch_chunks(array)
    for first in range(0, len(manifest.rows), step):
        yield Records(manifest.job, first, 0, manifest.rows[first : first + step])


def _batch_chunks(array: _Array) -> int:
    return batch_chunks(len(array.manifest.rows), _chunk_bytes(array))


def _chunk_bytes(array: _Array) -> int:
    return math.prod(array.coder.grid.chunks) * array.coder.dtype.itemsize


def _peak_bytes(array: _Array, source: SourceArray | None) -> int:
    grid, dtype = array.coder.grid, array.coder.dtype
    return transcode_bytes(grid.shape, grid.chunks, dtype, source.chunks if source else None)


def _total(arrays: Iterable[_Array]) -> int:
    return sum(len(array.manifest.rows) for array in arrays)
