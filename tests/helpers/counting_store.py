"""A store in memory that counts the bytes that are read from it."""

from __future__ import annotations

from typing import Any

from zarr.storage import MemoryStore

METADATA = {"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"}


class CountingStore(MemoryStore):
    """Notes each read of a chunk: (key, bytes that came back)."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.reads: list[tuple[str, int]] = []

    def with_read_only(self, read_only: bool = False) -> CountingStore:
        other = CountingStore(self._store_dict, read_only=read_only)
        other.reads = self.reads
        return other

    def note(self, key: str, buffer: Any) -> Any:
        if key.rpartition("/")[2] not in METADATA:
            self.reads.append((key, 0 if buffer is None else len(buffer)))
        return buffer

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        return self.note(key, await super().get(key, prototype, byte_range))

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        return self.note(key, super().get_sync(key, prototype=prototype, byte_range=byte_range))
