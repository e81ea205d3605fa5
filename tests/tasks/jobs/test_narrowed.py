"""Jobs with integers of 64 bits and `--codec ccsds123`: narrowed, checked chunk by chunk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from zarr.codecs import BloscCodec

import gangsaw as package
from gangsaw.codecs.core.errors import BadParams, JobFailed

DIMS = ("y", "x", "band")


def counts(shape: tuple[int, ...]) -> Any:
    """Smooth counts of 64 bits, some of them negative, which fit in 32."""
    y, x, band = np.indices(shape)
    grain = np.random.default_rng(8).integers(0, 30, shape)
    return (y - 300) * 1000 + x * 7 + band * 50 + grain


def dataset(values: Any, **encoding: Any) -> xr.Dataset:
    array = xr.DataArray(values, dims=DIMS)
    array.encoding.update(encoding)
    return xr.Dataset({"counts": array})


def test_a_realistic_image(tmp_path: Path) -> None:
    values = counts((2000, 2000, 3))
    target, chunks = tmp_path / "a.zarr", (500, 1000, 3)
    summary = package.compress(dataset(values), target, codec="ccsds123", chunks=chunks)
    assert summary.chunks == 8
    assert summary.ratio > 6
    stored = zarr.open_array(target, path="counts", mode="r")
    assert stored.dtype == np.int64
    assert str(stored.metadata.to_dict()["codecs"]).count("'name'") == 1
    np.testing.assert_array_equal(stored[...], values)
    np.testing.assert_array_equal(stored[1100:1130, 7:9, 1], values[1100:1130, 7:9, 1])
    opened = package.open(target)["counts"]
    assert opened.dtype == np.int64
    window = opened[990:1010, 990:1010].values
    np.testing.assert_array_equal(window, values[990:1010, 990:1010])
    assert package.verify(target).chunks == 8
    package.decompress(target, tmp_path / "b.zarr")
    np.testing.assert_array_equal(xr.open_zarr(tmp_path / "b.zarr")["counts"].values, values)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.zarr"
    dataset(counts((60, 40, 3))).to_zarr(path, zarr_format=3, consolidated=False)
    return path


def test_the_commands(gangsaw: CommandLine, tmp_path: Path, source: Path) -> None:
    target = tmp_path / "a.zarr"
    command = ("compress", source, target, "--codec", "ccsds123", "--workers", 0)
    plan = gangsaw.ok(*command, "--dry-run", "--json").out
    assert "gangsaw.ccsds123" in plan
    assert not target.exists()
    gangsaw.ok(*command, "--bit-depth", "auto", "--quiet")
    told = gangsaw.ok("info", target).out
    assert "int64" in told
    assert "gangsaw.ccsds123" in told
    gangsaw.ok("verify", target, "--against", source, "--workers", 0, "--quiet")


def test_the_job_fails_at_the_chunk_that_does_not_fit(tmp_path: Path) -> None:
    values, target = counts((60, 40, 3)), tmp_path / "a.zarr"
    values[47, 33, 2] = -(1 << 31) - 1
    chunks = {"y": 10, "x": 20}
    with pytest.raises(JobFailed) as raised:
        package.compress(dataset(values), target, codec="ccsds123", chunks=chunks)
    line = str(raised.value)
    assert "counts/c/4/1/0" in line
    assert f"sample {-(1 << 31) - 1} does not fit in 32 bits" in line
    assert "--codec auto" in line
    assert not (target / "counts" / "c" / "4" / "1" / "0").exists()
    with pytest.raises(JobFailed, match="not finished"):
        package.verify(target)
    package.compress(dataset(values), target, overwrite=True)
    np.testing.assert_array_equal(package.open(target)["counts"].values, values)


@pytest.mark.parametrize("fill", [-(1 << 63), -9999])
def test_a_fill_value_pads_chunks_only_where_it_fits(tmp_path: Path, fill: int) -> None:
    values, target = counts((60, 40, 3)), tmp_path / "a.zarr"
    data = dataset(values, _FillValue=np.int64(fill))
    if fill < -(1 << 31):
        with pytest.raises(BadParams, match=rf"counts .* its fill value {fill}"):
            package.compress(data, target, codec="ccsds123", chunks={"y": 7})
        assert not target.exists()
    else:
        package.compress(data, target, codec="ccsds123", chunks={"y": 7})
        np.testing.assert_array_equal(zarr.open_array(target, path="counts")[...], values)
    package.compress(data, tmp_path / "b.zarr", codec="ccsds123", chunks={"y": 10})
    stored = zarr.open_array(tmp_path / "b.zarr", path="counts", mode="r")
    np.testing.assert_array_equal(stored[...], values)
    assert package.verify(tmp_path / "b.zarr").chunks == 6


def test_auto_tries_zarrs_own_codecs_and_says_so(tmp_path: Path) -> None:
    values = counts((200, 120, 3)) + (1 << 40)
    found = [package.compress(dataset(values), tmp_path / name) for name in ("a.zarr", "b.zarr")]
    codecs = [zarr.open_array(one.store, path="counts").compressors for one in found]
    assert codecs[0] == codecs[1]
    (codec,) = codecs[0]
    assert isinstance(codec, BloscCodec)
    assert codec.shuffle is not None
    assert getattr(codec.shuffle, "value", codec.shuffle) in ("shuffle", "bitshuffle")
    (note,) = found[0].notes
    assert note == "integers of 64 bits, stored by Zarr's own blosc: counts"
