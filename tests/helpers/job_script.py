"""A job as a separate program, so that tests can kill or interrupt it.

python job_script.py RAW TARGET LOG SECONDS CODEC: makes LOG.up, runs the job with resume on two
workers; with the codec "stream" the file is a stream of rows. Where a file `gate` is next to the
target, the job is a `HeldJob`, whose workers have to end without force.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from zarr.codecs import ZstdCodec

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers import local
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.tasks.formats.raw.source import open_raw
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.sources.source import Described
from helpers.hang import HANG
from helpers.job_data import logged

SHAPE = (6, 160, 160)
CHUNKS = (6, 8, 8)  # 400 chunks
CODECS: dict[str, Any] = {"zstd": ZstdCodec(level=1), "ccsds123": Ccsds123(block=(0, 4, 8))}
STREAM, ROWS = "stream", 8


@dataclass(frozen=True)
class RowStream:
    """The rows of a raw file, those of a chunk at a time, each time after a pause."""

    path: str
    seconds: float = 0.0
    name: str = "rows"
    is_repeatable: bool = True
    coords: tuple[Any, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    arrays: tuple[Described, ...] = (
        Described(
            name="data",
            shape=(0, SHAPE[2]),
            dtype=np.dtype("<u2"),
            dims=("row", "column"),
            chunks=None,
        ),
    )

    def pieces(self) -> Iterator[Mapping[str, NDArray[Any]]]:
        rows = np.fromfile(self.path, "<u2").reshape(-1, SHAPE[2])
        for first in range(0, len(rows), ROWS):
            time.sleep(self.seconds)
            yield {"data": rows[first : first + ROWS]}


def spool_rows(raw: str, target: str | Path, seconds: float = 0.0, **how: Any) -> None:
    """Store the stream, as what was begun of it."""
    chunks = {"row": ROWS}
    codec = CODECS["zstd"]
    spool(
        RowStream(raw, seconds), target, choose=lambda _: codec, chunks=chunks, resume=True, **how
    )


def main(raw: str, target: str, log: str, seconds: str, codec: str) -> None:
    """Run the job, each chunk with a pause, two threads in each of two workers."""
    from helpers.faulty_jobs import held

    source, folder = open_raw(raw, SHAPE, "<u2"), Path(target).parent
    if (folder / "gate").exists():
        source, local.CLOSE_SECONDS = held(source, folder, float(seconds)), 2 * HANG
    else:
        source = logged(source, Path(log), float(seconds))
    with start(ClusterConfig(workers=2, threads=2, dashboard=False)) as client:
        Path(f"{log}.up").touch()
        if codec == STREAM:
            spool_rows(raw, target, float(seconds), client=client)
            return
        compress(source, target, resume=True, codec=CODECS[codec], chunks=CHUNKS, client=client)


if __name__ == "__main__":
    main(*sys.argv[1:])
