"""A store that grows: readers see complete chunks, whatever happens to the writer."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from zarr.storage import LocalStore, MemoryStore

from gangsaw import BadParams, JobFailed
from gangsaw.codecs.visibility import Params
from gangsaw.codecs.visibility.samples import fringes, patterns
from gangsaw.tasks.append import Appender, Steps
from gangsaw.tasks.radio.append import appender as append
from gangsaw.tasks.sources.source import Coordinate

N = 4  # steps in a chunk
SHAPE = (6, 5, 2)
STEPS = Steps(
    dims=("time", "frequency", "baseline", "polarization"),
    shape=SHAPE,
    dtype="c8",
    params=Params(effort="fast", block=(N, 0, 0)),
    attrs={"units": "Jy"},
    time_attrs={"units": "seconds since 2026-01-01", "calendar": "standard"},
)
COORDS = (
    Coordinate("frequency", ("frequency",), np.linspace(1e9, 2e9, 6), {"units": "Hz"}),
    Coordinate("polarization", ("polarization",), np.array(["XX", "YY"], np.dtypes.StringDType())),
)
CUBE = patterns((19, *SHAPE), "c8")


def fill(target: Any, first: int, last: int, **options: Any) -> None:
    """Append steps of the cube, the time of each 8 s times its number."""
    with Appender(target, STEPS, COORDS, **options) as appender:
        add(appender, first, last)


def add(appender: Appender, first: int, last: int) -> None:
    for i in range(first, last):
        appender.append(8.0 * i, CUBE[i])


def check(target: Any, n_steps: int) -> None:
    """Hold a store to so many steps, as every way of opening it sees them."""
    for consolidated in (None, False):
        with xr.open_zarr(
            target, chunks=None, consolidated=consolidated, decode_times=False
        ) as data:
            assert data["visibility"].dims == STEPS.dims
            assert data["visibility"].values.tobytes() == CUBE[:n_steps].tobytes()
            np.testing.assert_array_equal(data["time"], 8.0 * np.arange(n_steps))
            np.testing.assert_array_equal(data["frequency"], COORDS[0].values)


def objects(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_readers_see_whole_chunks_while_it_grows(tmp_path: Path) -> None:
    target = tmp_path / "a.zarr"
    with Appender(target, STEPS, COORDS) as appender:
        check(target, 0)
        for i in range(len(CUBE)):
            appender.append(8.0 * i, CUBE[i])
            assert appender.n_written == (i + 1) // N * N
            assert appender.waiting == (i + 1) % N
            check(target, appender.n_written)
    check(target, len(CUBE))


def test_the_store_is_what_xarray_and_zarr_expect(tmp_path: Path) -> None:
    fill(tmp_path / "a.zarr", 0, 7)
    data = xr.open_zarr(tmp_path / "a.zarr")
    assert data["visibility"].attrs["units"] == "Jy"
    assert data["time"].values[-1] == np.datetime64("2026-01-01T00:00:48")
    assert list(data["polarization"].values) == ["XX", "YY"]
    array = zarr.open_array(tmp_path / "a.zarr" / "visibility", mode="r")
    assert array.shape == (7, *SHAPE)
    assert array.serializer.params.axes == "tfbb"


@pytest.mark.parametrize("cut", range(0, 20, 3))
def test_a_store_that_is_continued_is_that_of_one_run(tmp_path: Path, cut: int) -> None:
    once, twice = tmp_path / "once.zarr", tmp_path / "twice.zarr"
    fill(once, 0, len(CUBE))
    fill(twice, 0, min(cut, len(CUBE)))
    fill(twice, min(cut, len(CUBE)), len(CUBE))
    assert objects(once) == objects(twice)


def test_to_open_and_close_changes_nothing(tmp_path: Path) -> None:
    fill(tmp_path / "a.zarr", 0, 6)
    before = objects(tmp_path)
    Appender(tmp_path / "a.zarr", STEPS, COORDS).close()
    assert objects(tmp_path) == before


def test_times_in_chunks_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two chunks each, so that steps end within one, at its end, and behind it."""
    monkeypatch.setattr(append, "TIMES", 2 * N)
    for first, last in ((0, 3), (3, 8), (8, 9), (9, 16), (16, 19)):
        fill(tmp_path / "a.zarr", first, last)
        check(tmp_path / "a.zarr", last)
    assert len(list((tmp_path / "a.zarr" / "time" / "c").iterdir())) == 3


def test_big_endian_steps_come_back_to_the_bit(tmp_path: Path) -> None:
    steps, big = replace(STEPS, dtype=">c8"), CUBE.astype(">c8")
    for first, last in ((0, 6), (6, 19)):
        with Appender(tmp_path / "a.zarr", steps, COORDS) as appender:
            for i in range(first, last):
                appender.append(8.0 * i, big[i])
    check(tmp_path / "a.zarr", 19)


class Dying(LocalStore):
    """Dies at a write, after so many: of that one no object is left, or what a kill leaves."""

    left = 10**9

    async def set(self, key: str, value: Any) -> None:
        self.left -= 1
        if self.left < 0:
            half = self.root / f"{key}.{'0' * 32}.partial"
            half.parent.mkdir(parents=True, exist_ok=True)
            half.write_bytes(value.to_bytes()[: len(value) // 2])
            raise OSError(28, "No space left on device")
        await super().set(key, value)


@pytest.mark.parametrize("n_writes", range(35))
def test_death_at_any_write_leaves_whole_chunks_and_can_go_on(
    tmp_path: Path, n_writes: int
) -> None:
    target, store = tmp_path / "a.zarr", Dying(tmp_path / "a.zarr")
    store.left = n_writes
    with pytest.raises(JobFailed, match=r"cannot write to .*No space left on device"):
        fill(store, 0, len(CUBE), durable=False)
    n_steps = 0
    if (target / "zarr.json").exists():
        n_steps = xr.open_zarr(target)["visibility"].shape[0]
        assert n_steps % N == 0 or n_steps == len(CUBE)
        data = xr.open_zarr(target, chunks=None, decode_times=False)
        assert data["visibility"].values.tobytes() == CUBE[:n_steps].tobytes()
        assert data["time"].size == n_steps
    with Appender(target, STEPS, COORDS) as appender:
        assert appender.n_written == n_steps
        check(target, n_steps)
        add(appender, n_steps, len(CUBE))
    check(target, len(CUBE))
    assert not any("partial" in name for name in objects(target))


def test_the_writes_above_are_all(tmp_path: Path) -> None:
    store = Dying(tmp_path / "a.zarr")
    fill(store, 0, len(CUBE), durable=False)
    assert 10**9 - store.left == 35


def test_after_a_failed_write_no_step_is_taken(tmp_path: Path) -> None:
    store = Dying(tmp_path / "a.zarr")
    appender = Appender(store, STEPS, COORDS)
    add(appender, 0, N)
    store.left = 0
    with pytest.raises(JobFailed, match="No space left"):
        add(appender, N, 2 * N)
    store.left = 10**9
    with pytest.raises(JobFailed, match="writing to it failed before"):
        add(appender, 2 * N, 2 * N + 1)
    check(tmp_path / "a.zarr", N)


def test_an_error_elsewhere_loses_no_step(tmp_path: Path) -> None:
    with pytest.raises(IndexError), Appender(tmp_path / "a.zarr", STEPS, COORDS) as appender:
        add(appender, 0, len(CUBE) + 1)
    check(tmp_path / "a.zarr", len(CUBE))


def test_a_store_in_memory() -> None:
    store = MemoryStore()
    fill(store, 0, 9)
    check(store, 9)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"dtype": "c16"}, "data_type of 'visibility' is complex64, not complex128"),
        ({"params": Params(effort="fast", block=(8, 0, 0))}, "of 'visibility' is"),
        ({"params": Params(block=(N, 0, 0))}, "codecs of 'visibility' is"),
        ({"time_attrs": {"units": "days since 2026-01-01"}}, "attributes of 'time' is"),
        ({"name": "data"}, "'data' is only in one of them"),
        ({"shape": (6, 4, 2)}, "shape of 'visibility' is"),
    ],
)
def test_other_steps_are_not_appended(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    fill(tmp_path / "a.zarr", 0, 6)
    before = objects(tmp_path)
    with pytest.raises(BadParams, match=says):
        Appender(tmp_path / "a.zarr", replace(STEPS, **change), COORDS)
    assert objects(tmp_path) == before


def test_other_coordinates_are_refused(tmp_path: Path) -> None:
    fill(tmp_path / "a.zarr", 0, 6)
    coords = (replace(COORDS[0], values=COORDS[0].values + 1), COORDS[1])
    with pytest.raises(BadParams, match="values of 'frequency' differ"):
        Appender(tmp_path / "a.zarr", STEPS, coords)


@pytest.mark.parametrize(
    ("coordinate", "says"),
    [
        (
            Coordinate("frequency", ("frequency",), np.arange(5)),
            r"has shape \(5,\), its axes \(6,\)",
        ),
        (Coordinate("time", ("time",), np.arange(0)), "grows with the steps"),
        (Coordinate("uvw", ("time", "baseline"), np.zeros((0, 5))), "grows with the steps"),
        (Coordinate("visibility", ("baseline",), np.arange(5)), "grows with the steps"),
    ],
)
def test_coordinates_that_do_not_fit_are_refused(
    tmp_path: Path, coordinate: Coordinate, says: str
) -> None:
    with pytest.raises(BadParams, match=says):
        Appender(tmp_path / "a.zarr", STEPS, [coordinate])
    assert not (tmp_path / "a.zarr").exists()


def test_coordinates_may_have_axes_of_their_own(tmp_path: Path) -> None:
    names = Coordinate("antenna", ("baseline", "end"), np.arange(10).reshape(5, 2))
    with Appender(tmp_path / "a.zarr", STEPS, [names]) as appender:
        add(appender, 0, 5)
    with xr.open_zarr(tmp_path / "a.zarr") as data:
        np.testing.assert_array_equal(data["antenna"], names.values)


@pytest.mark.parametrize("kind", ["folder", "group", "array", "damaged"])
def test_nothing_else_is_touched(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "a.zarr"
    target.mkdir()
    if kind == "group":
        zarr.create_group(target, overwrite=True)
    elif kind == "array":
        zarr.create_array(target, data=np.arange(4), overwrite=True)
    else:
        (target / {"folder": "notes.txt", "damaged": "zarr.json"}[kind]).write_text("{")
    before = objects(target)
    with pytest.raises(BadParams, match="give another name"):
        Appender(target, STEPS, COORDS)
    assert objects(target) == before


def test_wrong_names_and_times_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="dims must name time and then the 3 axes"):
        replace(STEPS, dims=("time", "frequency"))
    with pytest.raises(BadParams, match="both named 'time'"):
        replace(STEPS, name="time")
    with Appender(tmp_path / "a.zarr", STEPS, COORDS) as appender:
        add(appender, 0, 1)
        with pytest.raises(BadParams, match="finite"):
            appender.append(float("nan"), CUBE[1])
        with pytest.raises(BadParams, match="shape"):
            appender.append(8.0, CUBE[1, 0])
        add(appender, 1, 2)
    check(tmp_path / "a.zarr", 2)
    with pytest.raises(JobFailed, match="it is closed"):
        add(appender, 2, 3)


def test_memory_is_bounded(tmp_path: Path) -> None:
    shape = (32, 24, 16)
    steps = replace(STEPS, shape=shape)
    step = fringes(shape, "c8")
    with Appender(tmp_path / "a.zarr", steps, durable=False) as appender:
        for i in range(N):  # compiles
            appender.append(i, step)
        tracemalloc.start()
        try:
            for i in range(N, 6 * N):
                appender.append(i, step)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= appender.peak_bytes
