"""ENVI images: every layout is read, nothing of a header is lost, errors are one line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.envi_files import METADATA, ORDERS, cube, write_envi

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.formats.contract.opening import open_source
from gangsaw.tasks.formats.envi.export import EnviLayout, export_envi
from gangsaw.tasks.formats.envi.pair import DATA_SUFFIXES
from gangsaw.tasks.formats.envi.source import EnviSource, open_envi

NAMES = {"bsq": ("band", "y", "x"), "bil": ("y", "band", "x"), "bip": ("y", "x", "band")}


def whole(array: Any) -> Any:
    return array.read(tuple(slice(0, n) for n in array.shape))


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize("byte_order", [0, 1])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "uint32", "float32"])
def test_every_layout_is_read(tmp_path: Path, interleave: str, byte_order: int, dtype: str) -> None:
    samples = cube(dtype)
    path = write_envi(
        tmp_path / "a.hdr", samples, interleave=interleave, byte_order=byte_order, offset=13
    )
    (array,) = open_envi(str(path)).arrays
    assert array.dims == NAMES[interleave]
    assert array.dtype.name == dtype
    assert np.array_equal(whole(array), samples.transpose(ORDERS[interleave]))


def test_a_window_is_that_of_the_whole_and_travels(tmp_path: Path) -> None:
    samples = cube()
    (array,) = open_envi(str(write_envi(tmp_path / "a.hdr", samples, interleave="bil"))).arrays
    window = (slice(2, 5), slice(1, 4), slice(3, 6))
    sent = pickle.loads(pickle.dumps(array))
    assert np.array_equal(sent.read(window), samples.transpose(ORDERS["bil"])[window])
    assert len(pickle.dumps(array)) < 2000


@pytest.mark.parametrize("suffix", ["", *(f".{s}" for s in DATA_SUFFIXES), ".IMG", ".DAT"])
def test_the_data_file_is_found(tmp_path: Path, suffix: str) -> None:
    path = write_envi(tmp_path / "a.hdr", cube(), suffix=suffix)
    assert open_envi(str(path)).arrays[0].path == str(tmp_path / f"a{suffix}")


def test_the_header_of_a_data_file_is_found(tmp_path: Path) -> None:
    header = write_envi(tmp_path / "a.hdr", cube(), suffix=".img")
    header.rename(tmp_path / "a.img.hdr")
    assert isinstance(open_source(str(tmp_path / "a.img")), EnviSource)
    assert isinstance(open_source(str(tmp_path / "a.img.hdr")), EnviSource)


def test_metadata_becomes_coordinates_and_attributes(tmp_path: Path) -> None:
    source = open_envi(str(write_envi(tmp_path / "a.hdr", cube(), metadata=METADATA)))
    coords = {coord.name: coord for coord in source.coords}
    assert coords["wavelength"].values.tolist() == [400.5, 410.25, 420.0, 430.125, 440.0]
    assert coords["wavelength"].attrs == {"units": "Nanometers"}
    assert coords["fwhm"].values.tolist() == [5.1, 5.2, 5.3, 5.4, 5.5]
    assert coords["bbl"].values.tolist() == [1, 1, 0, 1, 1]
    assert coords["x"].values[:2].tolist() == [500007.5, 500022.5]  # centres of the pixels
    assert coords["y"].values[:2].tolist() == [3999992.5, 3999977.5]
    attrs = source.arrays[0].attrs
    assert attrs["description"] == "Radiance of flight line 7,\ncalibrated"
    assert attrs["band_names"][3] == "water vapour"
    assert json.loads(attrs["envi"])["Flight Line"] == "f100520"
    assert attrs["coordinates"].split() == ["wavelength", "fwhm", "bbl", "spatial_ref"]


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
def test_export_gives_back_data_and_every_field(tmp_path: Path, interleave: str) -> None:
    first = write_envi(
        tmp_path / "a.hdr", cube("int16"), interleave=interleave, byte_order=1, metadata=METADATA
    )
    source = open_envi(str(first))
    export_envi(source.arrays[0], source.coords, tmp_path / "b.hdr")
    assert (tmp_path / "b.img").read_bytes() == (tmp_path / "a.img").read_bytes()
    assert fields(tmp_path / "b.hdr") == fields(first)


def fields(header: Path) -> dict[str, Any]:
    """Fields as another reader sees them; numbers as numbers."""
    import spectral
    from spectral.io.envi import read_envi_header

    spectral.settings.envi_support_nonlowercase_params = True
    return {key: numbers(value) for key, value in read_envi_header(str(header)).items()}


def numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [numbers(part) for part in value]
    try:
        return float(value)
    except ValueError:
        return value


def test_spectral_reads_what_is_exported(tmp_path: Path) -> None:
    import spectral

    samples = cube()
    source = open_envi(str(write_envi(tmp_path / "a.hdr", samples)))
    export_envi(source.arrays[0], (), tmp_path / "b.hdr", EnviLayout("bip", "big"))
    image = spectral.envi.open(str(tmp_path / "b.hdr"))
    assert image.dtype == ">u2"
    assert np.array_equal(np.asarray(image.open_memmap()), samples.transpose(1, 2, 0))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("bands   = 5", ""), "no 'bands'"),
        (("bands   = 5", "bands = five"), "'bands' must be a whole number"),
        (("bands   = 5", "bands = 0"), "'bands' must be a whole number"),
        (("data type = 12", "data type = 99"), "unknown data type 99"),
        (("interleave = bsq", "interleave = pixel"), "interleave must be bsq, bil or bip"),
        (("byte order = 0", "byte order = 7"), "byte order must be 0 or 1"),
        (("header offset = 0", "header offset = -4"), "'header offset' must be a whole number"),
        (("byte order = 0", "byte order = 0\nfile compression = 1"), "save it uncompressed"),
        (("byte order = 0", "byte order = 0\nmajor frame offsets = {4, 4}"), "frame offsets"),
        (("ENVI", "JUNK"), "not an ENVI header"),
        (
            ("byte order = 0", "wavelength = {1, 2"),
            "line 9: the brace of 'wavelength' is not closed",
        ),
    ],
)
def test_a_malformed_header_is_told_in_one_line(
    tmp_path: Path, change: tuple[str, str], line: str
) -> None:
    path = write_envi(tmp_path / "a.hdr", cube())
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(BadParams, match=line) as raised:
        open_envi(str(path))
    assert "\n" not in str(raised.value)


def test_a_missing_header_or_data_file(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="no such file"):
        open_envi(str(tmp_path / "a.hdr"))
    path = write_envi(tmp_path / "a.hdr", cube())
    (tmp_path / "a.img").unlink()
    with pytest.raises(BadParams, match="has no data file: put it next to the header, as a or"):
        open_envi(str(path))


def test_a_truncated_data_file(tmp_path: Path) -> None:
    path = write_envi(tmp_path / "a.hdr", cube(), offset=3)
    data = tmp_path / "a.img"
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(BadParams, match="is truncated: 5 x 7 x 6 samples of uint16"):
        open_envi(str(path))


def test_a_data_file_that_shrinks_later(tmp_path: Path) -> None:
    (array,) = open_envi(str(write_envi(tmp_path / "a.hdr", cube()))).arrays
    (tmp_path / "a.img").write_bytes(b"short")
    with pytest.raises(CorruptChunk, match="became shorter"):
        whole(array)


def test_identity_changes_with_the_data(tmp_path: Path) -> None:
    import os

    source = open_envi(str(write_envi(tmp_path / "a.hdr", cube())))
    before = source.identity()
    os.utime(tmp_path / "a.img", ns=(1, 1))
    assert source.identity() != before


def test_export_spares_what_stands_there(tmp_path: Path) -> None:
    source = open_envi(str(write_envi(tmp_path / "a.hdr", cube())))
    (tmp_path / "b.img").write_bytes(b"mine")
    with pytest.raises(BadParams, match=r"b\.img would be read as the data of"):
        export_envi(source.arrays[0], (), tmp_path / "b.dat")
    with pytest.raises(BadParams, match=r"b\.img exists"):
        export_envi(source.arrays[0], (), tmp_path / "b.hdr")
    assert (tmp_path / "b.img").read_bytes() == b"mine"
    assert not list(tmp_path.glob(".*.partial"))


def test_export_refuses_what_envi_cannot_hold(tmp_path: Path) -> None:
    from gangsaw.tasks.formats.flat.memory_array import MemoryArray

    with pytest.raises(BadParams, match="ENVI has no int8 samples"):
        export_envi(MemoryArray(cube("int8"), ("band", "y", "x")), (), tmp_path / "b.hdr")
    with pytest.raises(BadParams, match="ENVI and the interleaves of raw files hold two or three"):
        export_envi(
            MemoryArray(np.zeros((2, 3, 4, 5), "u2"), tuple("tzyx")), (), tmp_path / "b.hdr"
        )
    assert not list(tmp_path.iterdir())
