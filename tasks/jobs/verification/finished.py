"""The arrays of a store that a job finished: what `verify` compares with manifests."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from zarr.core.buffer import Buffer

from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.engine.lazy import Lazy, Units
from gangsaw.tasks.store.chunks import METADATA, ArrayCoder
from gangsaw.tasks.store.keys import ChunkKeys
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.source import metadata_errors
from gangsaw.tasks.store.state.journal import FOLDER, unit_chunks
from gangsaw.tasks.store.state.manifest import Manifest, open_manifest
from gangsaw.tasks.store.state.parts import is_beside
from gangsaw.tasks.store.state.records import Records
from gangsaw.tasks.store.state.target import is_unfinished


@dataclass(frozen=True)
class ExpectedRecords(Lazy[Records]):
    """What the chunks of some batches must be.

    Attributes
    ----------
    units : the batches
    runs : records of each run of `units`
    """

    units: Units
    runs: tuple[Records, ...]

    def __len__(self) -> int:
        """Number of batches."""
        return len(self.units)

    def between(self, start: int, stop: int) -> ExpectedRecords:
        """Return the records of some of the batches."""
        units = self.units.between(start, stop)
        return ExpectedRecords(units, tuple(self._cut(run) for run in units.runs))

    def __iter__(self) -> Iterator[Records]:
        """Yield the records of the batches."""
        return map(self._cut, self.units)

    def _cut(self, batch: range) -> Records:
        (of,) = (run for run in self.runs if batch.start in run.batch)
        first = batch.start - of.first
        return Records(of.job, batch.start, 0, of.rows[first : first + len(batch)])


@dataclass(frozen=True)
class ManifestBatches(Lazy[Records]):
    """The records of the batches of an array, of which a part at a time is read.

    Attributes
    ----------
    manifest : has them
    units : the batches, in runs that are its parts
    """

    manifest: Manifest
    units: Units

    def __len__(self) -> int:
        """Number of batches."""
        return len(self.units)

    def between(self, start: int, stop: int) -> ExpectedRecords:
        """Return the records of some of the batches, without the manifest."""
        units = self.units.between(start, stop)
        return ExpectedRecords(units, tuple(map(self.manifest.cut, units.runs)))

    def __iter__(self) -> Iterator[Records]:
        """Yield the records of the batches."""
        return map(self.manifest.cut, self.units)


@dataclass(frozen=True)
class FinishedArray:
    """An array of a store that a job finished.

    Attributes
    ----------
    name : in the store; "" is an array at the root
    place : of the array
    metadata : its zarr.json
    manifest : of all its chunks
    """

    name: str
    place: Place
    metadata: bytes
    manifest: Manifest

    @cached_property
    def coder(self) -> ArrayCoder:
        """Of its chunks."""
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
        """Return the records of one batch after the other, read as they are needed."""
        step = self.manifest.part_rows
        of_parts = Units((range(self.n_chunks),), step) if self.n_chunks else ()
        return ManifestBatches(self.manifest, Units(tuple(of_parts), self.batch_chunks))

    def unknown_objects(self) -> Iterator[str]:
        """Yield the objects below the array that are neither chunks nor ours."""
        keys = ChunkKeys(self.coder.array, self.coder.grid)
        for key in self.place.walk():
            if not is_beside(key) and keys.number(key) is None:
                yield f"{self.place}/{key}"


def find_finished(place: Place) -> tuple[list[FinishedArray], list[str]]:
    """Return the finished arrays of a store, and a line for each faulty one.

    Raises
    ------
    BadParams : there is no store, or no job wrote it
    JobFailed : the job that writes it is not finished
    """
    if (root := place.get(METADATA)) is None:
        place.check_bucket()
        raise BadParams(f"{place}: no Zarr format 3 store there{_format_2(place)}")
    arrays, problems = [], []
    for name in _names(place, root.to_bytes()):
        try:
            arrays.append(_open(name, place / name if name else place))
        except CorruptChunk as error:
            problems.append(str(error))
    if not arrays and not problems:
        raise BadParams(f"{place} has no manifest: no Gangsaw job wrote it")
    return arrays, problems


def _format_2(place: Place) -> str:
    """Say why a store of Zarr format 2 is none to verify."""
    if not any(place.get(key) for key in (".zarray", ".zgroup")):
        return ""
    return ", but one of format 2, which has no manifest: only what a Gangsaw job wrote is verified"


def _names(place: Place, metadata: bytes) -> list[str]:
    """Return the names of the arrays that jobs wrote, missing ones included."""
    with metadata_errors(str(place)):
        return _names_in(place, metadata)


def _names_in(place: Place, metadata: bytes) -> list[str]:
    root = json.loads(metadata)
    if root["node_type"] == "array":
        return [""] if (place / FOLDER).names() else []
    inline = (root.get("consolidated_metadata") or {}).get("metadata", {})
    below = _written(place, {name for name, node in inline.items() if node["node_type"] == "group"})
    arrays = (name for name, node in inline.items() if node["node_type"] == "array")
    return sorted({*below, *(name for name in arrays if below)})


def _written(place: Place, groups: Collection[str]) -> list[str]:
    """Return the paths of the arrays that jobs wrote, in these groups and those that are there."""
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


def _open(name: str, place: Place) -> FinishedArray:
    if is_unfinished(place):
        raise JobFailed(f"the job that writes {place} is not finished: run it with --resume")
    manifest, metadata = open_manifest(place), place.get(METADATA)
    if metadata is None:
        raise CorruptChunk("the array's metadata is missing", store=str(place), chunk=METADATA)
    if manifest is None:
        raise CorruptChunk("no manifest: it cannot be verified", store=str(place))
    manifest.check()
    found = FinishedArray(name, place, metadata.to_bytes(), manifest)
    with metadata_errors(str(place)):
        n_chunks = found.coder.grid.n_chunks
    if n_chunks != found.n_chunks:
        raise CorruptChunk("manifest and metadata differ in the number of chunks", store=str(place))
    return found
