"""Finished arrays of a store, with the manifests against which `verify` checks them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.engine.scheduling.lazy import BatchRanges, LazyBatches
from gangsaw.tasks.jobs.verification.grown import (
    choose_likeliest_growth,
    foreign_manifest,
    grown_manifest,
    new_chunks,
)
from gangsaw.tasks.store.arrays.chunks import METADATA, ArrayCoder
from gangsaw.tasks.store.arrays.growth import Growth, growth_from, growths_of
from gangsaw.tasks.store.arrays.keys import ChunkKeys
from gangsaw.tasks.store.objects.address import explain_missing_store
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.source import metadata_errors
from gangsaw.tasks.store.state.job_folder import FolderState, JobFolder
from gangsaw.tasks.store.state.journal import FOLDER, unit_chunks
from gangsaw.tasks.store.state.manifest import Manifest, open_manifest
from gangsaw.tasks.store.state.manifest_shards import is_metadata_key
from gangsaw.tasks.store.state.records import Records


@dataclass(frozen=True)
class ExpectedRecords(LazyBatches[Records]):
    """Lazy sequence of the records of some batches of an array, picklable without its manifest.

    Attributes
    ----------
    units : chunk numbers of the batches
    runs : records of each range of consecutive chunks in `units`
    """

    units: BatchRanges
    runs: tuple[Records, ...]

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self.units)

    def between(self, start: int, stop: int) -> ExpectedRecords:
        """Return the records of the batches `start` to `stop` - 1."""
        units = self.units.between(start, stop)
        return ExpectedRecords(units, tuple(self._cut(run) for run in units.ranges))

    def __iter__(self) -> Iterator[Records]:
        """Yield, for each batch, the records (size and CRC-32C) of its chunks."""
        return map(self._cut, self.units)

    def _cut(self, batch: range) -> Records:
        (of,) = (run for run in self.runs if batch.start in run.batch)
        first = batch.start - of.first
        return Records(of.job, batch.start, 0, of.rows[first : first + len(batch)])


@dataclass(frozen=True)
class ManifestBatches(LazyBatches[Records]):
    """Lazy sequence of the records of all batches of an array, read one manifest part at a time.

    Attributes
    ----------
    manifest : manifest of the array
    units : chunk numbers of the batches; each of its ranges is a part of the manifest
    """

    manifest: Manifest
    units: BatchRanges

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self.units)

    def between(self, start: int, stop: int) -> ExpectedRecords:
        """Return the records of the batches `start` to `stop` - 1, without the manifest."""
        units = self.units.between(start, stop)
        return ExpectedRecords(units, tuple(map(self.manifest.cut, units.ranges)))

    def __iter__(self) -> Iterator[Records]:
        """Yield, for each batch, the records (size and CRC-32C) of its chunks."""
        return map(self.manifest.cut, self.units)


@dataclass(frozen=True)
class FinishedArray:
    """Array of a store that a finished job wrote, with the records of its chunks.

    Attributes
    ----------
    name : name in the store; "" is an array at the root
    place : store prefix of the array
    metadata : zarr.json of the array
    manifest : manifest of all chunks
    growth : extension by another program since the job, or None; records of new chunks have a
        size but no checksum
    is_foreign : True if another program added the array since the job; its records have no checksum
    """

    name: str
    place: Prefix
    metadata: bytes
    manifest: Manifest
    growth: Growth | None = None
    is_foreign: bool = False

    @cached_property
    def coder(self) -> ArrayCoder:
        """Coder of the array."""
        return ArrayCoder(self.metadata)

    @property
    def n_chunks(self) -> int:
        """Number of chunks in the manifest."""
        return self.manifest.n_chunks

    @property
    def batch_chunks(self) -> int:
        """Number of chunks in a batch."""
        return unit_chunks(self.n_chunks, self.coder.chunk_bytes)

    def batches(self) -> ManifestBatches:
        """Return the records of all batches, read on demand."""
        step = self.manifest.part_rows
        of_parts = BatchRanges((range(self.n_chunks),), step) if self.n_chunks else ()
        return ManifestBatches(self.manifest, BatchRanges(tuple(of_parts), self.batch_chunks))

    def growths(self) -> list[Growth]:
        """Return the possible growths of the array since its manifest; [] if it did not grow."""
        coder, manifest = self.coder, self.manifest
        return growths_of(coder.grid, coder.dtype, manifest.n_chunks, manifest.raw_bytes)

    def unrecorded(self) -> NumpyArray:
        """Return the numbers of the chunks without a valid record, ascending."""
        if self.is_foreign:
            return np.arange(self.n_chunks)
        return new_chunks(self.coder, self.growth.known) if self.growth else np.arange(0)

    def note(self) -> str:
        """Return a note for the user on chunks that another program wrote, "" if there are none."""
        if self.is_foreign:
            return f"{self.name}: another program added it, without a record of its chunks"
        if self.growth is None:
            return ""
        grid, axis = self.coder.grid, self.growth.axis
        n_new = self.n_chunks - prod(self.growth.known)
        dims = self.coder.array.metadata.dimension_names  # type: ignore[union-attr]
        along = f"along {dims[axis]} " if dims and dims[axis] else f"along axis {axis} "
        before = "" if self.growth.before is None else f"from {self.growth.before} "
        stored = self.manifest.part(0).rows["stored"][self.unrecorded()]
        absent = np.count_nonzero(stored == 0)
        return (
            f"{self.name or 'the array'} grew {along}{before}to {grid.shape[axis]} since its job: "
            f"{n_new} of its {self.n_chunks} chunks have no record"
            + (f", {absent} of them are absent and read as the fill value" if absent else "")
        )

    def unknown_objects(self) -> Iterator[str]:
        """Yield the objects below the array that are neither chunks nor state of Gangsaw."""
        keys = ChunkKeys(self.coder.array, self.coder.grid)
        for key in self.place.walk():
            if not is_metadata_key(key) and keys.number(key) is None:
                yield f"{self.place}/{key}"


def find_finished(
    place: Prefix, *, with_foreign: bool = False
) -> tuple[list[FinishedArray], dict[str, str]]:
    """Return the finished arrays of a store, and an error line for each faulty one by its name.

    Parameters
    ----------
    place : store prefix
    with_foreign : return arrays of other programs, too, instead of an error for each

    Raises
    ------
    BadParams : the store does not exist, or no job wrote it
    JobFailed : the job that writes the store is not finished
    """
    if (root := place.get(METADATA)) is None:
        place.check_bucket()
        why = _format_2(place) or explain_missing_store(place)
        raise BadParams(f"{place}: no Zarr format 3 store there{why}")
    arrays: list[FinishedArray] = []
    problems: dict[str, str] = {}
    for name in _names(place, root.to_bytes()):
        try:
            arrays.append(_open(name, place / name if name else place, with_foreign=with_foreign))
        except CorruptChunk as error:
            problems[name] = str(error)
    arrays = _with_growth(arrays)
    if not arrays and not problems:
        raise BadParams(f"{place} has no manifest: no Gangsaw job wrote it")
    return arrays, problems


def _format_2(place: Prefix) -> str:
    """Return the reason why a Zarr v2 store cannot be verified, "" for other addresses."""
    if not any(place.get(key) for key in (".zarray", ".zgroup")):
        return ""
    return ", but one of format 2, which has no manifest: only what a Gangsaw job wrote is verified"


def _names(place: Prefix, metadata: bytes) -> list[str]:
    """Return the sorted names of the arrays that jobs wrote, including those with lost metadata."""
    with metadata_errors(str(place)):
        return _names_in(place, metadata)


def _names_in(place: Prefix, metadata: bytes) -> list[str]:
    root = json.loads(metadata)
    if root["node_type"] == "array":
        return [""] if (place / FOLDER).names() else []
    inline = (root.get("consolidated_metadata") or {}).get("metadata", {})
    below = _written(place, {name for name, node in inline.items() if node["node_type"] == "group"})
    arrays = (name for name, node in inline.items() if node["node_type"] == "array")
    return sorted({*below, *(name for name in arrays if below)})


def _written(place: Prefix, groups: Collection[str]) -> list[str]:
    """Return the paths of the arrays that jobs wrote, in the listed groups and in those found."""
    found, left = [], ["", *groups]
    while left:
        group = left.pop()
        for name in set((place / group if group else place).names()) - {METADATA}:
            path = f"{group}/{name}".lstrip("/")
            if (place / path / FOLDER).names():
                found.append(path)
            elif path not in groups and _is_group((place / path).get(METADATA)):
                left.append(path)
    return found


def _is_group(metadata: Buffer | None) -> bool:
    return metadata is not None and json.loads(metadata.to_bytes())["node_type"] == "group"


def _open(name: str, place: Prefix, *, with_foreign: bool) -> FinishedArray:
    if JobFolder(place).state is FolderState.UNFINISHED:
        raise JobFailed(f"the job that writes {place} is not finished: run it with --resume")
    manifest, metadata = open_manifest(place), place.get(METADATA)
    if metadata is None:
        raise CorruptChunk("the array's metadata is missing", store=str(place), chunk=METADATA)
    if manifest is None and not (place / FOLDER).names():
        return _foreign(name, place, metadata.to_bytes(), is_accepted=with_foreign)
    if manifest is None:
        raise CorruptChunk("no manifest: it cannot be verified", store=str(place))
    manifest.check()
    found = FinishedArray(name, place, metadata.to_bytes(), manifest)
    with metadata_errors(str(place)):
        n_chunks = found.coder.grid.n_chunks
    if n_chunks != found.n_chunks and not found.growths():
        raise CorruptChunk("manifest and metadata differ in the number of chunks", store=str(place))
    return found


def _foreign(name: str, place: Prefix, metadata: bytes, *, is_accepted: bool) -> FinishedArray:
    """Return an array of another program, or raise CorruptChunk that says how to record it."""
    if not is_accepted:
        why = "no manifest: another program wrote it; --adopt records its chunks"
        raise CorruptChunk(why, store=str(place))
    with metadata_errors(str(place)):
        manifest = foreign_manifest(place, metadata)
    return FinishedArray(name, place, metadata, manifest, is_foreign=True)


def _grown(array: FinishedArray, growth: Growth) -> FinishedArray:
    manifest = grown_manifest(array.place, array.coder, growth)
    return FinishedArray(array.name, array.place, array.metadata, manifest, growth)


def _with_growth(arrays: Sequence[FinishedArray]) -> list[FinishedArray]:
    """Return the arrays, each with its growth since its job, if any.

    Some growth is ambiguous: of a text array within a partial chunk, or of an image along one of
    several axes. Arrays of numbers with the same axis then decide.
    """
    may = {array.name: [] if array.is_foreign else array.growths() for array in arrays}
    sure = [
        (array, one) for array in arrays for one in may[array.name] if len(may[array.name]) == 1
    ]
    grew = {_axis(array, one.axis): one.before for array, one in sure if one.before is not None}
    return [_one_with_growth(array, may[array.name], grew) for array in arrays]


def _one_with_growth(
    array: FinishedArray,
    may: Sequence[Growth],
    grew: Mapping[tuple[str | None, int], int],
) -> FinishedArray:
    coder, axes = array.coder, range(len(array.coder.grid.shape))
    if may or (coder.dtype.kind == "T" and grew):
        said = [(axis, grew[key]) for axis in axes if (key := _axis(array, axis)) in grew]
        found = (growth_from(coder.grid, axis, before) for axis, before in said)
        shared = [one for one in found if one and prod(one.counts) == array.n_chunks]
        if growth := shared[0] if len(shared) == 1 else None:
            return _grown(array, growth)
    return _grown(array, choose_likeliest_growth(array.place, coder, may)) if may else array


def _axis(array: FinishedArray, axis: int) -> tuple[str | None, int]:
    """Return name and extent of an axis by its index."""
    names = array.coder.array.metadata.dimension_names  # type: ignore[union-attr]
    return names[axis] if names else None, array.coder.grid.shape[axis]
