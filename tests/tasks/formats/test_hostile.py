"""Small files whose headers claim large arrays: refused in a line, or opened without the memory.

Each is opened in a separate process that may take one more gigabyte of addresses, so that a claim
which is believed fails there and does no harm. These are forks of one, which imports for all.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import h5netcdf
import h5py
import numpy as np
import pytest
import zarr
from helpers import limited_opening
from helpers.envi_files import cube, write_envi
from helpers.limited_opening import opened
from scipy.io import netcdf_file

import gangsaw
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.engine.scheduling.memory import check_memory, describe_this_process
from gangsaw.tasks.formats.contract.opening import SourceOptions, open_source
from gangsaw.tasks.formats.envi.source import open_envi
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.choice.choose import choose_layout
from gangsaw.tasks.store.arrays.chunks import MOST_CHUNKS, ChunkGrid
from gangsaw.tasks.store.arrays.layout import check_source_overlaps
from gangsaw.tasks.store.dataset.variables import MOST_WHOLE
from gangsaw.tasks.store.source import ZarrArray

HUGE = 10**11  # values, of 8 bytes 745 GiB
UTM = "map info = {UTM, 1, 1, 5e5, 4e6, 15, 15, 33, North, WGS-84}\n"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs limits as Linux has them")


@pytest.fixture(scope="module", autouse=True)
def opener() -> Iterator[None]:
    """The process whose forks open files, while tests of this module run."""
    with limited_opening.running():
        yield


def refused(path: Path) -> str:
    """Return the one line that the file is refused with."""
    line = str(opened(path)["error"])
    assert path.stem in line
    assert "\n" not in line
    return line


def envi(path: Path, **changed: object) -> Path:
    """Write an ENVI image whose header says something else than its data file."""
    write_envi(path, cube(), metadata=UTM)
    lines = path.read_text().splitlines()
    for name, value in changed.items():
        lines = [f"{name} = {value}" if line.startswith(name) else line for line in lines]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("axis", ["samples", "lines", "bands"])
def test_envi_sizes_before_coordinates(tmp_path: Path, axis: str) -> None:
    line = refused(envi(tmp_path / "a.hdr", **{axis: 2147483648}))
    assert "is truncated" in line
    assert "2147483648" in line


@pytest.mark.parametrize("value", ["1e400", "-5", "NaN", "0", "9" * 5000])
def test_envi_sizes_that_are_none(tmp_path: Path, value: str) -> None:
    with pytest.raises(BadParams, match="'samples' must be a whole number from 1"):
        open_envi(str(envi(tmp_path / "a.hdr", samples=value)))


def test_envi_lines_longer_than_a_coordinate_may_be(tmp_path: Path) -> None:
    header = envi(tmp_path / "a.hdr", samples=2**33, lines=1, bands=1)
    with header.with_suffix(".img").open("r+b") as data:
        data.truncate(2**34)  # sparse
    found = opened(header)
    assert found["arrays"] == {"data": [1, 1, 2**33]}
    assert found["coords"] == ["spatial_ref"]  # whose transform gives them


@pytest.mark.parametrize("wrong", ["1e400", "nan", "-inf", "1e200"])
def test_envi_map_of_no_place(tmp_path: Path, wrong: str) -> None:
    metadata = UTM.replace("5e5", wrong)
    source = open_envi(str(write_envi(tmp_path / "a.hdr", cube(), metadata=metadata)))
    assert source.coords == ()
    assert wrong in json.loads(source.arrays[0].attrs["envi"])["map info"]


@pytest.mark.parametrize(
    "values", ["1, 2", "1, 2, 3, 4, 5, 6", "1, 2, 3, 4, 1e400", "1, 2, 3, 4, x", ", , , ,"]
)
def test_envi_lists_that_are_no_numbers_of_bands_stay_text(tmp_path: Path, values: str) -> None:
    metadata = f"wavelength = {{{values}}}\n"
    source = open_envi(str(write_envi(tmp_path / "a.hdr", cube(), metadata=metadata)))
    assert source.coords == ()
    kept = json.loads(source.arrays[0].attrs["envi"])["wavelength"]
    assert [text.strip() for text in kept] == [text.strip() for text in values.split(",")]


@pytest.mark.parametrize("value", [str(2**64), str(2**70), "nan", "inf"])
def test_envi_lists_of_odd_numbers_are_floats(tmp_path: Path, value: str) -> None:
    metadata = f"wavelength = {{1, 2, 3, 4, {value}}}\n"
    (found,) = open_envi(str(write_envi(tmp_path / "a.hdr", cube(), metadata=metadata))).coords
    assert found.values.dtype == np.float64
    assert np.array_equal(found.values[4], float(value), equal_nan=True)


def test_hdf5_coordinates_go_chunk_by_chunk(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"y": 8, "x": HUGE}
        file.create_variable("image", ("y", "x"), "u2", chunks=(8, 1000))
        # a coordinate of its own dimension, of which xarray would build an index
        file.create_variable("x", ("x",), "f8", chunks=(1000,))
    found = opened(path)
    assert found["arrays"] == {"image": [8, HUGE], "x": [HUGE]}
    assert "x" not in found["coords"]


def test_hdf5_many_small_coordinates(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("image", (8, 8), "u2")
        for i in range(100):
            file.create_dataset(f"x{i:02}", (2 << 20,), "f8", chunks=(1 << 20,))
    found = opened(tmp_path / "a.h5")
    assert found["bytes"] <= MOST_WHOLE
    assert len(found["arrays"]) + len(found["coords"]) == 101


def test_hdf5_small_coordinate_in_a_huge_chunk(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("image", (8, 8), "u2")
        x = file.create_dataset("x", (10,), "f8", chunks=(2**28,), maxshape=(None,))
        assert x.chunks == (2**28,)
    assert set(opened(tmp_path / "a.h5")["arrays"]) == {"image", "x"}


@pytest.mark.parametrize("size", [1, 1000])
def test_hdf5_texts_of_one_size_go_chunk_by_chunk(tmp_path: Path, size: int) -> None:
    path, n = tmp_path / "texts.h5", 1 << 24
    with h5py.File(path, "w") as file:
        file.create_dataset("image", (4, 4), "u2")
        file.create_dataset("texts", (n,), f"S{size}", chunks=(1 << 10,))
    assert opened(path)["arrays"] == {"image": [4, 4], "texts": [n, size]}


def test_hdf5_texts_that_were_never_written(tmp_path: Path) -> None:
    path, n, dtype = tmp_path / "texts.h5", 1 << 30, h5py.string_dtype()
    with h5py.File(path, "w") as file:
        file.create_dataset("image", (4, 4), "u2")
        file.create_dataset("texts", (n,), dtype, chunks=(1 << 10,))
    assert opened(path)["arrays"] == {"image": [4, 4], "texts": [n]}
    (texts,) = open_source(str(path), SourceOptions(variables=("texts",))).arrays
    layout = choose_layout(texts, "auto", None)
    assert layout.peak_bytes(texts) < 1 << 30
    image = open_source(str(path), SourceOptions(variables=("image",)))
    assert [array.name for array in image.arrays] == ["image"]
    assert image.arrays[0].read((slice(0, 4), slice(0, 4))).shape == (4, 4)


def test_hdf5_bytes_of_any_length_are_not_copied_without_end(tmp_path: Path) -> None:
    path, n, dtype = tmp_path / "items.h5", 1 << 21, h5py.string_dtype("ascii")
    with h5py.File(path, "w") as file:
        file.create_dataset("image", (4, 4), "u2")
        file.create_dataset("items", (n,), dtype, chunks=(1 << 10,))[n // 2] = b"\xff no text"
    assert f"items holds {n} items of any length, which are copied whole" in refused(path)
    with pytest.raises(BadParams, match="items of any length, which are copied whole"):
        open_source(str(path), SourceOptions(variables=("items",)))


def test_hdf5_few_texts_are_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("image", (4, 4), "u2")
        file.create_dataset("names", data=["a", "b"], dtype=h5py.string_dtype())
    found = opened(path)
    assert (set(found["arrays"]), found["coords"]) == ({"image"}, ["names"])


def test_netcdf_3_offset_beyond_any_file(tmp_path: Path) -> None:
    pytest.importorskip("netCDF4")
    path = tmp_path / "a.nc"
    with netcdf_file(path, "w", version=2) as file:
        file.createDimension("x", 30)
        file.createDimension("y", 1)
        file.createVariable("image", "i2", ("y", "x"))[:] = 1
    start = path.stat().st_size - 60
    header = path.read_bytes().replace(struct.pack(">q", start), struct.pack(">q", 1 << 60))
    path.write_bytes(header)
    with pytest.raises(BadParams, match=r"a\.nc: image cannot be read: Invalid argument"):
        open_source(str(path))


def test_geotiff_wider_than_a_coordinate_may_be(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    pytest.importorskip("rioxarray")
    shape = {"width": 2**31 - 1, "height": 1, "count": 1, "dtype": "uint8"}
    place = rasterio.Affine(15, 0, 5e5, 0, -15, 4e6)
    with rasterio.open(
        tmp_path / "a.tif", "w", driver="GTiff", SPARSE_OK=True, transform=place, **shape
    ):
        pass
    found = opened(tmp_path / "a.tif")
    assert found["arrays"] == {"data": [1, 1, 2**31 - 1]}
    assert "spatial_ref" in found["coords"]


def zarr_group(path: Path, **shapes: tuple[int, ...]) -> Path:
    """Write metadata of arrays without any chunk."""
    group = zarr.open_group(path, mode="w")
    for name, shape in shapes.items():
        group.create_array(name, shape=shape, chunks=shape, dtype="f8")
    return path


def test_zarr_coordinate_goes_chunk_by_chunk(tmp_path: Path) -> None:
    found = opened(zarr_group(tmp_path / "a.zarr", image=(8, 8), x=(HUGE,)))
    assert found["arrays"] == {"image": [8, 8], "x": [HUGE]}


def test_zarr_groups_below_count_together(tmp_path: Path) -> None:
    path = zarr_group(tmp_path / "a.zarr", image=(8, 8))
    for i in range(40):
        zarr_group(path / f"below{i:02}", table=(2 << 20,))
    found = opened(path)
    whole = [name for name in found["coords"] if name.startswith("below")]
    assert (len(whole), len(found["arrays"])) == (16, 1 + 24)  # 256 MiB, and what goes by chunks


@pytest.mark.parametrize(
    ("old", "new"),
    [("[8,9]", "[-8,9]"), ("[8,9]", "[1e400,9]"), ("[8,9]", '["x",9]'), ("[4,3]", "[0,3]")],
)
def test_zarr_shapes_that_are_none(tmp_path: Path, old: str, new: str) -> None:
    zarr.create_array(tmp_path / "a.zarr", shape=(8, 9), chunks=(4, 3), dtype="u2")
    metadata = tmp_path / "a.zarr" / "zarr.json"
    plain = json.dumps(json.loads(metadata.read_text()), separators=(",", ":"))
    assert old in plain
    metadata.write_text(plain.replace(old, new))
    if "0,3" in new and find_spec("zarr.core.metadata.repair"):  # zarr 3.4 reads it, and says how
        with pytest.warns(UserWarning, match=r"chunk shape \[0, 3\] is invalid"):
            (array,) = open_source(str(tmp_path / "a.zarr")).arrays
        assert array.chunks == (1, 3)
        return
    with pytest.raises(CorruptChunk, match=r"a.zarr.*: the metadata is damaged: "):
        open_source(str(tmp_path / "a.zarr"))


def kat(file: h5py.File) -> None:
    """Make the data set by which KAT files are known."""
    file.create_dataset("Data/correlator_data", (8, 16, 6, 2), "f4")


def uvh5(file: h5py.File) -> None:
    """Make all that a uvh5 file of eight rows needs to be opened."""
    file["Data/visdata"] = np.zeros((8, 16, 4), "c8")
    file["Header/time_array"] = np.arange(8.0)
    file["Header/ant_1_array"] = file["Header/ant_2_array"] = np.zeros(8, "i4")
    file["Header/freq_array"], file["Header/polarization_array"] = np.arange(16.0), np.arange(4)


@pytest.mark.parametrize(
    ("write", "item"),
    [
        (uvh5, "Header/time_array"),
        (uvh5, "Header/ant_1_array"),
        (uvh5, "Header/freq_array"),
        (uvh5, "Header/polarization_array"),
    ],
)
def test_radio_hdf5_that_was_never_written(
    tmp_path: Path, write: Callable[[h5py.File], None], item: str
) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        write(file)
        file.pop(item, None)
        file.create_dataset(item, (HUGE,), "f8", chunks=(1000,))
    line = refused(tmp_path / "a.h5")
    assert f"{item} claims 100,000,000,000 values" in line
    assert "copy it again" in line


def test_what_was_never_written_beside_visibilities_stays_unwritten(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        kat(file)
        file.create_dataset("Data/timestamps", (HUGE,), "f8", chunks=(1000,))
    found = opened(tmp_path / "a.h5")
    assert found["coords"] == ["template"]
    assert found["bytes"] < 1 << 16


def test_chunks_that_no_job_can_list() -> None:
    ChunkGrid((MOST_CHUNKS, 5), (1, 5)).check_count("a")
    line = "a: 16777217 x 5 samples are 16,777,217 chunks of 1 x 5, more than the 16,777,216 that"
    with pytest.raises(BadParams, match=line):
        ChunkGrid((MOST_CHUNKS + 1, 5), (1, 5)).check_count("a")


@pytest.mark.parametrize(
    ("n", "chunk", "wanted", "says"),
    [
        (1 << 50, 1, None, "data claims 1125899906842624 samples of uint8"),
        (1 << 25, 1, None, "data: 33554432 samples are 33,554,432 chunks of 1,"),
        (1 << 25, 1 << 20, (1,), "data: 33554432 samples are 33,554,432 chunks of 1,"),
    ],
)
@pytest.mark.parametrize("codec", ["auto", "none"])
def test_sizes_come_before_samples(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    n: int,
    chunk: int,
    wanted: tuple[int, ...] | None,
    says: str,
    codec: str,
) -> None:
    """A sample of a sparse store of chunks of a byte takes minutes and gigabytes."""

    def read(*_: object) -> None:
        raise AssertionError("was read")

    monkeypatch.setattr(ZarrArray, "read", read)
    zarr.create_array(tmp_path / "a.zarr", shape=(n,), chunks=(chunk,), dtype="u1")
    with pytest.raises(BadParams) as refused:
        gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", codec=codec, chunks=wanted)
    assert says in str(refused.value)
    assert not (tmp_path / "b.zarr").exists()


def test_a_chunk_that_is_read_from_too_many(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a.zarr", shape=(1 << 24,), chunks=(1,), dtype="u1")
    with pytest.raises(BadParams, match=r"data: a chunk of .* from 16,777,216 chunks of 1,"):
        gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", codec="none")
    check_source_overlaps(MemoryArray(np.zeros(1 << 18), ("x",), chunks=(1,)), (1 << 18,))


def test_a_task_larger_than_the_machine() -> None:
    check_memory(1 << 20, [describe_this_process()])
    with pytest.raises(BadParams, match="use smaller chunks"):
        check_memory(1 << 60, [describe_this_process()])
