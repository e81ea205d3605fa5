"""What is read of files of visibilities, how it is stored, and what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.radio_files import noise, same_bits, write
from hypothesis import given
from hypothesis import strategies as st
from zarr.codecs import BloscCodec

from gangsaw.codecs.visibility.axes import visibility_axes
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.codecs.visibility.params import Params
from gangsaw.tasks.radio.rows import Rows, map_rows_to_axes

HERE = ("--workers", 0)
USAGE = 2

pytest.importorskip("pyuvdata", reason="the extra radio is not installed")


@given(
    n_times=st.integers(1, 5),
    n_baselines=st.integers(1, 5),
    swapped=st.booleans(),
    dropped=st.sets(st.integers(0, 24)),
    data=st.data(),
)
def test_rows_of_any_region_are_those_of_the_file(
    n_times: int, n_baselines: int, swapped: bool, dropped: set[int], data: st.DataObject
) -> None:
    time, baseline = (a.reshape(-1) for a in np.mgrid[:n_times, :n_baselines])
    if swapped:
        order = np.lexsort((time, baseline))
        time, baseline = time[order], baseline[order]
    kept = [i for i in range(len(time)) if i not in dropped] or [0]
    time, baseline = time[kept], baseline[kept]
    rows = map_rows_to_axes(time * 0.1, baseline, baseline + 1)
    values = np.arange(2 * len(time)).reshape(-1, 2)
    region = tuple(
        slice(*sorted(data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))))
        for n in rows.shape
    )
    region = tuple(slice(part.start, part.stop + 1) for part in region)
    part = rows.read(lambda run: values[run], region)
    assert rows.n_rows == len(time)
    if len(rows.shape) == 2:
        picked = {(t, b): v for t, b, v in zip(time, baseline, values.tolist(), strict=True)}
        times, baselines = sorted({*time}), sorted({*baseline})
        for i, t in enumerate(times[region[0]]):
            for j, b in enumerate(baselines[region[1]]):
                assert part[i, j].tolist() == picked[t, b]
        assert rows.reduce_to_axis(time, "time").tolist() == times
        assert rows.repeat_for_rows(np.array(times), ("time",)).tolist() == time.tolist()
        assert (
            rows.repeat_for_rows(np.array(baselines), ("baseline_id",)).tolist()
            == baseline.tolist()
        )
    written = np.full_like(values, -1)
    rows.write(lambda run, some: written.__setitem__(run, some), region, part)
    there = written[:, 0] >= 0
    assert np.array_equal(written[there], values[there])
    assert there.sum() == part[..., 0].size


@pytest.mark.parametrize("order", ["time", "baseline"])
def test_a_full_set_of_rows_is_a_grid(order: str) -> None:
    time, baseline = (a.reshape(-1) for a in np.mgrid[:3, :4])
    if order == "baseline":
        time, baseline = (a.reshape(3, 4).T.reshape(-1) for a in (time, baseline))
    assert map_rows_to_axes(time, baseline, baseline).shape == (3, 4)
    time[-1] += 1  # one late row
    assert map_rows_to_axes(time, baseline, baseline).dims == ("row",)
    assert Rows.from_dict(map_rows_to_axes(time, baseline, baseline).to_dict()).n_rows == 12


@pytest.mark.parametrize(
    ("dims", "axes"),
    [
        (("time", "baseline_id", "frequency", "polarization"), "tbfb"),
        (("row", "chan", "corr"), "bfb"),
        (("time", "frequency", "baseline_id"), "tfb"),
        (("time", "channel", "frequency"), "tfb"),
        (("dim_0", "dim_1", "dim_2"), "auto"),
    ],
)
def test_axes_are_told_by_name(dims: tuple[str, ...], axes: str) -> None:
    assert visibility_axes(dims) == axes
    assert Visibility.for_dims(dims, effort="fast").params == Params(axes=axes, effort="fast")


def codecs(store: Path) -> dict[str, Any]:
    """Return the last codec of each array that is no coordinate."""
    group = zarr.open_group(store, mode="r")
    found = {}
    for name in ("VISIBILITY", "FLAG", "WEIGHT", "UVW"):
        array = group[name]
        assert isinstance(array, zarr.Array)
        found[name] = array.metadata.codecs[-1]  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize("options", [(), ("--codec", "visibility", "--effort", "fast")])
def test_every_array_gets_what_suits_it(
    gangsaw: CommandLine, tmp_path: Path, options: tuple[str, ...]
) -> None:
    source = write(tmp_path / "a.uvh5")
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *options, *HERE)
    found = codecs(tmp_path / "a.zarr")
    params = found.pop("VISIBILITY").to_dict()["configuration"]
    assert (params["axes"], params["effort"]) == ("tbfb", "fast" if options else "dense")
    assert all(isinstance(codec, BloscCodec) for codec in found.values())
    shuffles = [found[n].to_dict()["configuration"]["shuffle"] for n in ("FLAG", "WEIGHT", "UVW")]
    assert shuffles == ["bitshuffle", "shuffle", "shuffle"]
    figures = {
        a["name"]: a for a in gangsaw.ok("info", tmp_path / "a.zarr", "--json").figures["arrays"]
    }
    assert figures["VISIBILITY"]["codec"] == "gangsaw.visibility"
    assert set(figures) >= {"VISIBILITY", "FLAG", "WEIGHT", "UVW"}


def test_plain_xarray_reads_the_store(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.uvh5")
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    with xr.open_zarr(tmp_path / "a.zarr", chunks=None) as store, h5py.File(source) as file:
        assert store["VISIBILITY"].dims == ("time", "baseline_id", "frequency", "polarization")
        one = store["VISIBILITY"].sel(frequency=1e8, polarization="XY").isel(time=3, baseline_id=2)
        assert same_bits(one.values, file["Data/visdata"][3 * 10 + 2, 0, 2])
        assert store["time"].values.tolist() == file["Header/time_array"][::10].tolist()
        pairs = zip(store["ANTENNA1"].values, store["ANTENNA2"].values, strict=True)
        assert list(pairs)[:5] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1)]
        assert store["UVW"].attrs["units"] == "m"


@pytest.mark.full
def test_workers_read_the_file_themselves(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.ms", times=8)
    chunks = ("--chunks", "time=2,baseline_id=4")
    gangsaw.ok("compress", source, tmp_path / "a.zarr", "--workers", 1, *chunks, "--quiet")
    gangsaw.ok("verify", tmp_path / "a.zarr", "--against", source, *HERE)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    ("name", "dims"),
    [
        ("VISIBILITY", ("time", "baseline_id", "frequency", "polarization")),  # of xradio
        ("DATA", ("row", "chan", "corr")),  # of dask-ms
    ],
)
def test_zarr_of_others(
    gangsaw: CommandLine, tmp_path: Path, name: str, dims: tuple[str, ...], zarr_format: int
) -> None:
    shape = (6, 5, 8, 2)[-len(dims) :]
    parts = {
        name: (dims, noise(shape, 1)),
        "FLAG": (dims, np.random.default_rng(1).random(shape) < 0.2),
        "WEIGHT": (dims, np.ones(shape, "f4")),
    }
    xr.Dataset(parts, {dims[-2]: np.arange(8.0)}, {"creator": "other"}).to_zarr(
        tmp_path / "a.zarr", zarr_format=zarr_format, consolidated=zarr_format == 2
    )
    gangsaw.ok("compress", tmp_path / "a.zarr", tmp_path / "b.zarr", *HERE)
    gangsaw.ok("verify", tmp_path / "b.zarr", "--against", tmp_path / "a.zarr", *HERE)
    group = zarr.open_group(tmp_path / "b.zarr", mode="r")
    found = {key: array.metadata.codecs for key, array in group.arrays()}
    axes = "".join({"time": "t", "frequency": "f", "chan": "f"}.get(dim, "b") for dim in dims)
    assert found[name][0].to_dict()["configuration"]["axes"] == axes
    assert isinstance(found["WEIGHT"][-1], BloscCodec)
    line = gangsaw("decompress", tmp_path / "b.zarr", tmp_path / "b.ms").failed(USAGE)
    assert "holds no template" in line
    gangsaw.ok("decompress", tmp_path / "b.zarr", tmp_path / "c.zarr")
    gangsaw.ok("verify", tmp_path / "b.zarr", "--against", tmp_path / "c.zarr", *HERE)


@pytest.mark.filterwarnings("ignore:The data type")  # Zarr v3 has no text of a fixed length
@pytest.mark.parametrize("kind", ["U4", "O", "T"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_coordinates_of_text_stay_coordinates(
    gangsaw: CommandLine, tmp_path: Path, zarr_format: int, kind: str
) -> None:
    """As xradio has them: polarizations, names of antennas, labels."""
    if kind == "T" and zarr_format == 2:
        pytest.skip("Zarr v2 holds text as objects")
    dims = ("time", "baseline_id", "frequency", "polarization")
    names = np.array(["m000", "m00\u00e9", "m010"]).astype(np.dtype(kind))
    before = xr.Dataset(
        {"VISIBILITY": (dims, noise((4, 3, 8, 2), 1))},
        {
            "polarization": np.array(["XX", "YY"]).astype(np.dtype(kind)),
            "baseline_antenna1_name": ("baseline_id", names),
            "scan_name": ((), "track"),
            "frequency": np.arange(8.0),
        },
    )
    before.to_zarr(tmp_path / "a.zarr", zarr_format=zarr_format, consolidated=False)
    gangsaw.ok("compress", tmp_path / "a.zarr", tmp_path / "b.zarr", *HERE)
    gangsaw.ok("verify", tmp_path / "b.zarr", "--against", tmp_path / "a.zarr", *HERE)
    gangsaw.ok("decompress", tmp_path / "b.zarr", tmp_path / "c.zarr")
    for name in ("b.zarr", "c.zarr"):
        with xr.open_zarr(tmp_path / name, consolidated=False) as found:
            xr.testing.assert_equal(found.compute(), before)
            assert found.VISIBILITY.sel(polarization="YY").shape == (4, 3, 8)


def test_tables_below_visibilities_are_kept(gangsaw: CommandLine, tmp_path: Path) -> None:
    """As xradio has them: groups of antennas and fields in that of the visibilities."""
    dims = ("time", "baseline_id", "frequency", "polarization")
    antennas = xr.Dataset(
        {
            "ANTENNA_POSITION": (
                ("antenna_name", "xyz"),
                np.random.default_rng(1).normal(size=(3, 3)),
            )
        },
        {"antenna_name": np.array(["m000", "m001", "m010"], np.dtypes.StringDType())},
        {"type": "antenna"},
    )
    tree = {
        "/": xr.Dataset({"VISIBILITY": (dims, noise((4, 3, 8, 2), 1))}),
        "/antenna_xds": antennas,
    }
    xr.DataTree.from_dict(tree).to_zarr(tmp_path / "a.zarr", zarr_format=3, consolidated=False)
    gangsaw.ok("compress", tmp_path / "a.zarr", tmp_path / "b.zarr", *HERE)
    gangsaw.ok("verify", tmp_path / "b.zarr", "--against", tmp_path / "a.zarr", *HERE)
    with xr.open_datatree(tmp_path / "b.zarr", engine="zarr", chunks=None) as found:
        xr.testing.assert_identical(found["antenna_xds"].to_dataset().compute(), antennas)
        assert same_bits(found["VISIBILITY"].values, tree["/"]["VISIBILITY"].values)
    stored = next((tmp_path / "b.zarr/antenna_xds/ANTENNA_POSITION/c").rglob("0"))
    stored = stored if stored.is_file() else next(p for p in stored.rglob("*") if p.is_file())
    stored.write_bytes(b"damaged")
    assert gangsaw("verify", tmp_path / "b.zarr", *HERE).code == 1
    gangsaw.ok(
        "compress", tmp_path / "a.zarr", tmp_path / "c.zarr", "--variable", "VISIBILITY", *HERE
    )
    with xr.open_datatree(tmp_path / "c.zarr", engine="zarr", chunks=None) as found:
        assert list(found["/"].data_vars) == ["VISIBILITY"]
        assert not found.children


def refusal(gangsaw: CommandLine, source: Path, *options: object) -> str:
    """Return the one line that a compression fails with; nothing is left behind."""
    target = source.with_name("refused.zarr")
    line = gangsaw("compress", source, target, *options, *HERE).failed(USAGE)
    assert not target.exists()
    return line


def test_folders_of_no_format(gangsaw: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "no Zarr array or group there" in refusal(gangsaw, tmp_path / "empty")
    (tmp_path / "a.ms").mkdir()
    (tmp_path / "a.ms/table.dat").write_bytes(b"no table")
    assert "a.ms cannot be read: " in refusal(gangsaw, tmp_path / "a.ms")
    source = write(tmp_path / "b.ms")
    line = refusal(gangsaw, source / "ANTENNA")
    assert "ANTENNA is no MeasurementSet: its table has no ANTENNA1" in line
    (source / "table.f1").unlink()
    assert "b.ms cannot be read: " in refusal(gangsaw, source)


@pytest.mark.parametrize("part", [0.05, 0.5, 0.99])
def test_truncated_uvh5(gangsaw: CommandLine, tmp_path: Path, part: float) -> None:
    source = write(tmp_path / "a.uvh5")
    data = source.read_bytes()
    source.write_bytes(data[: int(part * len(data))])
    line = refusal(gangsaw, source)
    assert "a.uvh5 cannot be read: " in line
    assert "truncated" in line


def test_uvh5_without_antennas(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.uvh5")
    with h5py.File(source, "r+") as file:
        del file["Header/ant_1_array"]
    assert "a.uvh5 cannot be read: " in refusal(gangsaw, source)


def test_fits_that_is_an_image(gangsaw: CommandLine, tmp_path: Path) -> None:
    from astropy.io import fits

    fits.PrimaryHDU(np.zeros((4, 4), "f4")).writeto(tmp_path / "a.fits")
    assert "is FITS but not uvfits" in refusal(gangsaw, tmp_path / "a.fits")
    source = write(tmp_path / "a.uvfits")
    source.write_bytes(source.read_bytes()[:9000])
    assert "a.uvfits is truncated: " in refusal(gangsaw, source)


@pytest.mark.parametrize(
    ("name", "modules"),
    [("a.ms", ["casacore", "casacore.tables"]), ("a.uvfits", ["pyuvdata", "astropy.io"])],
)
def test_the_missing_extra_is_named(
    gangsaw: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    modules: Sequence[str],
) -> None:
    source = write(tmp_path / name)
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    assert 'is missing: pip install "gangsaw[radio]"' in refusal(gangsaw, source)


def test_hdf5_needs_no_extra(
    gangsaw: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "a.uvh5")
    for module in ("pyuvdata", "casacore", "casacore.tables", "astropy", "hdf5plugin"):
        monkeypatch.setitem(sys.modules, module, None)
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.uvh5")
    line = gangsaw("decompress", tmp_path / "a.zarr", tmp_path / "b.ms").failed(USAGE)
    assert 'is missing: pip install "gangsaw[radio]"' in line


def test_options_that_do_not_fit(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.uvh5")
    assert "effort must be one of fast, dense" in refusal(gangsaw, source, "--effort", "best")
    assert "no variable 'DATA'; there are: " in refusal(gangsaw, source, "--variable", "DATA")
    line = refusal(gangsaw, source, "--bit-depth", "auto")
    assert "no array has --bit-depth, an option of gangsaw.ccsds123: " in line
    assert "VISIBILITY (complex64) goes to gangsaw.visibility" in line
    assert "has no axis 'chan'" in refusal(gangsaw, source, "--chunks", "chan=4")


def test_a_folder_in_the_way(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "a.ms")
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    (tmp_path / "mine.ms").mkdir()
    (tmp_path / "mine.ms/work.txt").write_text("dear")
    for options in ((), ("--overwrite",)):
        line = gangsaw("decompress", tmp_path / "a.zarr", tmp_path / "mine.ms", *options).failed(2)
        assert "mine.ms exists: give another name" in line
    assert (tmp_path / "mine.ms/work.txt").read_text() == "dear"
    assert "--overwrite to replace it" in gangsaw("decompress", tmp_path / "a.zarr", source).failed(
        2
    )
    gangsaw.ok("decompress", tmp_path / "a.zarr", source, "--overwrite")
    gangsaw.ok("verify", tmp_path / "a.zarr", "--against", source, *HERE)
    assert {path.name for path in tmp_path.iterdir()} == {"a.ms", "a.zarr", "mine.ms"}


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("suffix", ["ms", "uvh5"])
@pytest.mark.parametrize("part", [slice(0, 2000), slice(3000, 9000), slice(None)])
def test_a_damaged_template(gangsaw: CommandLine, tmp_path: Path, suffix: str, part: slice) -> None:
    source, target = write(tmp_path / f"a.{suffix}"), tmp_path / f"b.{suffix}"
    gangsaw.ok("compress", source, tmp_path / "a.zarr", *HERE)
    template = zarr.open_array(tmp_path / "a.zarr/template", mode="r+")
    template[part] = 7
    assert "the template is damaged" in gangsaw("decompress", tmp_path / "a.zarr", target).failed(1)
    assert not target.exists()


def test_a_template_of_other_rows(gangsaw: CommandLine, tmp_path: Path) -> None:
    gangsaw.ok("compress", write(tmp_path / "a.uvh5"), tmp_path / "a.zarr", *HERE)
    own, root = (tmp_path / "a.zarr" / name for name in ("template/zarr.json", "zarr.json"))
    array, group = json.loads(own.read_text()), json.loads(root.read_text())
    array["attributes"]["rows"]["shape"] = [10**9, 10]
    group["consolidated_metadata"]["metadata"]["template"] = array
    own.write_text(json.dumps(array))
    root.write_text(json.dumps(group))
    line = gangsaw("decompress", tmp_path / "a.zarr", tmp_path / "b.uvh5").failed(1)
    assert "the template has rows of (1000000000, 10)" in line


@pytest.mark.full
def test_the_template_is_the_same_each_time(gangsaw: CommandLine, tmp_path: Path) -> None:
    for source in (write(tmp_path / "a.uvh5"), write(tmp_path / "a.ms")):
        found = []
        for name in ("b.zarr", "c.zarr"):
            gangsaw.ok("compress", source, tmp_path / name, *HERE, "--overwrite")
            found.append(zarr.open_array(tmp_path / name / "template", mode="r")[...])
        assert np.array_equal(*found)
