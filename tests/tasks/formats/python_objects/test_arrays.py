"""Arrays of NumPy, Dask and Zarr as sources: every kind is stored, or refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import zarr
from helpers.clusters import in_process
from numpy.typing import NDArray
from zarr.storage import MemoryStore

import gangsaw
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.formats.python_objects.arrays_in_memory import ArrayInMemory, span_of
from gangsaw.tasks.formats.python_objects.conversion import source_of
from gangsaw.tasks.jobs.compress import compress

CUBE = np.arange(4 * 48 * 64, dtype="uint16").reshape(4, 48, 64)
CHUNKS = (4, 16, 32)
TIMES = np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[ns]")
RECORDS = np.array([(1, 0.5), (2, -0.0)], [("a", ">i4"), ("b", "f8")])

KINDS = {
    "cube": CUBE,
    "big-endian": CUBE.astype(">i4"),
    "Fortran order": np.asfortranarray(CUBE),
    "strided": CUBE[:, ::-2, ::3],
    "float": np.array([[0.0, -0.0], [np.nan, np.inf]]),
    "complex": CUBE[0].astype("c8"),
    "bool": CUBE > 7,
    "int64 of one axis": CUBE.ravel().astype("i8") - 99,
    "times": TIMES,
    "records": RECORDS,
    "texts": np.array(["a", "bcé", ""], object),
    "fixed texts": np.array(["a", "bc"]),
    "one number": np.float64(3.5),
    "none": CUBE[:0],
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_numpy_has_comes_back(kind: str, tmp_path: Path) -> None:
    gangsaw.compress(KINDS[kind], tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=KINDS[kind]).ok
    stored = zarr.open_group(tmp_path / "a.zarr", mode="r")["data"]
    if kind not in ("records", "texts", "fixed texts"):
        assert np.array_equal(stored[...], KINDS[kind], equal_nan=kind in ("float", "times"))


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "one number"])
def test_dask_stores_what_numpy_does(kind: str, tmp_path: Path) -> None:
    values = KINDS[kind]
    blocks = tuple(max(1, n // 2) for n in values.shape)
    gangsaw.compress(da.from_array(values, chunks=blocks), tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=values).ok


def test_other_samples_are_told(tmp_path: Path) -> None:
    gangsaw.compress(CUBE, tmp_path / "a.zarr")
    other = CUBE.copy()
    other[1, 2, 3] += 1
    for wrong in (other, da.from_array(other, chunks=CHUNKS)):
        (problem,) = gangsaw.verify(tmp_path / "a.zarr", against=wrong).problems
        assert "differ from the source" in problem


NO_SOURCES = {"None": None, "int": 3, "list": [[1, 2]], "dict": {"a": CUBE}, "bytes": b"a"}


@pytest.mark.parametrize("kind", NO_SOURCES)
def test_what_is_no_source_is_a_type_error_in_one_line(kind: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"^got {kind}: a source is a path.*Stream$"):
        gangsaw.compress(NO_SOURCES[kind], tmp_path / "a.zarr")  # type: ignore[arg-type]
    assert not (tmp_path / "a.zarr").exists()


OTHERWISE: dict[str, tuple[dict[str, Any], str]] = {
    "a codec that is none": ({"codec": 5}, "codec must be a name such as 'auto', got int"),
    "a codec that is made": ({"codec": gangsaw.codecs.Bwt()}, "codec must be a name"),
    "parameters in a text": ({"params": "x=1"}, "params must be a dict by name, got str"),
    "chunks in a number": ({"chunks": 4}, "chunks must be extents, one for each axis, or a dict"),
    "half a chunk": ({"chunks": (2.5, 1, 1)}, "an extent must be an integer, got float"),
    "half a block": ({"block": (1, 2.5, 1)}, "an extent must be an integer, got float"),
    "an address of a client": ({"client": "tcp://a:1"}, "client must be a client of Dask"),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_what_is_said_otherwise_is_a_type_error_in_one_line(what: str, tmp_path: Path) -> None:
    said, message = OTHERWISE[what]
    with pytest.raises(TypeError, match=f"^{message}[^\n]*$"):
        gangsaw.compress(CUBE, tmp_path / "a.zarr", **said)
    assert not (tmp_path / "a.zarr").exists()


def test_blocks_of_another_dtype(tmp_path: Path) -> None:
    """Dask does not look whether functions return what it was told: nothing is cut off silently."""
    told = da.from_array(CUBE, chunks=CHUNKS)
    same = told.map_blocks(lambda block: block.astype("f8"), dtype=told.dtype)
    gangsaw.compress(same, tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=CUBE).ok
    halves = told.map_blocks(lambda block: block + 0.5, dtype=told.dtype)
    with pytest.raises(gangsaw.JobFailed, match="a block has float64 samples that"):
        gangsaw.compress(halves, tmp_path / "b.zarr")
    with pytest.raises(gangsaw.JobFailed, match="a block has float64 samples that"):
        gangsaw.verify(tmp_path / "a.zarr", against=halves)


def test_a_mask_that_only_a_block_has(tmp_path: Path) -> None:
    told = da.from_array(CUBE, chunks=CHUNKS)
    masked = told.map_blocks(lambda block: np.ma.masked_equal(block, block.max()), meta=CUBE)
    with pytest.raises(gangsaw.JobFailed, match="a block has masked samples"):
        gangsaw.compress(masked, tmp_path / "a.zarr")


def _of_unknown_extents() -> da.Array:
    flat = da.from_array(CUBE.ravel(), chunks=100)
    return flat[flat > 7]


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "mask": (lambda: np.ma.masked_equal(CUBE, 7), "masked array.*filled"),
    "masked blocks": (lambda: da.ma.masked_equal(da.from_array(CUBE), 7), "blocks of numpy.ma"),
    "unknown extents": (_of_unknown_extents, "unknown sizes: call compute_chunk_sizes"),
    "objects": (lambda: np.array([1, None, "a"], object), "objects .NoneType, int, str."),
    "blocks of objects": (lambda: da.full(1 << 22, None, chunks=1 << 20), "objects in its blocks"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_no_store_holds_is_refused(kind: str, tmp_path: Path) -> None:
    make, message = REFUSED[kind]
    with pytest.raises(gangsaw.BadParams, match=message):
        gangsaw.compress(make(), tmp_path / "a.zarr")  # type: ignore[arg-type]
    assert not (tmp_path / "a.zarr").exists()


def test_options_of_a_source_come_too_late(tmp_path: Path) -> None:
    with pytest.raises(gangsaw.BadParams, match="comes too late"):
        gangsaw.compress(CUBE, tmp_path / "a.zarr", group="a")


def test_zarr_arrays_and_groups(tmp_path: Path) -> None:
    for place in (MemoryStore(), tmp_path / "in.zarr"):
        group = zarr.open_group(place, mode="w")
        group.create_array("a/b", data=CUBE, chunks=(2, 48, 64), attributes={"unit": "m"})
        array = group["a/b"]
        for number, source in enumerate((group, array)):
            target = tmp_path / f"{type(place).__name__}{number}.zarr"
            gangsaw.compress(source, target)
            assert gangsaw.verify(target, against=source).ok
            stored = zarr.open_group(target, mode="r")[("a/b", "data")[number]]
            assert np.array_equal(stored[...], CUBE)
            assert stored.attrs["unit"] == "m"


def test_a_store_is_not_its_own_source(tmp_path: Path) -> None:
    gangsaw.compress(CUBE, tmp_path / "a.zarr")
    source = zarr.open_group(tmp_path / "a.zarr", mode="r")
    with pytest.raises(gangsaw.BadParams, match="overlap"):
        gangsaw.compress(source, tmp_path / "a.zarr", overwrite=True)
    lazy = da.from_zarr(source["data"]) + 1  # is read until the new store takes its place
    gangsaw.compress(lazy, tmp_path / "a.zarr", overwrite=True)
    assert gangsaw.verify(tmp_path / "a.zarr", against=CUBE + 1).ok


class Counted:
    """Counts how often each block is made."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, block: NDArray[np.uint16]) -> NDArray[np.uint16]:
        self.calls += 1
        return block


def test_what_blocks_share_is_computed_once(tmp_path: Path) -> None:
    counted = Counted()
    made = da.from_array(CUBE, chunks=(4, 48, 64)).map_blocks(counted, dtype=CUBE.dtype)
    shared = made - made.min()
    calls = []
    gangsaw.compress(
        shared,
        tmp_path / "a.zarr",
        codec="zstd",
        chunks=(4, 8, 8),
        on_progress=lambda _: calls.append(counted.calls),
    )
    assert len(calls) == 49
    assert calls[-1] - calls[0] <= 1


def test_an_error_of_the_callers_function_is_one_line(tmp_path: Path) -> None:
    def fails(block: NDArray[np.uint16]) -> NDArray[np.uint16]:
        raise ValueError("no such thing\nat all")

    broken = da.from_array(CUBE, chunks=CHUNKS).map_blocks(fails, dtype=CUBE.dtype)
    with pytest.raises(gangsaw.JobFailed, match="computed: ValueError: no such thing"):
        gangsaw.compress(broken, tmp_path / "a.zarr", codec="zstd")


def test_blocks_are_encoded_by_cores(tmp_path: Path) -> None:
    how = Options(device="gpu")
    source = source_of(da.from_array(CUBE))
    assert source is not None
    with pytest.raises(gangsaw.BadParams, match="leave device"):
        compress(source, tmp_path / "a.zarr", options=how)
    assert not (tmp_path / "a.zarr").exists()


def test_a_task_takes_no_more_than_its_chunks() -> None:
    array = ArrayInMemory(CUBE, ("a", "b", "c"))
    region = (slice(0, 4), slice(16, 32), slice(32, 64))
    part = array.select_regions([region])
    assert list(part.parts) == [span_of(region)]
    assert np.array_equal(part.read(region), CUBE[region])


def test_on_workers(tmp_path: Path) -> None:
    blocks = da.from_array(CUBE, chunks=(4, 24, 64))
    with in_process() as client:
        held = client.persist(blocks)
        for number, source in enumerate((CUBE, blocks, held)):
            target = tmp_path / f"{number}.zarr"
            summary = gangsaw.compress(source, target, client=client, chunks=CHUNKS)
            assert summary.chunks == 6
            assert gangsaw.verify(target, against=source, client=client).ok
            assert gangsaw.verify(target, against=CUBE).ok
        gangsaw.compress(held, tmp_path / "own.zarr", chunks=CHUNKS)  # where its blocks are
        assert gangsaw.verify(tmp_path / "own.zarr", against=held).ok
        in_memory = zarr.array(CUBE, store=MemoryStore())
        with pytest.raises(gangsaw.BadParams, match="leave client= out"):
            gangsaw.compress(in_memory, tmp_path / "b.zarr", client=client)
        with in_process(1) as other, pytest.raises(gangsaw.BadParams, match="its own client"):
            gangsaw.compress(held, tmp_path / "c.zarr", client=other)


class Stop(Exception):
    """Ends a job."""


def _stopped(source: object, target: Path, **options: object) -> None:
    def stop(progress: object) -> None:
        if getattr(progress, "done", 0) >= 2:
            raise Stop

    with pytest.raises(Stop):
        gangsaw.compress(source, target, chunks=CHUNKS, on_progress=stop, **options)  # type: ignore[arg-type]


def test_what_is_known_by_its_content_is_resumed(tmp_path: Path) -> None:
    _stopped(CUBE, tmp_path / "a.zarr")
    with pytest.raises(gangsaw.BadParams, match="another one or has changed"):
        gangsaw.compress(CUBE + 1, tmp_path / "a.zarr", chunks=CHUNKS, resume=True)
    assert gangsaw.compress(CUBE, tmp_path / "a.zarr", chunks=CHUNKS, resume=True).resumed >= 2
    assert gangsaw.verify(tmp_path / "a.zarr", against=CUBE).ok


def test_blocks_are_known_while_workers_hold_them(tmp_path: Path) -> None:
    blocks = da.from_array(CUBE, chunks=CHUNKS)
    with in_process() as client:
        held = client.persist(blocks)
        _stopped(held, tmp_path / "a.zarr", client=client)
        again = {"chunks": CHUNKS, "resume": True, "client": client}
        assert gangsaw.compress(held, tmp_path / "a.zarr", **again).resumed >= 2  # type: ignore[arg-type]
        _stopped(blocks, tmp_path / "b.zarr", client=client)
        with pytest.raises(gangsaw.BadParams, match="another one or has changed"):
            gangsaw.compress(blocks, tmp_path / "b.zarr", **again)  # type: ignore[arg-type]
