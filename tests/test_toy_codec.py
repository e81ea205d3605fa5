"""The toy codec, a separate distribution: commands and jobs take it with nothing edited."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from numpy.typing import NDArray

from gangsaw import codecs, compress, info, plot, verify
from gangsaw.codecs.core.errors import BadParams

NAME = "gangsaw.toy"
HERE = ("--workers", 0)
PROSE = np.frombuffer(b"".join(b"the line %05d of a text\n" % i for i in range(9000)), np.uint8)


@pytest.fixture(autouse=True)
def _installed() -> None:
    try:
        version("gangsaw-toy")
    except PackageNotFoundError:
        pytest.skip("the toy codec is not installed: pip install -e tests/toy_codec")


def text_store(path: Path, **attrs: Any) -> Path:
    array = zarr.create_array(path, data=PROSE, chunks=(50_000,), dimension_names=["byte"])
    array.attrs.update(attrs)
    return path


def codec_of(path: Path, name: str = "data") -> Any:
    return zarr.open_array(path, path=name, mode="r").metadata.codecs[-1]  # type: ignore[union-attr]


def read(path: Path, name: str = "data") -> NDArray[Any]:
    return np.asarray(zarr.open_array(path, path=name, mode="r")[...])


def test_the_whole_way_of_one_axis(tmp_path: Path) -> None:
    source = text_store(tmp_path / "text.zarr")
    summary = compress(source, tmp_path / "a.zarr", codec="toy", chunks=(60_000,), block=(9000,))
    assert summary.raw_bytes / summary.stored_bytes > 1.4  # the files of the source are compressed
    assert verify(tmp_path / "a.zarr", against=source).ok
    (found,) = info(tmp_path / "a.zarr").arrays
    assert (found.codec, found.n_chunks, found.dims) == (NAME, 4, ("byte",))
    assert found.summary == {"bytes of a block": 9000}
    assert np.array_equal(read(tmp_path / "a.zarr"), PROSE)
    (axes,) = plot(tmp_path / "a.zarr").axes
    assert (axes.get_xlabel(), axes.get_title(loc="left")) == ("byte", "bits/sample of each block")


def test_the_command_line(gangsaw: CommandLine, tmp_path: Path) -> None:
    source, store = text_store(tmp_path / "text.zarr"), tmp_path / "a.zarr"
    gangsaw.ok("compress", source, store, "--codec", "toy", "--toy-block", 4096, *HERE)
    assert codec_of(store) == codecs.Toy(block=(4096,))
    assert "bytes of a block=4096" in gangsaw.ok("info", store, "--plot", tmp_path / "a.png").out
    assert (tmp_path / "a.png").read_bytes()[1:4] == b"PNG"
    gangsaw.ok("verify", store, "--against", source, *HERE)
    gangsaw.ok("decompress", store, tmp_path / "b.zarr", *HERE)
    assert np.array_equal(zarr.open_array(tmp_path / "b.zarr", mode="r")[...], PROSE)
    shown = " ".join(gangsaw.ok("compress", "--help").out.split())
    assert "gangsaw.toy" in shown
    assert "--toy-block" in shown


def test_its_option_goes_nowhere_else(gangsaw: CommandLine, tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a.zarr", data=np.ones((3, 4, 5), "u2"))
    command = ("compress", tmp_path / "a.zarr", tmp_path / "b.zarr", "--toy-block", 9, *HERE)
    line = gangsaw(*command).failed(2)
    assert "no array has --toy-block, an option of gangsaw.toy: data (uint16) goes to" in line


def test_a_sample_proves_a_text(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "text.zarr", data=PROSE[:900])  # too short for our own codec
    compress(tmp_path / "text.zarr", tmp_path / "a.zarr")
    assert codec_of(tmp_path / "a.zarr").to_dict()["name"] == NAME
    noise = np.random.default_rng(1).integers(0, 256, 10_000, np.uint8)
    zarr.create_array(tmp_path / "noise.zarr", data=noise)
    compress(tmp_path / "noise.zarr", tmp_path / "b.zarr")
    assert codec_of(tmp_path / "b.zarr").to_dict()["name"] == "zstd"


def test_the_format_says_what_it_is(tmp_path: Path) -> None:
    zeros = np.zeros(1000, np.uint8)
    array = zarr.create_array(tmp_path / "zeros.zarr", data=zeros)
    array.attrs["gangsaw_content"] = "text lines"
    compress(tmp_path / "zeros.zarr", tmp_path / "a.zarr")
    assert codec_of(tmp_path / "a.zarr").to_dict()["name"] == NAME


def test_what_it_refuses_is_said_in_a_line(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a.zarr", data=np.ones((3, 4), "u1"))
    line = "data has 2 axes, gangsaw.toy codes texts of one axis"
    with pytest.raises(BadParams, match=line):
        compress(tmp_path / "a.zarr", tmp_path / "b.zarr", codec="toy")
