"""Small jobs that several files of tests run, whole or up to a point."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from zarr.codecs import ZstdCodec
from zarr.storage import MemoryStore

from gangsaw.tasks.formats.raw.source import RawSource
from gangsaw.tasks.jobs.compress import Summary, compress
from gangsaw.tasks.sources.source import Source
from helpers.job_data import WAVELENGTHS, LoggedArray, raw_source

SHAPE = (6, 40, 50)
CHUNKS = (6, 16, 16)  # 3 x 4 chunks, clipped at two sides
ZSTD = ZstdCodec(level=1)


def labelled_source(folder: Path) -> RawSource:
    """A raw cube with wavelengths and attributes."""
    plain = raw_source(folder, SHAPE)
    return replace(plain, coords=(WAVELENGTHS,), attrs={"sensor": "seeded"})


def job(source: Source, target: Path | MemoryStore, **options: Any) -> Summary:
    return compress(source, target, **{"codec": ZSTD, "chunks": CHUNKS} | options)


@dataclass(frozen=True)
class Interrupted(LoggedArray):
    """An array whose reader is interrupted at one row."""

    row: int = 0

    def read(self, region: tuple[slice, ...]) -> Any:
        if region[1].start == self.row:
            raise KeyboardInterrupt
        return self.inner.read(region)


def interrupted(source: RawSource, target: Path, row: int = 32, **options: Any) -> None:
    """Run a job up to the chunks at this row."""
    arrays = tuple(Interrupted(array, log="", row=row) for array in source.arrays)
    with pytest.raises(KeyboardInterrupt):
        job(replace(source, arrays=arrays), target, **options)  # type: ignore[arg-type]
