"""ENVI files come back byte for byte, header and data; what is false of a copy is changed alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spectral
import xarray as xr
from helpers.envi_files import METADATA, cube, write_envi
from spectral.io import envi

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import open_source
from gangsaw.tasks.formats.envi import surrounding_bytes
from gangsaw.tasks.formats.envi.export import export_envi, image_of
from gangsaw.tasks.formats.envi.text import read_header_text

STRANGE = (
    "; by hand\r\nWavelength Units = \xb5m\r\nband names = {one, two \xb0, 3, 4, 5,}\r\n"
    "wavelength = {0.50, 0.60 0.7,\r\n 0.80 , 0.900, }\r\nnote={a = b}\r\nnote = last {one}\r\n"
    "class lookup = {0, 0, 0, 255,0,0}\r\nclass names = {Unclassified, wood}\r\nclasses = 2\r\n"
    "z plot titles = {Wavelength (\xb5m), Radiance}\r\ndefault bands = {3,2,1}\r\nempty =\r\n"
    "Description = {\r\n  two\r\n  lines }\r\nmajor frame offsets = {0, 0}"
)


def there_and_back(named: Path, copy: Path, **options: object) -> Path:
    """Compress, verify and decompress; return the store."""
    store = copy.with_suffix(".zarr")
    gangsaw.compress(named, store)
    assert gangsaw.verify(store, against=named).ok
    gangsaw.decompress(store, copy, **options)
    return store


def strange(path: Path, encoding: str, **layout: Any) -> Path:
    write_envi(path, cube("int16"), **layout)
    text = path.read_text().replace("\n", "\r\n").replace("samples = 6", "Samples=  06")
    path.write_bytes((text + STRANGE).encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
def test_header_and_data_come_back_byte_for_byte(
    tmp_path: Path, encoding: str, interleave: str
) -> None:
    first = strange(tmp_path / "a.hdr", encoding, interleave=interleave, byte_order=1, offset=13)
    with (tmp_path / "a.img").open("ab") as data:
        data.write(b"trailer")
    store = there_and_back(first, tmp_path / "b.hdr")
    assert (tmp_path / "b.hdr").read_bytes() == first.read_bytes()
    assert (tmp_path / "b.img").read_bytes() == (tmp_path / "a.img").read_bytes()
    opened = xr.open_zarr(store)
    assert opened.wavelength.values.tolist() == [0.5, 0.6, 0.7, 0.8, 0.9]
    assert bytes(opened.bytes_before_samples.values) == b"\xaa" * 13
    assert bytes(opened.bytes_after_samples.values) == b"trailer"
    assert list(opened.data_vars) == ["data"]


@pytest.mark.parametrize("hop", ["zarr", "nc"])
def test_a_header_comes_back_through_other_files(tmp_path: Path, hop: str) -> None:
    first = strange(tmp_path / "a.hdr", "latin-1", offset=5)
    gangsaw.compress(first, tmp_path / "a.zarr")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / f"hop.{hop}")
    there_and_back(tmp_path / f"hop.{hop}", tmp_path / "b.hdr")
    assert (tmp_path / "b.hdr").read_bytes() == first.read_bytes()
    assert (tmp_path / "b.img").read_bytes() == (tmp_path / "a.img").read_bytes()


def test_another_layout_changes_its_lines_alone(tmp_path: Path) -> None:
    first = strange(tmp_path / "a.hdr", "latin-1", interleave="bil")
    there_and_back(first, tmp_path / "b.hdr", interleave="bip", byte_order="big")
    expected = first.read_bytes().replace(b"interleave = bil", b"interleave = bip")
    expected = expected.replace(b"byte order = 0", b"byte order = 1")
    assert (tmp_path / "b.hdr").read_bytes() == expected


def test_many_bytes_around_the_samples_are_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surrounding_bytes, "SMALL", 10)
    first = write_envi(tmp_path / "a.hdr", cube(), offset=1000)
    source = open_source(str(first))
    assert [array.name for array in source.arrays] == ["data", "bytes_before_samples"]
    summary = gangsaw.compress(first, tmp_path / "b.zarr")
    assert summary.unread_bytes == 0
    assert gangsaw.verify(tmp_path / "b.zarr", against=first).ok
    gangsaw.decompress(tmp_path / "b.zarr", tmp_path / "b.hdr")
    assert (tmp_path / "b.img").read_bytes() == (tmp_path / "a.img").read_bytes()


def test_bytes_after_the_last_sample_are_told(tmp_path: Path) -> None:
    first = write_envi(tmp_path / "a.hdr", cube())
    with (tmp_path / "a.img").open("ab") as data:
        data.write(bytes(84))
    summary = gangsaw.compress(first, tmp_path / "a.zarr")
    (note,) = summary.notes
    assert note.startswith("84 bytes after the last sample are stored")
    assert summary.unread_bytes == 0


@pytest.mark.parametrize(
    "kind", ["ENVI Standard", "ENVI Classification", "ENVI FFT Result", "Sensor of ours", None]
)
def test_the_file_type_stays_as_it_was(tmp_path: Path, kind: str | None) -> None:
    first = write_envi(tmp_path / "a.hdr", cube("uint8"))
    line = "" if kind is None else f"file type = {kind}\n"
    first.write_text(first.read_text().replace("file type = ENVI Standard\n", line))
    there_and_back(first, tmp_path / "b.hdr")
    assert (tmp_path / "b.hdr").read_bytes() == first.read_bytes()


@pytest.mark.parametrize("kind", ["TIFF", "GeoTIFF", "JPEG2000", "ENVI Virtual Mosaic"])
def test_a_file_type_that_is_no_flat_file_is_refused(tmp_path: Path, kind: str) -> None:
    first = write_envi(tmp_path / "a.hdr", cube())
    first.write_text(first.read_text().replace("ENVI Standard", kind))
    with pytest.raises(BadParams, match=f"{kind}' is no flat file of samples"):
        open_source(str(first))


@pytest.mark.parametrize(
    ("start", "line"),
    [
        (b"\xef\xbb\xbfENVI\n", "line 1 starts with a byte order mark of UTF-8"),
        (b"\xff\xfeE\0N\0V\0I\0\n\0", "line 1 starts with a byte order mark of UTF-16"),
        (b"\nENVI\n", "line 1 is blank; it must be ENVI"),
        (b" \r\nENVI\r\n", "line 1 is blank; it must be ENVI"),
        (b"envi\n", "line 1 is 'envi'; it must be ENVI"),
        (b"ENVI\nmap\0\n", "it is no text"),
        (b"ENVI\n\nwavelength = {1, 2\nbbl = {1, 1}\n", "line 3: the brace of 'wavelength' is not"),
        (b"ENVI\r\ndescription = {x\r\n\r\nbbl = {1}\r\n", "line 2: the brace of 'description'"),
        (b"ENVI\rwavelength = {1, 2\rbands", "line 2: the brace of 'wavelength' is not closed"),
    ],
)
def test_a_damaged_header_is_told_by_its_line(tmp_path: Path, start: bytes, line: str) -> None:
    first = write_envi(tmp_path / "a.hdr", cube())
    first.write_bytes(start + first.read_bytes().removeprefix(b"ENVI\n"))
    with pytest.raises(BadParams, match=line):
        open_source(str(first))


@pytest.mark.parametrize(
    "text", ["description = {a { b}", "description = {\n bands = 5 of {7}\n}", "x = {a} ; remark"]
)
def test_strange_braces_that_are_closed(tmp_path: Path, text: str) -> None:
    first = write_envi(tmp_path / "a.hdr", cube(), metadata=f"{text}\ndefault bands = {{1}}\n")
    there_and_back(first, tmp_path / "b.hdr")
    assert (tmp_path / "b.hdr").read_bytes() == first.read_bytes()


def library(folder: Path, names: list[str]) -> Path:
    """Write a library as `spectral` does."""
    spectra = np.random.default_rng(3).random((len(names), 50), "f4")
    header = {"spectra names": names, "wavelength": list(np.linspace(400, 2500, 50))}
    header["wavelength units"] = "Nanometers"
    envi.SpectralLibrary(spectra, header).save(str(folder / "lib"), "minerals")
    return folder / "lib.hdr"


def test_a_spectral_library_has_its_names_and_wavelengths(tmp_path: Path) -> None:
    names = ["calcite", "kaolinite CM9", "alunite"]
    first = library(tmp_path, names)
    store = there_and_back(first, tmp_path / "copy.hdr")
    opened = xr.open_zarr(store)
    assert opened["data"].dims == ("spectrum", "band")
    assert opened["data"].spectra_names.values.tolist() == names
    assert opened["data"].wavelength.values[-1] == 2500
    assert opened["data"].wavelength.attrs["units"] == "Nanometers"
    for suffix in (".hdr", ".sli"):
        copy = tmp_path / f"copy{suffix}"
        assert copy.read_bytes() == first.with_suffix(suffix).read_bytes()
    again = spectral.envi.open(str(tmp_path / "copy.hdr"))
    assert isinstance(again, envi.SpectralLibrary)
    assert again.names == names


def test_a_library_of_other_programs_is_written_as_one(tmp_path: Path) -> None:
    """Without the header that it came with."""
    values = np.ones((2, 3), "f4")
    names = np.array(["a", "b"], np.dtypes.StringDType())
    coords = {"spectra_names": ("spectrum", names), "wavelength": ("band", [1.0, 2.0, 3.0])}
    made = xr.Dataset({"data": (("spectrum", "band"), values)}, coords)
    made.to_zarr(tmp_path / "a.zarr", zarr_format=3, consolidated=False)
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.sli")
    read = spectral.envi.open(str(tmp_path / "b.hdr"))
    assert read.names == ["a", "b"]
    assert read.bands.centers == [1, 2, 3]
    assert read.spectra.shape == (2, 3)


@pytest.mark.parametrize("name", ["calcite, Iceland", "a {b}", "two\nlines"])
def test_a_name_that_a_list_would_break_is_refused(tmp_path: Path, name: str) -> None:
    names = np.array(["a", name], np.dtypes.StringDType())
    made = xr.Dataset(
        {"data": (("spectrum", "band"), np.ones((2, 3), "f4"))},
        {"spectra_names": ("spectrum", names)},
    )
    made.to_zarr(tmp_path / "a.zarr", zarr_format=3, consolidated=False)
    with pytest.raises(BadParams, match="spectra names are a list with commas, in which"):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.sli")
    assert not (tmp_path / "b.sli").exists()


@pytest.mark.parametrize("metadata", [METADATA, STRANGE.replace("\xb5", "u").replace("\xb0", "d")])
def test_fields_are_those_of_spectral(
    tmp_path: Path, metadata: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectral.settings, "envi_support_nonlowercase_params", True)
    path = write_envi(tmp_path / "a.hdr", cube())
    path.write_bytes(path.read_bytes() + metadata.encode("latin-1"))
    found = {entry.name: entry.value for entry in read_header_text(path).entries}
    wanted = envi.read_envi_header(str(path))
    found.pop("Description", None)  # a list to spectral, which knows it in small letters alone
    wanted.pop("Description", None)
    assert found == wanted


def damaged(text: bytes, rng: np.random.Generator) -> bytes:
    """Return a header with some of its bytes lost, doubled or replaced."""
    parts = (b"{", b"}", b",", b"\n", b"\r", b"=", b";", b"\xb5", b"nan", b"1e999", b"_", b"units=")
    for _ in range(rng.integers(1, 4)):
        at, length = rng.integers(len(text)), rng.integers(20)
        new = parts[rng.integers(len(parts))]
        text = text[:at] + new + text[at + length * rng.integers(2) :]
    return text


def test_a_damaged_header_is_refused_or_comes_back(tmp_path: Path) -> None:
    rng, opened = np.random.default_rng(5), 0
    first = write_envi(tmp_path / "a.hdr", cube(), metadata=METADATA)
    whole = first.read_bytes()
    for _ in range(100):
        first.write_bytes(damaged(whole, rng))
        (tmp_path / "b.hdr").unlink(missing_ok=True)
        try:
            source = open_source(str(first))
        except BadParams:
            continue
        opened += 1
        array, others = image_of(source)
        export_envi(array, source.coords, tmp_path / "b.hdr", others=others, overwrite=True)
        assert (tmp_path / "b.hdr").read_bytes() == first.read_bytes()
    assert 20 < opened < 80


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "int64", "uint64", "float64"])
def test_what_spectral_writes_comes_back(tmp_path: Path, dtype: str) -> None:
    samples = (np.arange(5 * 6 * 7).reshape(5, 6, 7) * 3).astype(dtype)
    if samples.dtype.kind == "c":
        samples += 1j * samples
    meta = {"description": "one\n{two}", "wavelength": list(range(7)), "z plot titles": ["a", "b"]}
    path = tmp_path / "a.hdr"
    envi.save_image(str(path), samples, dtype=dtype, interleave="bip", metadata=meta)
    there_and_back(path, tmp_path / "b.hdr")
    assert (tmp_path / "b.hdr").read_bytes() == path.read_bytes()
    read = spectral.envi.open(str(tmp_path / "b.hdr")).open_memmap()
    assert np.array_equal(np.asarray(read), samples)


def test_stores_of_earlier_versions_are_written_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have the fields and not the header's text, and still equal their source."""
    monkeypatch.setattr(spectral.settings, "envi_support_nonlowercase_params", True)
    first = write_envi(tmp_path / "a.hdr", cube(), metadata=METADATA)
    source = open_source(str(first))
    monkeypatch.delitem(source.arrays[0].attrs, "envi_header")  # type: ignore[arg-type]
    old = replace(source, coords=tuple(c for c in source.coords if c.name != "spatial_ref"))
    gangsaw.compress(old, tmp_path / "old.zarr")
    assert gangsaw.verify(tmp_path / "old.zarr", against=first).ok
    gangsaw.decompress(tmp_path / "old.zarr", tmp_path / "b.hdr")
    wanted, found = (envi.read_envi_header(str(path)) for path in (first, tmp_path / "b.hdr"))
    assert found.keys() == wanted.keys()
    assert found["map info"] == wanted["map info"]
    assert (tmp_path / "b.img").read_bytes() == (tmp_path / "a.img").read_bytes()
