"""Big-endian samples come back as such, or the change is told."""

from __future__ import annotations

from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import zarr
from zarr.codecs import BytesCodec

import gangsaw

KINDS = [">u2", ">i4", ">f4", ">f8", "<f8", "<u2"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".h5", ".nc"])
def test_hdf5_keeps_the_byte_order(tmp_path: Path, kind: str, suffix: str) -> None:
    path, store, copy = tmp_path / f"a{suffix}", tmp_path / "s.zarr", tmp_path / f"c{suffix}"
    image = np.arange(60_000).reshape(300, 200).astype(kind)
    if suffix == ".nc":
        with netCDF4.Dataset(path, "w") as file:
            for name, n in (("y", 300), ("x", 200)):
                file.createDimension(name, n)
            endian = "big" if kind[0] == ">" else "little"
            file.createVariable("image", kind, ("y", "x"), endian=endian, fill_value=9)[:] = image
            file.createVariable("x", kind, ("x",), endian=endian)[:] = image[0]
    else:
        with h5py.File(path, "w") as file:
            file["image"], file["x"] = image, image[0]
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    assert gangsaw.decompress(store, copy) == ()
    with h5py.File(path) as had, h5py.File(copy) as found:
        for name in ("image", "x"):
            assert found[name].dtype.str == had[name].dtype.str == kind
            np.testing.assert_array_equal(found[name][...], had[name][...])
            assert "gangsaw_byte_order" not in found[name].attrs
            assert found[name].attrs.get("_FillValue") == had[name].attrs.get("_FillValue")
    assert gangsaw.verify(store, against=copy).ok


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_tells_the_change(tmp_path: Path, zarr_format: int) -> None:
    path, store = tmp_path / "a.zarr", tmp_path / "s.zarr"
    group = zarr.create_group(path, zarr_format=zarr_format)  # type: ignore[arg-type]
    image = np.arange(60_000, dtype=">u2").reshape(300, 200)
    if zarr_format == 2:
        made = group.create_array("image", shape=image.shape, dtype=">u2")
    else:
        big = BytesCodec(endian="big")
        made = group.create_array("image", shape=image.shape, dtype="u2", serializer=big)
    made[...] = image
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    (line,) = gangsaw.decompress(store, tmp_path / "c.zarr")
    assert line == "the byte order of image, which becomes little-endian"
    assert "gangsaw_byte_order" not in zarr.open_group(tmp_path / "c.zarr")["image"].attrs
    assert gangsaw.decompress(store, tmp_path / "c.h5") == ()
    with h5py.File(tmp_path / "c.h5") as file:
        assert file["image"].dtype.str == ">u2"
        np.testing.assert_array_equal(file["image"][...], image)


FIELDS = np.dtype([("x", ">f8"), ("n", "<i2"), ("inner", [("z", ">c8")])])
FLAT = np.dtype([("x", ">f8"), ("n", "<i2")])


@pytest.mark.parametrize("kind", [">f2", "<f2", ">c8", ">c16", "<c8", FIELDS])
def test_hdf5_keeps_the_byte_order_of_other_numbers(tmp_path: Path, kind: object) -> None:
    path, store, copy = tmp_path / "a.h5", tmp_path / "s.zarr", tmp_path / "c.h5"
    dtype: np.dtype[np.generic] = np.dtype(kind)  # type: ignore[call-overload]
    items = np.frombuffer(bytes(range(dtype.itemsize)) * 3000, dtype).reshape(60, 50)
    with h5py.File(path, "w") as file:
        file["image"] = items
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    assert gangsaw.decompress(store, copy) == ()
    with h5py.File(copy) as found:
        assert found["image"].dtype == dtype
        assert found["image"][...].tobytes() == items.tobytes()
        assert not found["image"].attrs


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")  # of records
@pytest.mark.parametrize("kind", [">f2", ">c8", FLAT])
def test_zarr_2_keeps_it_through_hdf5_and_to_zarr_3_the_change_is_told(
    tmp_path: Path, kind: object
) -> None:
    store, dtype = tmp_path / "s.zarr", np.dtype(kind)  # type: ignore[call-overload]
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=2)
    made = group.create_array("image", shape=(4,), dtype=dtype, chunks=(4,))
    made[...] = np.ones(4, dtype)
    gangsaw.compress(tmp_path / "a.zarr", store)
    gangsaw.decompress(store, tmp_path / "c.h5")
    with h5py.File(tmp_path / "c.h5") as found:
        assert found["image"].dtype == dtype
        np.testing.assert_array_equal(found["image"][...], np.ones(4, dtype))
    (line,) = gangsaw.decompress(store, tmp_path / "c.zarr")
    assert line == "the byte order of image, which becomes little-endian"
