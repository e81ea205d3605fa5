"""The toy codec over runs of bytes, its own distribution: any dtype and rank, nothing edited."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from numpy.typing import NDArray

from gangsaw import codecs, compress, decompress, info, verify
from gangsaw.codecs.core.errors import BadParams

NAME = "gangsaw.octets"


@pytest.fixture(autouse=True)
def _installed() -> None:
    try:
        version("gangsaw-octets")
    except PackageNotFoundError:
        pytest.skip("the toy codec is not installed: pip install -e tests/toy_octets")


def numbers(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    return (np.arange(np.prod(shape)) // 50 % 99).reshape(shape).astype(dtype)


ARRAYS = [
    numbers((7000,), "i8"),
    numbers((60, 70), ">f4"),
    numbers((9, 20, 30), "c16"),
    numbers((3, 4, 5, 6, 7), "u1") > 40,
    numbers((50, 50), "f2"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}-{a.ndim}")
def test_the_whole_way(array: NDArray[Any], tmp_path: Path) -> None:
    source, store = tmp_path / "in.zarr", tmp_path / "a.zarr"
    zarr.create_array(source, data=array)
    compress(source, store, codec="octets", octets_block=1024)
    assert verify(store, against=source).ok
    (found,) = info(store).arrays
    assert (found.codec, found.summary) == (NAME, {"block": 1024})
    assert (found.block_bits is None) == (array.ndim > 1)  # runs of bytes have places on one axis
    decompress(store, tmp_path / "b.zarr")
    back = np.asarray(zarr.open_array(tmp_path / "b.zarr", mode="r")[...])
    np.testing.assert_array_equal(back, array)


def test_the_command_line(gangsaw: CommandLine, tmp_path: Path) -> None:
    source, store = tmp_path / "in.zarr", tmp_path / "a.zarr"
    zarr.create_array(source, data=ARRAYS[2])
    command = ("compress", source, store, "--codec", "octets", "--octets-block", 512)
    gangsaw.ok(*command, "--workers", 0)
    codec = zarr.open_array(store, path="data", mode="r").metadata.codecs[-1]  # type: ignore[union-attr]
    assert codec == codecs.Octets(block=512)  # type: ignore[attr-defined]
    assert "block=512" in gangsaw.ok("info", store).out


@pytest.mark.parametrize("dtype", ["S3", "U2", "M8[s]", "V5"])
def test_items_that_are_no_numbers(dtype: str) -> None:
    octets = np.arange(240 * np.dtype(dtype).itemsize) % 4 == 0  # none above a code point
    array = np.frombuffer(octets.tobytes(), dtype).reshape(12, 20).T
    codec, out = codecs.Octets(block=100), np.empty_like(array)  # type: ignore[attr-defined]
    codec.decode_chunk(codec.encode_chunk(array), out)
    assert out.tobytes() == array.tobytes()


def test_items_that_are_no_bytes_are_refused() -> None:
    for dtype in (np.dtype(object), np.dtype([("a", "i2"), ("b", "f4")])):
        with pytest.raises(BadParams, match="no plain bytes"):
            codecs.Octets().coder((3, 4), dtype)  # type: ignore[attr-defined]
