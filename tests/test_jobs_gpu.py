"""Jobs on workers with a GPU, which the stand-in for CuPy plays: same bytes, same journal, same errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from distributed import Client
from gpu_workers import cluster
from job_data import logged, objects, raw_source, reads

from gangsaw import face
from gangsaw.codecs.core import record
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.compress import compress
from gangsaw.tasks.engine import Options
from gangsaw.tasks.progress import Progress

SHAPE = (6, 70, 50)
CHUNKS = (6, 4, 17)  # 54 chunks; those at the far edges are padded
GPU = Options(device="gpu")


@pytest.fixture(scope="module")
def mixed() -> Iterator[Client]:
    """A worker with a GPU beside one without."""
    with cluster(gpus=1, hosts=1) as client:
        yield client


def backends() -> set[str]:
    """What encoded chunks in this worker since the last call."""
    found = {backend for _, operation, backend in record.snapshot() if operation == "encode"}
    record.reset()
    return found


def chunks_of(store: Path) -> dict[str, bytes]:
    """Everything in a store but the records, which name the source."""
    return {name: data for name, data in objects(store).items() if ".gangsaw" not in name}


def test_a_mixed_cluster_writes_the_bytes_of_the_cpu(tmp_path: Path, mixed: Client) -> None:
    source = raw_source(tmp_path, SHAPE)
    mixed.run(backends)
    plain = compress(source, tmp_path / "cpu.zarr", chunks=CHUNKS)
    both = compress(source, tmp_path / "gpu.zarr", chunks=CHUNKS, client=mixed, options=GPU)
    assert objects(tmp_path / "cpu.zarr") == objects(tmp_path / "gpu.zarr")
    assert (plain.raw_bytes, plain.stored_bytes) == (both.raw_bytes, both.stored_bytes)
    assert sorted(map(sorted, mixed.run(backends).values())) == [["cpu"], ["gpu"]]
    assert face.verify(tmp_path / "gpu.zarr", device="gpu", client=mixed).ok
