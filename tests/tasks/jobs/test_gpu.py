"""Jobs on workers with a GPU: the same bytes, journal and errors as on the CPU.

Without a device the stand-in for CuPy plays it: work of a stream is done as late as may be, so that
a missing wait shows, and memory that is used too early or too long is poison.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster
from emulator.host_module import schedule
from helpers.command_line import CommandLine
from helpers.gpu_workers import cluster
from helpers.job_data import LoggedArray, cube, objects, raw_source
from helpers.streams import Given
from numpy.typing import NDArray

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers import cuda as gpu_cluster
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs import Ccsds123
from gangsaw.codecs.core import record
from gangsaw.codecs.core.errors import BadParams, DeviceError, JobFailed
from gangsaw.tasks.api import functions
from gangsaw.tasks.bench.data import synthetic_sample
from gangsaw.tasks.bench.device import CASES, Workbench, device_figures, device_machine
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling.worker_pools import SLOTS, HostPool, gpu_slots, make_pools
from gangsaw.tasks.formats.raw.source import RawSource
from gangsaw.tasks.jobs.chunks.device_source import decode_source_on_device
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.sources.source import Region
from gangsaw.tasks.store.source import open_zarr

SHAPE = (3, 40, 20)
CHUNKS = (3, 4, 8)  # 30 chunks; those at the right edge are padded
GPU = Options(device="gpu")
USAGE, FAILURE = 2, 1


@pytest.fixture
def quick(cupy: ModuleType) -> Iterator[ModuleType]:
    """CuPy without the checks of kernels, which other tests run under them."""
    with schedule(checks=False):
        yield cupy


@pytest.fixture(scope="module")
def mixed() -> Iterator[Client]:
    """A worker with a GPU and one without."""
    with cluster(gpus=1, hosts=1) as client:
        yield client


@pytest.fixture
def source(tmp_path: Path) -> RawSource:
    """A raw file."""
    return raw_source(tmp_path, SHAPE)


@pytest.fixture
def plain(tmp_path: Path, source: RawSource) -> Path:
    """What the CPU writes."""
    compress(source, tmp_path / "cpu.zarr", chunks=CHUNKS)
    return tmp_path / "cpu.zarr"


def backends() -> list[str]:
    """What encoded and decoded chunks in this worker since the last call."""
    found = sorted({backend for _, _, backend in record.snapshot()})
    record.reset()
    return found


def test_a_mixed_cluster_writes_the_bytes_of_the_cpu(
    tmp_path: Path, source: RawSource, plain: Path, mixed: Client
) -> None:
    mixed.run(backends)
    store = tmp_path / "gpu.zarr"
    compress(source, store, chunks=CHUNKS, client=mixed, options=GPU)
    assert objects(store) == objects(plain)
    assert took_part(mixed)
    assert functions.verify(store, device="gpu", client=mixed).ok
    assert took_part(mixed)


def took_part(mixed: Client) -> bool:
    """Whether one worker used its cores and one its GPU; that one may also steal from the other."""
    host, device = sorted(mixed.run(backends).values(), key=lambda found: "gpu" in found)
    return host == ["cpu"] and "gpu" in device


@pytest.mark.parametrize("name", ["copy.raw", "copy.zarr"])
def test_a_store_is_decoded_on_the_device(
    tmp_path: Path, source: RawSource, plain: Path, quick: ModuleType, name: str
) -> None:
    record.reset()
    functions.decompress(plain, tmp_path / name, device="gpu", accept_loss=True)
    assert backends() == ["gpu"]
    check_copy(tmp_path / name, source)


def check_copy(copy: Path, source: RawSource) -> None:
    if copy.suffix == ".raw":
        assert copy.read_bytes() == Path(source.name).read_bytes()
    else:
        assert functions.verify(copy, against=source.name, shape=SHAPE, dtype="<u2").ok


def test_workers_decode_where_they_have_a_device(plain: Path, mixed: Client) -> None:
    (array,) = decode_source_on_device(open_zarr(str(plain))).arrays
    whole = tuple(slice(0, n) for n in SHAPE)
    mixed.run(backends)
    for address, worker in mixed.scheduler_info()["workers"].items():
        read = mixed.submit(array.read, whole, workers=[address], pure=False).result()
        assert (read == cube(SHAPE)).all()
        kind = "gpu" if worker["resources"] else "cpu"
        assert mixed.run(backends, workers=[address]) == {address: [kind]}


def test_a_chunk_that_is_damaged_is_named_by_a_device(
    tmp_path: Path, plain: Path, quick: ModuleType
) -> None:
    chunk = plain / "data" / "c" / "0" / "9" / "2"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    with pytest.raises(JobFailed, match="c/0/9/2"):
        functions.decompress(plain, tmp_path / "copy.raw", device="gpu", accept_loss=True)
    chunk.unlink()
    with pytest.raises(JobFailed, match="missing"):
        functions.decompress(plain, tmp_path / "copy.raw", device="gpu", accept_loss=True)


def test_what_no_device_decodes_is_refused(tmp_path: Path, quick: ModuleType) -> None:
    functions.compress(np.arange(9.0), tmp_path / "a.zarr")
    with pytest.raises(BadParams, match="no array that a GPU decodes"):
        functions.decompress(tmp_path / "a.zarr", tmp_path / "b.zarr", device="gpu")


@pytest.mark.parametrize("here", [False, True])
def test_a_stream_becomes_the_bytes_of_the_cpu(
    tmp_path: Path, mixed: Client, quick: ModuleType, here: bool
) -> None:
    stream = Given(({"data": cube((40, 6, 8))},))
    how: dict[str, Any] = {"choose": lambda _: Ccsds123(), "chunks": (4, 6, 8)}
    spool(stream, tmp_path / "cpu.zarr", **how)
    mixed.run(backends)
    record.reset()
    client = None if here else mixed
    spool(stream, tmp_path / "gpu.zarr", client=client, options=GPU, **how)
    assert objects(tmp_path / "gpu.zarr") == objects(tmp_path / "cpu.zarr")
    assert backends() == ["gpu"] if here else took_part(mixed)


def test_this_process_writes_the_bytes_of_the_cpu(
    tmp_path: Path, source: RawSource, plain: Path, quick: ModuleType
) -> None:
    """Some tasks are ahead of others; what each writes and journals is its own."""
    record.reset()
    store = tmp_path / "gpu.zarr"
    compress(source, store, chunks=CHUNKS, options=GPU)
    assert objects(store) == objects(plain)
    assert backends() == ["gpu"]
    assert functions.verify(store, against=source.name, device="gpu", shape=SHAPE, dtype="<u2").ok


def test_many_chunks_of_a_task_are_one_call(
    tmp_path: Path,
    source: RawSource,
    plain: Path,
    quick: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A large job gives a task several batches, of which each is journalled alone."""
    monkeypatch.setattr("gangsaw.tasks.jobs.chunks.device.batches_per_task", lambda *_: 7)
    calls: list[int] = []
    listen = record.subscribe(lambda event: calls.append(event.raw_bytes))
    store = tmp_path / "gpu.zarr"
    compress(source, store, chunks=CHUNKS, options=GPU)
    listen()
    assert len(calls) == 30
    assert objects(store) == objects(plain)


@dataclass(frozen=True)
class Failing(LoggedArray):
    """An array that cannot be read in its last columns."""

    def read(self, region: Region) -> NDArray[Any]:
        if region[1].start == 20 and region[2].start == 16:
            raise OSError(13, "Permission denied", "/mnt/bad")
        return self.inner.read(region)


def changed(source: RawSource, kind: type[LoggedArray]) -> RawSource:
    arrays = tuple(kind(array, "") for array in source.arrays)
    return replace(source, arrays=arrays)


def test_a_chunk_that_cannot_be_read_is_named(tmp_path: Path, quick: ModuleType) -> None:
    source, store = changed(raw_source(tmp_path, SHAPE), Failing), tmp_path / "a.zarr"
    message = r"a\.zarr/data/c/0/5/2: Permission denied: /mnt/bad; finished batches are safe"
    with pytest.raises(JobFailed, match=message):
        compress(source, store, chunks=CHUNKS, options=GPU)


@dataclass(frozen=True)
class Bright(LoggedArray):
    """An array with one sample that needs all 16 bits."""

    def read(self, region: Region) -> NDArray[Any]:
        samples = np.array(self.inner.read(region))
        if region[1].start == 20 and region[2].start == 8:
            samples[1, 2, 3] = 65535
        return samples


def test_a_chunk_that_cannot_be_encoded_is_named(
    tmp_path: Path, quick: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found among those that were encoded at once with it."""
    monkeypatch.setattr("gangsaw.tasks.jobs.chunks.device.batches_per_task", lambda *_: 30)
    source, codec = changed(raw_source(tmp_path, SHAPE), Bright), Ccsds123(bit_depth=12)
    with pytest.raises(JobFailed, match=r"a\.zarr/data/c/0/5/1: BadParams: .*65535"):
        compress(source, tmp_path / "a.zarr", codec=codec, chunks=CHUNKS, options=GPU)


def test_an_interrupted_job_is_resumed(
    tmp_path: Path, source: RawSource, plain: Path, quick: ModuleType
) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done > 10:
            raise KeyboardInterrupt

    store = tmp_path / "gpu.zarr"
    with pytest.raises(KeyboardInterrupt):
        compress(source, store, chunks=CHUNKS, options=GPU, on_progress=interrupt)
    done = compress(source, store, chunks=CHUNKS, options=GPU, resume=True)
    assert 10 < done.resumed < 30
    assert objects(store) == objects(plain)


def test_wrong_chunks_are_told_as_on_the_cpu(
    tmp_path: Path, plain: Path, quick: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangsaw.tasks.jobs.chunks.device.batches_per_task", lambda *_: 30)
    (plain / "data/c/0/1/1").unlink()
    broken = plain / "data/c/0/2/2"
    broken.write_bytes(broken.read_bytes()[:-1] + bytes([broken.read_bytes()[-1] ^ 1]))
    swapped = plain / "data/c/0/3/0"
    swapped.write_bytes(swapped.read_bytes()[:-9])
    # its checksum is right, its frame is not
    monkeypatch.setattr("gangsaw.tasks.jobs.chunks.check._checked_bytes", unchecked)
    here, there = functions.verify(plain), functions.verify(plain, device="gpu")
    assert here.problems == there.problems
    assert len(here.problems) == 3
    assert here.raw_bytes == there.raw_bytes


def unchecked(stored: Any, _row: Any) -> Any:
    from gangsaw.codecs.core.errors import CorruptChunk

    return CorruptChunk("missing") if stored is None else stored


def test_a_codec_without_kernels_is_told(tmp_path: Path, quick: ModuleType) -> None:
    with pytest.raises(BadParams, match=r"no codec of .*a\.zarr.* runs on a GPU.*leave --device"):
        compress(raw_source(tmp_path), tmp_path / "a.zarr", codec="none", options=GPU)


def test_a_cluster_without_a_gpu_is_told(tmp_path: Path) -> None:
    config = ClusterConfig(workers=1, threads=1, dashboard=False)
    message = "none of the 1 workers has a GPU: start one with --resources GPU=1"
    with start(config) as client, pytest.raises(JobFailed, match=message):
        compress(raw_source(tmp_path), tmp_path / "a.zarr", client=client, options=GPU)


def test_each_kind_of_worker_has_its_pool() -> None:
    workers = {
        "tcp://a": {"nthreads": 8, "resources": {"GPU": 1}},
        "tcp://b": {"nthreads": 2, "resources": {"GPU": 1}},
        "tcp://c": {"nthreads": 3, "resources": {}},
    }
    gpus, hosts = make_pools("gpu", 9, {})
    for pool in (gpus, hosts):
        pool.update(workers)
    assert (gpus.size, gpus.batches, gpus.resources) == (2 * (4 + 2), 9, {"GPU": 0.25})
    assert (hosts.size, hosts.batches, hosts.addresses) == (6, 0, ("tcp://c",))
    assert isinstance(hosts, HostPool)
    assert str(gpus) == "worker with GPU=1"


@pytest.mark.parametrize(
    "command",
    [
        ("compress", "a.raw", "a.zarr", "--shape", "6,40,50", "--dtype", "u2"),
        ("compress", "a.raw", "a.zarr", "--shape", "6,40,50", "--dtype", "u2", "--workers", "0"),
        ("verify", "a.zarr"),
        ("bench",),
    ],
)
@pytest.mark.usefixtures("no_cupy")
def test_missing_cupy_is_told(
    gangsaw: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.zeros((6, 40, 50), "u2").tofile("a.raw")
    line = gangsaw(*command, "--device", "gpu").failed(FAILURE)
    assert 'CuPy is not installed: pip install "gangsaw[gpu]"' in line
    assert line.endswith("or work on device cpu\n")
    assert [path.name for path in tmp_path.iterdir()] == ["a.raw"]


def test_unknown_devices_are_told(gangsaw: CommandLine) -> None:
    line = gangsaw("bench", "--device", "tpu").failed(USAGE)
    assert "device must be cpu or gpu, got 'tpu'" in line


def test_missing_dask_cuda_is_told(quick: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "dask_cuda" else find(name)
    )
    with pytest.raises(DeviceError, match="dask-cuda is missing"), functions.workers(device="gpu"):
        pass


class OneGpu(LocalCluster):
    """dask-cuda's cluster on a machine with one GPU, as far as Dask itself is concerned."""

    def __init__(self, *, n_workers: int | None, device_memory_limit: None, **options: Any) -> None:
        super().__init__(n_workers=n_workers or 1, **options)


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize(("cores", "gpus", "threads"), [(2, 1, 4), (48, 1, 48), (48, 4, 12)])
def test_a_cluster_of_gpus_offers_them(
    monkeypatch: pytest.MonkeyPatch, cores: int, gpus: int, threads: int
) -> None:
    """Each worker has its share of the cores: four of its tasks share the GPU, others do not."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "dask_cuda" or None)
    monkeypatch.setitem(sys.modules, "dask_cuda", SimpleNamespace(LocalCUDACluster=OneGpu))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores))
    found = SimpleNamespace(get_n_gpus=lambda: gpus)
    monkeypatch.setitem(sys.modules, "dask_cuda.utils", found)
    with gpu_cluster.start(ClusterConfig(dashboard=False)) as client:
        (worker,) = client.scheduler_info()["workers"].values()
    assert (worker["nthreads"], worker["resources"]) == (threads, {"GPU": 1})
    assert gpu_slots(worker) == SLOTS


def test_no_gpu_for_dask_cuda_is_told(quick: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise OSError("NVML Shared Library Not Found")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "dask_cuda" or None)
    monkeypatch.setitem(sys.modules, "dask_cuda", SimpleNamespace(LocalCUDACluster=OneGpu))
    monkeypatch.setitem(sys.modules, "dask_cuda.utils", SimpleNamespace(get_n_gpus=fail))
    message = "dask-cuda cannot use a GPU here: NVML Shared Library Not Found"
    with pytest.raises(DeviceError, match=message), functions.workers(device="gpu"):
        pass


def test_the_benchmark_measures_every_row(
    quick: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangsaw.tasks.bench.device.COPY_BYTES", 1 << 12)
    monkeypatch.setattr("gangsaw.tasks.bench.device.LAUNCH_BYTES", 1 << 12)
    bench = Workbench(synthetic_sample((5, 16, 12)), rounds=2, batch_bytes=1 << 13)
    found = list(device_figures(bench))
    assert [figure.what for figure in found] == [case.what for case in CASES]
    assert all(figure.value is not None and figure.value > 0 for figure in found)
    assert "cupy" in device_machine()


def test_without_a_device_no_row_has_a_figure() -> None:
    assert {figure.value for figure in device_figures(None)} == {None}


@pytest.mark.full
def test_the_results_page_has_every_row() -> None:
    page = (Path(__file__).parents[2] / "benchmarks" / "RESULTS-GPU.md").read_text()
    assert [case.what for case in CASES if f"| {case.what} |" not in page] == []
    unmeasured = [line for line in page.splitlines() if "not measured yet" in line]
    assert all("`bash deploy/gpu/measure.sh`" in line for line in unmeasured)
