"""Of an image's two files a user names one: the named data are the data, no suffix is preferred."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from helpers.envi_files import cube, write_envi

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import open_source
from gangsaw.tasks.formats.envi.source import EnviSource


def data_of(path: Path) -> str:
    """Return the name of the data file that is taken where `path` is named."""
    source = open_source(str(path))
    assert isinstance(source, EnviSource)
    return Path(source.arrays[0].path).name


def other(path: Path) -> None:
    path.write_bytes(cube()[::-1].tobytes())


def test_the_named_file_is_compressed_and_verified(tmp_path: Path) -> None:
    write_envi(tmp_path / "s.hdr", cube(), suffix=".raw")
    other(tmp_path / "s.img")
    gangsaw.compress(tmp_path / "s.raw", tmp_path / "s.zarr")
    assert np.array_equal(xr.open_zarr(tmp_path / "s.zarr").data.values, cube())
    assert gangsaw.verify(tmp_path / "s.zarr", against=tmp_path / "s.raw").ok
    assert not gangsaw.verify(tmp_path / "s.zarr", against=tmp_path / "s.img").ok


@pytest.mark.parametrize("suffix", [".pix", "", ".v2", ".RAW", ".lan"])
def test_any_suffix_will_do(tmp_path: Path, suffix: str) -> None:
    header = write_envi(tmp_path / "s.hdr", cube(), suffix=suffix)
    assert data_of(tmp_path / f"s{suffix}") == f"s{suffix}"
    assert data_of(header) == f"s{suffix}"


def test_data_that_starts_as_a_header_does(tmp_path: Path) -> None:
    """Of an offset, a program may keep a copy of the header in the data file."""
    write_envi(tmp_path / "s.hdr", cube(), suffix=".raw", offset=64)
    data = tmp_path / "s.raw"
    data.write_bytes(b"ENVI\nsamples = 1\n".ljust(64) + data.read_bytes()[64:])
    assert data_of(data) == "s.raw"


def test_a_header_of_several_files_is_refused_with_their_names(tmp_path: Path) -> None:
    header = write_envi(tmp_path / "s.hdr", cube(), suffix=".raw")
    other(tmp_path / "s.pix")
    with pytest.raises(BadParams, match=r"several files: s\.pix and s\.raw have the 420 bytes"):
        open_source(str(header))


def test_of_several_files_the_only_one_of_the_right_size_is_taken(tmp_path: Path) -> None:
    header = write_envi(tmp_path / "s.hdr", cube(), suffix=".raw")
    (tmp_path / "s.img").write_bytes(b"too short")
    (tmp_path / "s.txt").write_bytes(bytes(2000))
    (tmp_path / "s.dat").mkdir()
    assert data_of(header) == "s.raw"


def test_none_of_several_files_has_the_right_size(tmp_path: Path) -> None:
    header = write_envi(tmp_path / "s.hdr", cube(), suffix=".raw", offset=3)
    (tmp_path / "s.raw").write_bytes(b"too short")
    (tmp_path / "s.png").write_bytes(bytes(2000))
    with pytest.raises(
        BadParams, match=r"423 bytes, .*: s\.png \(2000 bytes\) and s\.raw \(9 bytes\); name"
    ):
        open_source(str(header))


def test_one_file_of_the_wrong_size(tmp_path: Path) -> None:
    header = write_envi(tmp_path / "s.hdr", cube(), suffix=".txt")
    (tmp_path / "s.txt").write_bytes(bytes(421))
    with pytest.raises(BadParams, match=r"no file of its name has: s\.txt \(421 bytes\)"):
        open_source(str(header))
    (tmp_path / "s.txt").rename(tmp_path / "s.img")
    (tmp_path / "s.img").write_bytes(bytes(419))
    with pytest.raises(BadParams, match=r"s\.img is truncated"):
        open_source(str(header))


def test_files_with_a_header_of_their_own_are_not_asked(tmp_path: Path) -> None:
    header = write_envi(tmp_path / "s.hdr", cube(), suffix=".raw")
    write_envi(tmp_path / "s.hdr2", cube()[::-1], suffix=".glt").rename(tmp_path / "s.glt.hdr")
    assert data_of(header) == "s.raw"
    assert data_of(tmp_path / "s.glt") == data_of(tmp_path / "s.glt.hdr") == "s.glt"


def test_a_link_is_no_second_file(tmp_path: Path) -> None:
    header = write_envi(tmp_path / "s.hdr", cube(), suffix=".raw")
    (tmp_path / "s.img").symlink_to(tmp_path / "s.raw")
    assert data_of(header) in ("s.raw", "s.img")


def test_several_headers_of_one_file_are_refused(tmp_path: Path) -> None:
    header = write_envi(tmp_path / "s.hdr", cube(), suffix=".raw")
    (tmp_path / "s.HDR").write_text(header.read_text().replace("= bsq", "= bip"))
    with pytest.raises(BadParams, match=r"several headers, s\.hdr and s\.HDR"):
        open_source(str(tmp_path / "s.raw"))


def test_a_data_file_without_a_header(tmp_path: Path) -> None:
    other(tmp_path / "s.raw")
    with pytest.raises(BadParams, match="no known format"):
        open_source(str(tmp_path / "s.raw"))
    (tmp_path / "s.hdr").write_text("BYTEORDER I\nLAYOUT BIL\n")  # of another program
    with pytest.raises(BadParams, match=r"s\.hdr is not an ENVI header: line 1 is 'BYTEORDER I'"):
        open_source(str(tmp_path / "s.raw"))
