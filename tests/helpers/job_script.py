"""A job as a separate program, so that tests can kill or interrupt it.

python job_script.py RAW TARGET LOG SECONDS CODEC: prints "up", runs the job with resume on two
workers, prints the number of chunks that were done before
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from zarr.codecs import ZstdCodec

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.local import start
from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.tasks.formats.raw import open_raw
from gangsaw.tasks.jobs.compress import compress
from helpers.job_data import logged

SHAPE = (6, 160, 160)
CHUNKS = (6, 8, 8)  # 400 chunks
CODECS: dict[str, Any] = {"zstd": ZstdCodec(level=1), "ccsds123": Ccsds123(block=(0, 4, 8))}


def main(raw: str, target: str, log: str, seconds: str, codec: str) -> None:
    """Run the job, each chunk with a pause, two threads in each of two workers."""
    source = logged(open_raw(raw, SHAPE, "<u2"), Path(log), float(seconds))
    with start(ClusterConfig(workers=2, threads=2, dashboard=False)) as client:
        Path(f"{log}.up").touch()
        compress(source, target, resume=True, codec=CODECS[codec], chunks=CHUNKS, client=client)


if __name__ == "__main__":
    main(*sys.argv[1:])
