"""Sizes of a store and of the files that it was made of, as all commands show them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.engine.report.progress import Amounts
from gangsaw.tasks.sources.source import Source, Stream
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.dataset.texts import item_bytes
from gangsaw.tasks.store.objects.files import bytes_below
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.objects.versions import versions_of
from gangsaw.tasks.store.source import ZarrArray, ZarrSource
from gangsaw.tasks.store.state.history import PastJob, read_history
from gangsaw.tasks.store.state.manifest import open_manifest


@dataclass(frozen=True)
class StoreSizes(Amounts):
    """Raw and stored bytes of the arrays of a store, without coordinates; see `Amounts`."""

    raw_bytes: int
    stored_bytes: int
    source_bytes: int = 0
    run_bytes: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, object]:
        """Return the figures of the whole store as JSON values."""
        names = ("raw_bytes", "stored_bytes", "source_bytes", "ratio", "ratio_base")
        return {name: getattr(self, name) for name in names}


def files_bytes(source: Source | Stream) -> int:
    """Return the size in bytes of the files that a source reads; 0 for a pipe or no files."""
    return sum(bytes_below(Path(name)) for name in versions_of(source) if "://" not in name)


def original_bytes_of(history: Sequence[PastJob]) -> int:
    """Return the bytes of a store's original files, by the last finished job in its history.

    The result is 0 if the history does not have it.
    """
    done = [entry for entry in history if entry.outcome == "done"]
    return done[-1].source_bytes if done else 0


def sizes_of(source: Source) -> StoreSizes:
    """Return raw and stored bytes of an open store; for another source, the sizes of its files."""
    if not isinstance(source, ZarrSource):
        raw = sum(prod(array.shape) * item_bytes(array) for array in source.arrays)
        return StoreSizes(raw, bytes_below(Path(source.name)))
    found = [_sizes(array) for array in source.there]
    history = (
        ()
        if source.tree is None
        else read_history(open_prefix(source.name), [array.key for array in source.there])
    )
    raw, stored = (sum(column) for column in zip(*found, strict=True)) if found else (0, 0)
    return StoreSizes(raw, stored, original_bytes_of(history))


def _sizes(array: ZarrArray) -> tuple[int, int]:
    """Return raw and stored bytes of an array, by its manifest or else by its chunk objects.

    A damaged manifest counts as absent here: `verify` reports it.
    """
    place: Prefix = array.as_open_array().place
    manifest = None
    with suppress(CorruptChunk):
        manifest = open_manifest(place)
    if manifest is not None:
        return manifest.raw_bytes, manifest.stored_bytes
    opened = array.open()
    grid = ChunkGrid(array.shape, array.shards or array.chunks or array.shape)
    keys = (opened.metadata.encode_chunk_key(grid.position(n)) for n in range(grid.n_chunks))
    stored = sum(size or 0 for size in place.sizes(list(keys)))
    return prod(array.shape) * array.dtype.itemsize, stored
