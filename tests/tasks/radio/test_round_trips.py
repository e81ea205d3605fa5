"""Visibilities go into a store and come back: bit for bit, with all the rest of their file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.radio_files import (
    items,
    kat_file,
    main_table,
    make_uvdata,
    noise,
    same_bits,
    scaled_uvfits,
    subtables,
    write,
    write_as,
)

from gangsaw.tasks.radio.libraries.quiet import AS_IT_IS, silence_pyuvdata

HERE = ("--workers", 0)
SMALL = ("--chunks", "time=2,baseline_id=3,frequency=7,polarization=4")

pytest.importorskip("pyuvdata", reason="the extra radio is not installed")


def read(path: Path) -> Any:
    """Return pyuvdata's object of a file, with nothing corrected."""
    from pyuvdata import UVData

    with silence_pyuvdata():
        uvdata = UVData()
        uvdata.read(str(path), **AS_IT_IS)
    return uvdata


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("ragged", [False, True])
def test_uvh5_comes_back_identical(
    gangsaw: CommandLine, tmp_path: Path, dtype: str, ragged: bool
) -> None:
    source = write(tmp_path / "a.uvh5", dtype=dtype, ragged=ragged)
    round_trip(gangsaw, source, tmp_path / "b.uvh5", () if ragged else SMALL)
    assert items(tmp_path / "b.uvh5") == items(source)
    dims = zarr.open_array(tmp_path / "b.uvh5.zarr/VISIBILITY", mode="r").metadata.dimension_names
    assert dims[:-2] == (("row",) if ragged else ("time", "baseline_id"))


def test_rows_sorted_by_baseline_become_the_same_grid(gangsaw: CommandLine, tmp_path: Path) -> None:
    uvdata = make_uvdata()
    by_time = write_as(uvdata, tmp_path / "time.uvh5")
    uvdata.reorder_blts(order="baseline", minor_order="time", run_check=False)
    by_baseline = write_as(uvdata, tmp_path / "baseline.uvh5")
    for source in (by_time, by_baseline):
        round_trip(gangsaw, source, source.with_suffix(".b.uvh5"), SMALL)
        assert items(source.with_suffix(".b.uvh5")) == items(source)
    a, b = (
        zarr.open_array(f"{source.with_suffix('.b.uvh5')}.zarr/VISIBILITY", mode="r")
        for source in (by_time, by_baseline)
    )
    assert a.shape == (5, 10, 16, 4)
    assert same_bits(a[...], b[...])


def test_integer_visibilities_stay_integers(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.uvh5")
    pairs = np.random.default_rng(4).integers(-(2**31), 2**31, (50, 16, 4, 2), dtype="i4")
    with h5py.File(source, "r+") as file:
        del file["Data/visdata"]
        file["Data/visdata"] = pairs.view([("r", "i4"), ("i", "i4")])[..., 0]
    round_trip(gangsaw, source, tmp_path / "b.uvh5")
    assert items(tmp_path / "b.uvh5") == items(source)
    stored = zarr.open_array(tmp_path / "b.uvh5.zarr/VISIBILITY", mode="r")
    assert (stored.shape, stored.dtype) == ((5, 10, 16, 4, 2), np.dtype("i4"))


@pytest.mark.parametrize("ragged", [False, True])
def test_ms_comes_back_identical(gangsaw: CommandLine, tmp_path: Path, ragged: bool) -> None:
    source = write(tmp_path / "a.ms", ragged=ragged)
    round_trip(gangsaw, source, tmp_path / "b.ms", () if ragged else SMALL)
    assert_same_ms(source, tmp_path / "b.ms")


def test_ms_keeps_all_data_columns(gangsaw: CommandLine, tmp_path: Path) -> None:
    from casacore.tables import makecoldesc, table

    source = write(tmp_path / "a.ms")
    with table(str(source), ack=False, readonly=False) as main:
        for i, name in enumerate(("CORRECTED_DATA", "MODEL_DATA")):
            main.addcols(makecoldesc(name, main.getcoldesc("DATA")))
            main.putcol(name, noise((50, 16, 4), 7 + i))
    round_trip(gangsaw, source, tmp_path / "b.ms")
    assert_same_ms(source, tmp_path / "b.ms")
    with xr.open_zarr(tmp_path / "b.ms.zarr", chunks=None) as store:
        assert {"VISIBILITY", "VISIBILITY_CORRECTED", "VISIBILITY_MODEL"} <= set(store)
    command = ("decompress", tmp_path / "b.ms.zarr", tmp_path / "b.uvh5", "--accept-loss")
    line = gangsaw(*command).failed(2)
    assert "DATA and CORRECTED_DATA, MODEL_DATA" in line
    assert not (tmp_path / "b.uvh5").exists()


def test_uvfits_keeps_every_bit(gangsaw: CommandLine, tmp_path: Path) -> None:
    from astropy.io import fits

    source = write(tmp_path / "a.uvfits")
    round_trip(gangsaw, source, tmp_path / "b.uvfits")
    assert (tmp_path / "b.uvfits").read_bytes() == source.read_bytes()
    with fits.open(tmp_path / "b.uvfits") as file:
        assert file[0].header["OBSID"] == 42


@pytest.mark.parametrize(("suffix", "line"), [("uvh5", "Header/history"), ("uvfits", "the header")])
def test_verify_names_what_differs_in_a_header(
    gangsaw: CommandLine, tmp_path: Path, suffix: str, line: str
) -> None:
    uvdata = make_uvdata()
    source = write_as(uvdata, tmp_path / f"a.{suffix}")
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    source.unlink()
    uvdata.history += " and changed"
    write_as(uvdata, source)
    ran = gangsaw("verify", tmp_path / "a.zarr", "--against", source, *HERE)
    assert ran.code == 1
    assert f"template: {line}" in ran.out + ran.err


def test_miriad_is_read_through_pyuvdata(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write_as(make_uvdata(special=False), tmp_path / "a.uv")
    line = gangsaw("compress", source, tmp_path / "a.zarr", *HERE).failed(2)
    assert "variable jyperk is one that pyuvdata does not keep" in line
    accepted = ("--accept-loss", *HERE)
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *accepted)
    gangsaw.ok("verify", tmp_path / "a.zarr", "--against", source, *accepted)
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.uvh5")
    before, after = read(source), read(tmp_path / "b.uvh5")
    assert same_bits(before.data_array, after.data_array)
    assert np.array_equal(before.flag_array, after.flag_array)


@pytest.mark.parametrize(
    ("first", "second", "lost"),
    [
        ("ms", "uvh5", "column SIGMA and subtable POINTING"),
        ("uvh5", "ms", ""),
        ("uvfits", "ms", "the signs of flagged weights"),
    ],
)
def test_one_format_becomes_another(
    gangsaw: CommandLine, tmp_path: Path, first: str, second: str, lost: str
) -> None:
    """Visibilities to the bit, flags and samples, by baseline and time; the times to a microsecond,
    as the formats count them in other units."""
    # pyuvdata, which reads it for comparison, loses infinities of uvfits
    source = write(tmp_path / f"a.{first}", special=first != "uvfits")
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    command = ("decompress", tmp_path / "a.zarr", tmp_path / f"b.{second}")
    if lost:
        assert f"cannot hold {lost}; --accept-loss" in gangsaw(*command).failed(2)
        gangsaw.ok(*command, "--accept-loss")
    else:
        gangsaw.ok(*command)
    before, after = read(source), read(tmp_path / f"b.{second}")
    for uvdata in (before, after):
        uvdata.reorder_blts(order="time", minor_order="baseline", run_check=False)
        uvdata.reorder_pols(order="AIPS", run_check=False)
    assert np.allclose(before.time_array, after.time_array, rtol=0, atol=1e-6 / 86400)
    for name in ("ant_1_array", "ant_2_array", "flag_array"):
        assert np.array_equal(getattr(before, name), getattr(after, name))
    assert same_bits(before.data_array.astype("c8"), after.data_array.astype("c8"))
    assert np.array_equal(before.nsample_array, after.nsample_array)
    assert after.extra_keywords["NOTE"] == "kept"
    assert "made for a test" in after.history


def test_a_single_channel_is_no_average(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.ms", channels=1)
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.uvh5", "--accept-loss")
    found = read(tmp_path / "b.uvh5").data_array
    assert found.shape == (50, 1, 4)
    assert same_bits(np.sort(found.real, None), np.sort(main_table(source)["DATA"].real, None))


def test_what_a_format_cannot_hold(gangsaw: CommandLine, tmp_path: Path) -> None:
    uvdata = make_uvdata(dtype="c16")
    uvdata.data_array[7, 1, 1] = 1 / 3
    gangsaw.ok("compress", write_as(uvdata, tmp_path / "a.uvh5"), tmp_path / "a.zarr", *HERE)
    for suffix in ("ms", "uvfits"):
        command = ("decompress", tmp_path / "a.zarr", tmp_path / f"b.{suffix}", "--accept-loss")
        line = gangsaw(*command).failed(2)
        assert "values of data_array need double: decompress to .uvh5" in line
    line = gangsaw("decompress", tmp_path / "a.zarr", tmp_path / "b.hdr").failed(2)
    assert "several arrays" in line
    command = ("decompress", tmp_path / "a.zarr", tmp_path / "b.uvh5", "--variable", "VISIBILITY")
    assert "leave --variable out" in gangsaw(*command).failed(2)
    assert {path.name for path in tmp_path.iterdir()} == {"a.uvh5", "a.zarr"}


def test_datasets_of_any_kind_and_rank(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.uvh5")
    with h5py.File(source, "r+") as file:
        data, rows = file["Data"], len(file["Header/time_array"])
        data["texts"] = [f"µ{i}" for i in range(rows)]
        data["records"] = np.zeros(rows, [("a", "f4"), ("b", "S3")])
        data["per_row"] = np.arange(rows)
        data["two"] = np.arange(2 * rows).reshape(rows, 2)
        data["five"] = np.zeros((rows, 2, 3, 1, 2), "f4")
        data["scalar"] = 7
        data["below/more"] = np.arange(3)
        del file["Header/integration_time"]
        file["Header/integration_time"] = 10.7  # as in files of old
    round_trip(gangsaw, source, tmp_path / "b.uvh5")
    assert items(tmp_path / "b.uvh5") == items(source)
    with xr.open_zarr(tmp_path / "b.uvh5.zarr", chunks=None) as found:
        assert found["five"].shape == (5, 10, 2, 3, 1, 2)
        assert found["two"].dims[-1] == "two_0"


def test_datasets_of_a_correlator_of_other_extents(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = kat_file(tmp_path / "a.h5", "3")
    with h5py.File(source, "r+") as file:
        del file["Data/weights"], file["Data/weights_channel"], file["Data/flags"]
        file["Data/weights"] = np.ones((6, 3), "f4")
        file["Data/flags"] = [b"none"] * 6
        file["Data/weights_channel"] = np.ones((6, 8, 5, 2, 2), "f4")
    round_trip(gangsaw, source, tmp_path / "b.h5")
    assert items(tmp_path / "b.h5") == items(source)
    with xr.open_zarr(tmp_path / "b.h5.zarr", chunks=None) as found:
        assert found["WEIGHT"].dims == ("time", "WEIGHT_0")


@pytest.mark.parametrize(("suffix", "make"), [("uvh5", write), ("h5", kat_file)])
def test_what_is_too_large_beside_visibilities_is_named(
    gangsaw: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, make: Any
) -> None:
    source, store = make(tmp_path / f"a.{suffix}"), tmp_path / "a.zarr"
    with h5py.File(source, "r+") as file:
        file["Extra/large"] = np.random.default_rng(1).random(100_000)
    monkeypatch.setattr("gangsaw.tasks.radio.hdf5.template.MOST_WHOLE", 400_000)
    line = gangsaw("compress", source, store, *HERE).failed(2)
    assert f"a.{suffix}: Extra/large has 0 MiB besides the visibilities" in line
    gangsaw.ok("compress", source, store, "--accept-loss", *HERE)
    gangsaw.ok("verify", store, "--against", source, "--accept-loss", *HERE)
    gangsaw.ok("decompress", store, tmp_path / f"b.{suffix}")
    assert items(source).keys() - items(tmp_path / f"b.{suffix}").keys() == {"Extra/large"}


@pytest.mark.full
def test_items_of_miriad_that_nobody_reads_are_named(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write_as(make_uvdata(special=False), tmp_path / "a.uv")
    (source / "gains").write_bytes(b"\0" * 64)
    line = gangsaw("compress", source, tmp_path / "a.zarr", *HERE).failed(2)
    assert "item gains is a file that pyuvdata does not read" in line
    gangsaw.ok("compress", source, tmp_path / "a.zarr", "--accept-loss", *HERE)
    lost = zarr.open_group(tmp_path / "a.zarr", mode="r").attrs["gangsaw_left_out"]
    assert lost[0].startswith("item gains")


@pytest.mark.parametrize("kind", ["<f4", ">f4", ">f8", "f2", ">i2"])
def test_pairs_of_any_numbers_of_a_kat_correlator(
    gangsaw: CommandLine, tmp_path: Path, kind: str
) -> None:
    """The samples are held against the file, for `verify` reads it as `compress` does."""
    pairs = np.random.default_rng(3).integers(-999, 999, (6, 8, 5, 2)).astype(kind)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["Data/correlator_data"], file["Data/timestamps"] = pairs, np.arange(6.0)
    round_trip(gangsaw, tmp_path / "a.h5", tmp_path / "b.h5")
    assert items(tmp_path / "b.h5") == items(tmp_path / "a.h5")
    stored = np.asarray(zarr.open_array(tmp_path / "b.h5.zarr/VISIBILITY", mode="r")[:])
    if stored.dtype.kind == "c":
        stored = np.stack([stored.real, stored.imag], axis=-1)
    np.testing.assert_array_equal(stored, pairs.astype("f8"))


@pytest.mark.parametrize("suffix", [".uvh5", ".ms"])
def test_a_damaged_chunk_is_named_by_exports(
    gangsaw: CommandLine, tmp_path: Path, suffix: str
) -> None:
    source = write(tmp_path / f"a{suffix}")
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    (chunk,) = (p for p in (tmp_path / "a.zarr/VISIBILITY/c").rglob("*") if p.is_file())
    octets = bytearray(chunk.read_bytes())
    octets[-1] ^= 1
    chunk.write_bytes(octets)
    line = gangsaw("decompress", tmp_path / "a.zarr", tmp_path / f"b{suffix}").failed(1)
    assert "VISIBILITY, chunk c/0/0/0/0" in line
    assert "template" not in line
    assert "checksum" in line
    assert "unexpected" not in line
    assert not (tmp_path / f"b{suffix}").exists()


@pytest.mark.parametrize("version", ["2", "3"])
def test_files_of_kat_correlators(gangsaw: CommandLine, tmp_path: Path, version: str) -> None:
    source = kat_file(tmp_path / "a.h5", version)
    round_trip(gangsaw, source, tmp_path / "b.h5", ("--chunks", "time=4"))
    assert items(tmp_path / "b.h5") == items(source)
    stored = zarr.open_array(tmp_path / "b.h5.zarr/VISIBILITY", mode="r")
    assert (stored.shape, stored.dtype) == ((6, 8, 5), np.dtype("c8"))
    assert stored.metadata.codecs[0].to_dict()["configuration"]["axes"] == "tfb"
    line = gangsaw("decompress", tmp_path / "b.h5.zarr", tmp_path / "b.ms").failed(2)
    assert "cannot be written as ms" in line


def round_trip(
    gangsaw: CommandLine, source: Path, copy: Path, options: Sequence[object] = ()
) -> None:
    """Compress, verify, decompress to `copy`, and hold the copy against the store."""
    store = copy.with_name(f"{copy.name}.zarr")
    gangsaw.ok("compress", source, store, *HERE, *options)
    gangsaw.ok("verify", store, "--against", source, *HERE)
    gangsaw.ok("decompress", store, copy, "--workers", 0)


def assert_same_ms(a: Path, b: Path) -> None:
    """Every column, to the bit, and every cell of the subtables."""
    before, after = main_table(a), main_table(b)
    assert before.keys() == after.keys()
    assert all(same_bits(before[name], after[name]) for name in before)
    assert repr(subtables(a)) == repr(subtables(b))


RAW = "data/visibilities/raw"


def test_the_ms_of_the_vla(gangsaw: CommandLine, shared: Path, tmp_path: Path) -> None:
    source = shared / RAW / "vla_day2_TDEM0003.ms"
    round_trip(gangsaw, source, tmp_path / "b.ms")
    assert_same_ms(source, tmp_path / "b.ms")


def test_the_uvh5_of_hera(gangsaw: CommandLine, shared: Path, tmp_path: Path) -> None:
    source = shared / RAW / "zen.2458116.30448.HH.uvh5"
    round_trip(gangsaw, source, tmp_path / "b.uvh5")
    assert items(tmp_path / "b.uvh5") == items(source)
    line = gangsaw("decompress", tmp_path / "b.uvh5.zarr", tmp_path / "b.ms").failed(2)
    assert "phasing would change these" in line


def test_the_uvfits_of_the_mwa(gangsaw: CommandLine, shared: Path, tmp_path: Path) -> None:
    from astropy.io import fits

    source = shared / RAW / "1061316296.uvfits"
    round_trip(gangsaw, source, tmp_path / "b.uvfits")
    assert (tmp_path / "b.uvfits").read_bytes() == source.read_bytes()
    with xr.open_zarr(tmp_path / "b.uvfits.zarr", chunks=None) as found, fits.open(source) as file:
        groups = file[0].data
        assert found["UVW"].dtype == np.dtype("f4")  # seconds, as in the file
        uvw = np.stack([groups.par(name) for name in ("UU", "VV", "WW")], axis=-1)
        assert same_bits(found["UVW"].values.reshape(-1, 3), uvw.astype("f4"))
        weights = groups.data[..., 2].astype("f4").reshape(len(groups), -1)
        assert same_bits(found["WEIGHT"].values.reshape(len(groups), -1), weights)
        assert np.array_equal(found["FLAG"].values.reshape(weights.shape), weights <= 0)


def test_exports_name_what_they_lose(gangsaw: CommandLine, tmp_path: Path) -> None:
    """Of uvh5: a dataset, a group and, in uvfits, bits of the baselines; nothing is written."""
    source = write(tmp_path / "a.uvh5")
    with h5py.File(source, "r+") as file:
        file["Data/weights_of_mine"], file["Mine/notes"] = np.ones((50, 16, 4), "f4"), 7
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    line = gangsaw("decompress", tmp_path / "a.zarr", tmp_path / "b.uvfits").failed(2)
    for item in ("group Mine", "dataset Data/weights_of_mine", "double precision of UVW"):
        assert item in line
    assert "--accept-loss leaves that out" in line
    assert not (tmp_path / "b.uvfits").exists()
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.uvfits", "--accept-loss")
    assert read(tmp_path / "b.uvfits").Nblts == 50


def test_uvfits_of_doubles_names_what_is_lost(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = scaled_uvfits(tmp_path / "a.uvfits")
    line = gangsaw("compress", source, tmp_path / "a.zarr", *HERE).failed(2)
    assert "samples of BITPIX -64 have more bits" in line
    gangsaw.ok("compress", source, tmp_path / "a.zarr", "--accept-loss", *HERE)
