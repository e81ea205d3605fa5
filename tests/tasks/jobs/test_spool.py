"""Streams of unknown length: into arrays that grow, and held against what was stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.clusters import in_process
from helpers.job_data import objects
from helpers.streams import Given, Samples
from zarr.codecs import ZstdCodec

import gangsaw
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.engine.report.dry_run import Depth, plan_job
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling import memory
from gangsaw.tasks.jobs.streams.replayable import ReplayableStream
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.jobs.verification.stream_comparison import compare_with_stream
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.arrays.chunks import ArrayCoder
from gangsaw.tasks.store.objects.prefix import Prefix


def cut(whole: Samples, *ends: int) -> tuple[Samples, ...]:
    """The same samples in pieces that end at these steps."""
    starts = (0, *ends[:-1])
    pairs = list(zip(starts, ends, strict=True))
    return tuple({name: part[a:b] for name, part in whole.items()} for a, b in pairs)


def cube() -> Samples:
    return {"a": np.arange(23 * 5 * 7, dtype="u2").reshape(23, 5, 7)}


@pytest.mark.parametrize("codec", ["auto", "zstd", "none"])
@pytest.mark.parametrize("ends", [(23,), (1, 2, 23), (4, 8, 23), tuple(range(24))])
def test_what_comes_in_any_pieces(tmp_path: Path, codec: str, ends: tuple[int, ...]) -> None:
    names = Coordinate("a_2", ("a_2",), np.arange(7.0), {"units": "m"})
    stream = Given(cut(cube(), *ends), coords=(names,), attrs={"title": "x"})
    summary = gangsaw.compress(stream, tmp_path / "a.zarr", codec=codec, chunks=(4, 3, 7))
    assert (summary.chunks, summary.samples) == (12, 23 * 5 * 7)
    with xr.open_zarr(tmp_path / "a.zarr", chunks=None) as data:
        assert np.array_equal(data["a"].values, cube()["a"])
        assert data.attrs["title"] == "x"
    report = verify(tmp_path / "a.zarr")
    assert report.ok
    assert not report.extra
    assert compare_with_stream(report, str(tmp_path / "a.zarr"), stream).ok


def test_the_same_bytes_whatever_the_pieces(tmp_path: Path) -> None:
    for name, ends in (("a", (23,)), ("b", (5, 6, 23))):
        spool(Given(cut(cube(), *ends)), tmp_path / name, chunks=(4, 5, 7))
    for path in (tmp_path / "a").rglob("c/*/*/*"):
        other = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert path.read_bytes() == other.read_bytes()


def test_the_same_bytes_from_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They encode and store, whoever is to do which step; this process only reads."""
    whole = {**cube(), "b": np.arange(50.0)}
    chunks = {"a_step": 4, "a_1": 3, "b_step": 9}
    how: Any = {"choose": lambda _: ZstdCodec(level=1), "chunks": chunks}
    spool(Given((whole,)), tmp_path / "threads.zarr", **how)
    seen: list[Progress] = []
    with start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client:
        monkeypatch.setattr(ArrayCoder, "encode", None)
        spool(Given((whole,)), tmp_path / "a.zarr", client=client, on_progress=seen.append, **how)
    assert objects(tmp_path / "a.zarr") == objects(tmp_path / "threads.zarr")
    assert [state.done for state in seen][-1] == 12 + 6
    assert verify(tmp_path / "a.zarr").ok


def test_what_workers_cannot_do_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream, codec = Given((cube(),)), ZstdCodec(level=1)

    def refused(kind: type[Exception], message: str, name: str, **how: Any) -> None:
        with pytest.raises(kind, match=message):
            spool(stream, tmp_path / name, choose=lambda _: codec, client=client, **how)

    with in_process() as client:
        no_gpu = r"no codec of \S+/a.zarr/a runs on a GPU, as .* do: leave --device gpu out"
        refused(BadParams, no_gpu, "a.zarr", options=Options(device="gpu"))
        monkeypatch.setattr(Prefix, "has", lambda *_: False)
        unseen = r"chunk \S+b.zarr/a, 0\.\.0: a worker does not see the store, .*: \S+b.zarr/a$"
        refused(JobFailed, unseen, "b.zarr")
        monkeypatch.setattr(memory, "BASE_BYTES", 1 << 50)
        needs = r"worker 0 has [\d,]+ MiB for 1 threads, which need [\d,]+ MiB \(\d+ MiB per task\)"
        refused(BadParams, needs, "c.zarr")
    assert not (tmp_path / "a.zarr").exists()


def test_arrays_that_grow_at_their_own_pace(tmp_path: Path) -> None:
    late = {"a": np.zeros((10, 2), "f4"), "b": np.full(3, np.nan)}
    none = {"a": np.ones((4, 2), "f4"), "b": np.zeros(0)}
    spool(Given((none, late, none)), tmp_path / "a.zarr")
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    assert group["a"].shape == (18, 2)  # type: ignore[union-attr]
    assert np.isnan(group["b"][:]).all()  # type: ignore[index]
    assert verify(tmp_path / "a.zarr").ok


def test_an_array_of_nothing(tmp_path: Path) -> None:
    spool(Given(({"a": np.ones(4), "b": np.zeros(0)},)), tmp_path / "a.zarr")
    assert zarr.open_array(tmp_path / "a.zarr/b", mode="r").shape == (0,)
    assert verify(tmp_path / "a.zarr").ok


def test_a_stream_that_breaks_leaves_no_store_that_looks_whole(tmp_path: Path) -> None:
    broken = Given(cut(cube(), 9, 23), BadParams("torn"))
    with pytest.raises(BadParams, match="torn"):
        spool(broken, tmp_path / "a.zarr", chunks=(4, 5, 7))
    with pytest.raises(gangsaw.JobFailed, match="not finished"):
        verify(tmp_path / "a.zarr")
    spool(Given(cut(cube(), 23)), tmp_path / "a.zarr", overwrite=True)
    assert verify(tmp_path / "a.zarr").ok
    with pytest.raises(BadParams, match="exists"):
        spool(Given(cut(cube(), 23)), tmp_path / "a.zarr")


def test_samples_that_were_not_announced(tmp_path: Path) -> None:
    other = {"a": np.zeros((2, 5, 6), "u2")}
    with pytest.raises(BadParams, match=r"a was announced as uint16 of \(5, 7\)"):
        spool(Given((cube(), other)), tmp_path / "a.zarr")


def test_what_differs_is_named(tmp_path: Path) -> None:
    gangsaw.compress(Given(cut(cube(), 23)), tmp_path / "a.zarr", chunks=(4, 5, 7))
    report, store = verify(tmp_path / "a.zarr"), str(tmp_path / "a.zarr")
    changed = {"a": cube()["a"].copy()}
    changed["a"][9, 0, 0] += 1
    assert compare_with_stream(report, store, Given((changed,))).problems == (
        "a: samples 8 to 11 differ from the source",
    )
    both = {**cube(), "b": np.zeros(3)}
    assert (
        "b: in the source, not in the store"
        in compare_with_stream(report, store, Given((both,))).problems
    )
    coord = Coordinate("a_1", ("a_1",), np.arange(5))
    (line,) = compare_with_stream(report, store, Given((cube(),), coords=(coord,))).problems
    assert line == "a_1: the coordinate differs from the source's"


def test_a_rehearsal_gives_back_what_it_read(tmp_path: Path) -> None:
    """So mistakes are found before workers start, although the stream comes once."""
    stream, whole = ReplayableStream(once := Given(cut(cube(), 3, 4, 23))), cube()
    assert stream.as_it_is() is once
    for depth in (Depth.CHECK, Depth.WHOLE):
        plan = plan_job(lambda: spool(stream, tmp_path / "a.zarr", chunks=(5, 4, 7)), depth)
        assert plan is not None
        assert plan.arrays[0].codec == "gangsaw.ccsds123"
    with pytest.raises(BadParams, match="no axis"):
        plan_job(lambda: spool(stream, tmp_path / "a.zarr", chunks={"nope": 1}), Depth.CHECK)
    assert not (tmp_path / "a.zarr").exists()
    assert stream.as_it_is() is stream
    spool(stream, tmp_path / "a.zarr", chunks=(5, 4, 7))
    for name, samples in whole.items():
        assert np.array_equal(zarr.open_group(tmp_path / "a.zarr")[name][...], samples)
