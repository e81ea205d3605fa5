"""Stores to which xarray appended: `verify` checks all chunks, and records new ones on request."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine

import gangsaw
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.lease import hold_lease

CHUNKS = {"t": 8}


def _part(start: int, stop: int, rows: int = 120) -> xr.Dataset:
    """Images, counts, texts and times along an axis, and a field without it."""
    t = np.arange(start, stop)
    images = (np.arange(rows * 90).reshape(rows, 90) // 7 + t[:, None, None]).astype("u2")
    return xr.Dataset(
        {
            "image": (("t", "y", "x"), images),
            "wave": (("y", "t"), np.sin(t * 0.1 + np.arange(rows)[:, None]).astype("f4")),
            "name": ("t", np.array([f"scene {i}" for i in t], object)),
        },
        coords={"t": t},
    )


def _append(store: Path, part: xr.Dataset) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # consolidated metadata, which stores have, is no standard
        part.to_zarr(store, append_dim="t")


def _made(store: Path, stop: int, codec: str = "auto") -> Path:
    gangsaw.compress(_part(0, stop), store, chunks=CHUNKS, codec=codec)
    return store


@pytest.mark.parametrize("before", [16, 20], ids=["at the end of a chunk", "within a chunk"])
@pytest.mark.parametrize("after", [24, 21, 61])
def test_what_is_appended_is_verified(tmp_path: Path, before: int, after: int) -> None:
    store, whole = _made(tmp_path / "a.zarr", before), _part(0, after)
    _append(store, _part(before, after))
    for against in (None, whole):
        report = gangsaw.verify(store, against=against)
        assert report.problems == ()
        assert report.arrays == ("image", "name", "t", "wave")
        grew = [note for note in report.notes if f"grew along t from {before} to {after}" in note]
        assert len(grew) == 4
    other = whole.copy(deep=True)
    other["image"].values[-1, 3, 4] += 1
    (line,) = gangsaw.verify(store, against=other).problems
    assert "image" in line
    assert "the samples differ from the source" in line

    assert gangsaw.verify(store, adopt=True).ok
    report = gangsaw.verify(store, against=whole)
    assert (report.problems, report.notes) == ((), ())
    _append(store, _part(after, after + 3))  # which can be done again
    assert gangsaw.verify(store, against=_part(0, after + 3), adopt=True).ok
    assert gangsaw.verify(store).notes == ()


def test_chunks_are_recorded_by_one_job_at_a_time(tmp_path: Path) -> None:
    store = _made(tmp_path / "a.zarr", 16)
    _append(store, _part(16, 40))
    with hold_lease(open_prefix(store, writable=True)):  # of another job
        assert gangsaw.verify(store).ok
        with pytest.raises(BadParams, match="is writing there"):
            gangsaw.verify(store, adopt=True)
    assert gangsaw.verify(store, adopt=True).ok


def test_damage_is_found_before_and_behind_the_old_end(tmp_path: Path) -> None:
    store = _made(tmp_path / "a.zarr", 16)
    _append(store, _part(16, 40))
    old, new = (store / "image" / "c" / f"{n}" / "0" / "0" for n in (1, 3))
    for path, line in ((old, "the checksum differs"), (new, "cannot be decoded")):
        data = path.read_bytes()
        path.write_bytes(data[:20] + bytes([data[20] ^ 255]) + data[21:-9] + bytes(9))
        found = gangsaw.verify(store, adopt=True)
        assert len(found.problems) == 1
        assert line in found.problems[0]
        path.write_bytes(data)
    assert gangsaw.verify(store).notes != ()  # nothing was recorded
    assert gangsaw.verify(store, adopt=True).ok
    new.write_bytes(old.read_bytes())
    assert len(gangsaw.verify(store).problems) == 1


def test_chunks_that_zarr_left_out_are_written_when_they_are_recorded(tmp_path: Path) -> None:
    data = xr.Dataset({"u": (("t", "x"), np.ones((8, 500)))})
    gangsaw.compress(data, tmp_path / "a.zarr", chunks=CHUNKS)
    empty = xr.full_like(data, np.nan)
    _append(tmp_path / "a.zarr", empty)
    whole = xr.concat([data, empty], "t")
    report = gangsaw.verify(tmp_path / "a.zarr", against=whole)
    assert report.ok
    assert "1 of them are absent and read as the fill value" in report.notes[0]
    assert not gangsaw.verify(tmp_path / "a.zarr", against=xr.ones_like(whole)).ok
    assert gangsaw.verify(tmp_path / "a.zarr", adopt=True).ok
    assert (tmp_path / "a.zarr/u/c/1/0").exists()
    assert gangsaw.verify(tmp_path / "a.zarr", against=whole).notes == ()


@pytest.mark.parametrize("codec", ["ccsds123", "zstd"])
def test_codecs_of_images(tmp_path: Path, codec: str) -> None:
    data = _part(0, 16)[["image"]]
    gangsaw.compress(data, tmp_path / "a.zarr", chunks=CHUNKS, codec=codec)
    _append(tmp_path / "a.zarr", _part(16, 30)[["image"]])
    assert gangsaw.verify(tmp_path / "a.zarr", against=_part(0, 30)[["image", "t"]], adopt=True).ok
    assert gangsaw.verify(tmp_path / "a.zarr").notes == ()


ADDED = {
    "numbers in chunks": xr.Dataset(
        {"v": (("y", "x"), np.random.default_rng(1).random((120, 90)))}
    ),
    "texts": xr.Dataset({"v": ("t", np.array([f"{i} ab" for i in range(16)], object))}),
    "times": xr.Dataset({"v": ("t", np.arange(16).astype("M8[D]").astype("M8[ns]"))}),
    "no axis": xr.Dataset({"v": ((), np.int32(7))}),
    "no item": xr.Dataset({"v": (("n", "x"), np.zeros((0, 90)))}),
    "fill values alone": xr.Dataset({"v": ("y", np.full(120, np.nan))}),
}


@pytest.mark.parametrize("name", ADDED)
def test_variables_that_xarray_added_are_recorded(tmp_path: Path, name: str) -> None:
    store, more = _made(tmp_path / "a.zarr", 16), ADDED[name]
    in_chunks = (
        {"v": {"shards": (60, 60), "chunks": (20, 30)}} if name.startswith("numbers") else {}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # consolidated metadata, which stores have, is no standard
        more.to_zarr(store, mode="a", encoding=in_chunks)
    (line,) = gangsaw.verify(store).problems
    assert line.endswith("no manifest: another program wrote it; --adopt records its chunks")
    report = gangsaw.verify(store, adopt=True)
    assert report.problems == ()
    assert report.notes == (
        "v: another program added it, without a record of its chunks: they are recorded now",
    )
    whole = xr.merge([_part(0, 16), more])
    report = gangsaw.verify(store, against=whole)
    assert (report.problems, report.notes) == ((), ())
    assert "v" in report.arrays
    xr.testing.assert_identical(
        gangsaw.open(store)["v"].compute().drop_vars("t", errors="ignore"), more["v"]
    )
    if name == "numbers in chunks":  # damage is found from now on
        path = store / "v" / "c" / "1" / "0"
        data = path.read_bytes()
        path.write_bytes(data[:20] + bytes([data[20] ^ 255]) + data[21:])
        (line,) = gangsaw.verify(store).problems
        assert "c/1/0" in line


def test_an_added_variable_that_is_damaged_is_not_recorded(tmp_path: Path) -> None:
    store = _made(tmp_path / "a.zarr", 16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ADDED["numbers in chunks"].to_zarr(store, mode="a")
    chunk = next(path for path in (store / "v" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(b"no chunk")
    (line,) = gangsaw.verify(store, adopt=True).problems
    assert "cannot be decoded" in line
    assert not (store / "v" / ".gangsaw").exists()


def test_an_array_that_lost_its_manifest_is_not_taken_for_another_programs(tmp_path: Path) -> None:
    store = _made(tmp_path / "a.zarr", 16)
    (store / "image" / ".gangsaw" / "manifest").unlink()
    for adopt in (False, True):
        with pytest.raises(JobFailed, match="image is not finished"):
            gangsaw.verify(store, adopt=adopt)


def test_growth_that_nothing_explains_is_one_problem_of_the_array(tmp_path: Path) -> None:
    """There is no claim that its variables are not in the store."""
    data = xr.Dataset({"u": (("t", "x"), np.ones((8, 50))), "v": ("x", np.ones(50))})
    gangsaw.compress(data, tmp_path / "a.zarr")
    zarr.open_array(tmp_path / "a.zarr/u", mode="r+").resize((17, 101))
    (line,) = gangsaw.verify(tmp_path / "a.zarr", against=data).problems
    assert "manifest and metadata differ in the number of chunks" in line


def test_the_command(gangsaw: CommandLine, tmp_path: Path) -> None:
    store = _made(tmp_path / "a.zarr", 16)
    _append(store, _part(16, 24))
    assert "--adopt records them" in gangsaw.ok("verify", store).out.replace("\n", " ")
    ran = gangsaw.ok("verify", store, "--adopt", "--json")
    assert all(note.endswith("they are recorded now") for note in ran.figures["notes"])
    assert gangsaw.ok("verify", store, "--json").figures["notes"] == []
