"""Damaged samples of every library: one line of ours that names file and variable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import rasterio
import zarr
from helpers.radio_files import write as write_radio

import gangsaw
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.engine.report.failure import ChunkFailed, name_failed_chunk
from gangsaw.tasks.formats.contract.opening import open_source
from gangsaw.tasks.sources.library_errors import convert_errors_of_pieces, convert_library_errors

NOISE = b"\xff" * 16


def _overwrite(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(NOISE)


def _geotiff(folder: Path) -> tuple[Path, str]:
    path = folder / "a.tif"
    samples = np.random.default_rng(1).integers(0, 99, (1, 64, 64), dtype="u2")
    shape = {"count": 1, "height": 64, "width": 64, "dtype": "uint16"}
    place = rasterio.Affine(10, 0, 5e5, 0, -10, 4e6)
    with rasterio.open(
        path, "w", driver="GTiff", compress="deflate", crs="EPSG:32633", transform=place, **shape
    ) as file:
        file.write(samples)
    with rasterio.open(path) as file:
        at = int(file.get_tag_item("BLOCK_OFFSET_0_0", "TIFF", bidx=1))
    _overwrite(path, at)
    return path, "data"


def _hdf5(folder: Path) -> tuple[Path, str]:
    path = folder / "a.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("cube", data=np.arange(4096), chunks=True, compression="gzip")
        chunk = data.id.get_chunk_info(0)
    _overwrite(path, chunk.byte_offset)
    return path, "cube"


def _items(folder: Path) -> tuple[Path, str]:
    path = folder / "a.h5"
    with h5py.File(path, "w") as file:
        pairs = np.zeros(4096, [("a", "i4"), ("b", "f8")])
        data = file.create_dataset("table", data=pairs, chunks=True, compression="gzip")
        chunk = data.id.get_chunk_info(0)
    _overwrite(path, chunk.byte_offset)
    return path, "table"


def _uvh5(folder: Path) -> tuple[Path, str]:
    path = folder / "a.uvh5"
    write_radio(path)
    with h5py.File(path, "a") as file:
        values = np.asarray(file["Data/visdata"])
        del file["Data/visdata"]
        data = file.create_dataset("Data/visdata", data=values, chunks=True, compression="gzip")
        chunk = data.id.get_chunk_info(0)
    _overwrite(path, chunk.byte_offset)
    return path, "VISIBILITY"


def _zarr(version: int) -> Callable[[Path], tuple[Path, str]]:
    def write(folder: Path) -> tuple[Path, str]:
        path = folder / "a.zarr"
        group = zarr.create_group(path, zarr_format=version)  # type: ignore[arg-type]
        group.create_array("cube", data=np.arange(4096).reshape(64, 64))
        chunk = next(p for p in path.rglob("*") if p.is_file() and p.name[0].isdigit())
        chunk.write_bytes(NOISE)
        return path, "cube"

    return write


DAMAGED: dict[str, Callable[[Path], tuple[Path, str]]] = {
    "rasterio": _geotiff,
    "xarray": _hdf5,
    "h5py": _items,
    "uvh5": _uvh5,
    "zarr 2": _zarr(2),
    "zarr 3": _zarr(3),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_samples_are_told_in_one_line(kind: str, tmp_path: Path) -> None:
    path, name = DAMAGED[kind](tmp_path)
    (array,) = (array for array in open_source(str(path)).arrays if array.name == name)
    with pytest.raises(CorruptChunk) as told:
        array.read(tuple(slice(0, n) for n in array.shape))
    line = str(told.value)
    assert str(path) in line
    assert name in line
    assert "\n" not in line


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_job_says_the_same(kind: str, tmp_path: Path) -> None:
    path, name = DAMAGED[kind](tmp_path)
    with pytest.raises((JobFailed, CorruptChunk), match=f"{path}.*{name}"):
        gangsaw.compress(path, tmp_path / "out.zarr")


def test_verify_tells_damage_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("cube", data=np.arange(4096), chunks=True, compression="gzip")
        chunk = data.id.get_chunk_info(0)
    gangsaw.compress(path, tmp_path / "a.zarr")
    _overwrite(path, chunk.byte_offset)
    with pytest.raises(JobFailed, match=f"{path}.*cube cannot be read"):
        gangsaw.verify(tmp_path / "a.zarr", against=path)


def test_errors_of_the_machine_stay_what_they_are() -> None:
    """The engine tries again after them, and not after damage."""
    for error in (ConnectionError("gone"), OSError(5, "Input/output error"), MemoryError()):
        with pytest.raises(type(error)), convert_library_errors("a.nc", "x"):
            raise error
    with (
        pytest.raises(ChunkFailed) as passing,
        name_failed_chunk("c"),
        convert_library_errors("a.nc", "x"),
    ):
        raise TimeoutError
    assert passing.value.passing
    with (
        pytest.raises(ChunkFailed) as final,
        name_failed_chunk("c"),
        convert_library_errors("a.nc", "x"),
    ):
        raise OSError("filter returned failure")
    assert not final.value.passing


def test_errors_of_networks_stay_what_they_are() -> None:
    class ClientError(Exception):
        pass

    with pytest.raises(ClientError), convert_library_errors("s3://bucket/a.zarr", "x"):
        raise ClientError
    with (
        pytest.raises(CorruptChunk, match="x cannot be read"),
        convert_library_errors("s3://bucket/a.zarr", "x"),
    ):
        raise RuntimeError("decompression failed")


def test_our_errors_are_told_where_they_are_once() -> None:
    with pytest.raises(CorruptChunk, match=r"^store a\.nc: x, block 3: its sum$"):  # noqa: SIM117
        with convert_library_errors("a.nc", "x"), convert_library_errors("a.nc", "x"):
            raise CorruptChunk("its sum", block=3)
    with pytest.raises(BadParams, match=r"^as it is$"), convert_library_errors("a.nc", "x"):
        raise BadParams("as it is")


def test_pieces_of_a_stream_pass_the_border() -> None:
    def pieces() -> object:
        yield 1
        raise OSError("truncated file")

    read = convert_errors_of_pieces("a.bam", pieces())  # type: ignore[var-annotated, arg-type]
    assert next(read) == 1
    with pytest.raises(CorruptChunk, match=r"a\.bam cannot be read: truncated file"):
        next(read)


def test_miriad_that_ends_too_early_ends_no_process(tmp_path: Path) -> None:
    """Its library would end this one."""
    path = tmp_path / "a.uv"
    write_radio(path)
    data = path / "visdata"
    data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])
    with pytest.raises(BadParams, match=r"a\.uv cannot be read: .*End of file"):
        gangsaw.compress(path, tmp_path / "out.zarr")
