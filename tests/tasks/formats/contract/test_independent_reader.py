"""`verify` reads the source by its field's library: what our reader gets wrong is found."""

from __future__ import annotations

import bz2
import lzma
import os
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.envi_files import cube

import gangsaw
from gangsaw.tasks.api import arguments
from gangsaw.tasks.formats.contract.opening import open_source
from gangsaw.tasks.genomics.genomes.stored import stream as genome_stream
from gangsaw.tasks.genomics.reads.files import input as read_input


def raw(path: Path) -> dict[str, object]:
    path.write_bytes(cube().transpose(1, 0, 2).tobytes())
    return {"shape": (5, 7, 6), "dtype": "uint16", "interleave": "bil"}


def netcdf4(path: Path) -> dict[str, object]:
    values = {"cube": (("band", "y", "x"), cube("int16")), "t": (("band",), np.arange(5.0))}
    xr.Dataset(values).to_netcdf(path, engine="h5netcdf")
    return {}


def netcdf3(path: Path) -> dict[str, object]:
    data = xr.Dataset({"cube": (("band", "y", "x"), cube("int16"))})
    data.to_netcdf(path, format="NETCDF3_64BIT", engine="netcdf4")
    return {}


def geotiff(path: Path) -> dict[str, object]:
    rasterio = pytest.importorskip("rasterio", reason="the extra io is not installed")
    affine = rasterio.Affine(30, 0, 500000, 0, -30, 4000000)
    shape = {"count": 5, "height": 7, "width": 6, "dtype": "uint16"}
    with rasterio.open(path, "w", driver="GTiff", **shape, transform=affine) as file:
        file.write(cube())
    return {}


def zarr_group(path: Path) -> dict[str, object]:
    zarr.create_group(path).create_array("cube", data=cube(), chunks=(2, 7, 6))
    return {}


ARRAYS: dict[str, tuple[Callable[[Path], dict[str, object]], str]] = {
    "a.raw": (raw, "numpy"),
    "a.nc": (netcdf4, "h5py"),
    "b.nc": (netcdf3, "netCDF4"),
    "a.tif": (geotiff, "rasterio"),
    "a.zarr": (zarr_group, "zarr"),
}


# rioxarray 0.19 multiplies transforms in a way that affine 3 announces to give up
@pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning")
@pytest.mark.parametrize("name", ARRAYS)
def test_a_reader_that_is_wrong_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write, reader = ARRAYS[name]
    path, store = tmp_path / name, tmp_path / "out.zarr"
    options = write(path)
    gangsaw.compress(path, store, **options)
    good = gangsaw.verify(store, against=path, **options)
    assert (good.problems, [r.split()[0] for r in good.readers]) == ((), [reader])

    if name == "a.raw":
        options |= {"interleave": "bil"}
        kind: Any = type(
            gangsaw.tasks.formats.raw.source.open_raw(str(path), (5, 7, 6), "u2").arrays[0]
        )
    else:
        kind = type(open_source(str(path)).arrays[0])
    read = kind.read
    monkeypatch.setattr(kind, "read", lambda *of: np.flip(read(*of)))
    gangsaw.compress(path, store, overwrite=True, **options)
    assert gangsaw.verify(store, against=path, **options).problems


def hdf5_of_all_kinds(path: Path) -> None:
    """Text of any length in two ways, lists, arrays as items, long doubles, compounds."""
    import h5py

    with h5py.File(path, "w") as file:
        file["scalar"], file["text"] = b"abc", "\u00b5m"
        file.create_dataset("texts", data=["a", "b\u00e9", ""], dtype=h5py.string_dtype())
        file.create_dataset("ascii", data=[b"a", b"b\xff"], dtype=h5py.string_dtype("ascii"))
        file["fixed"] = np.array([b"ab", b"c"], "S5")
        lists = file.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))
        lists[0], lists[1] = [1, 2], [3]
        named = np.dtype([("i", "<i4"), ("s", h5py.string_dtype())])
        file.create_dataset("named", data=np.array([(1, "a"), (2, "bc")], named), dtype=named)
        file.create_dataset("items", (3,), np.dtype("(2,2)i4"))
        file["cube"] = cube()
        file["long"] = np.arange(4, dtype=np.longdouble) / 3


def netcdf_of_texts(path: Path, **how: Any) -> None:
    library = pytest.importorskip("netCDF4", reason="the extra io is not installed")
    with library.Dataset(path, "w", **how) as file:
        file.createDimension("x", 3)
        file.createDimension("length", 5)
        letters = file.createVariable("letters", "S1", ("x", "length"))
        file.createVariable("numbers", "i2", ("x", "length"))[:] = 7
        letters[:] = library.stringtochar(np.array(["ab", "c", "defgh"], "S5"))


def netcdf3_of_texts(path: Path) -> None:
    netcdf_of_texts(path, format="NETCDF3_CLASSIC")


def zipped(path: Path) -> None:
    with zarr.storage.ZipStore(path, mode="w") as store:
        group = zarr.create_group(store)
        group.create_array("cube", data=cube(), chunks=(2, 7, 6))
        texts = group.create_array("texts", shape=(2,), dtype="string")
        texts[:] = np.array(["ab", "\u00fc"], object)


OTHER: dict[str, tuple[Callable[[Path], None], str]] = {
    "a.h5": (hdf5_of_all_kinds, "h5py"),
    "a.nc": (netcdf_of_texts, "h5py"),
    "b.nc": (netcdf3_of_texts, "netCDF4"),
    "a.zarr.zip": (zipped, "zarr"),
}


@pytest.mark.parametrize("name", OTHER)
def test_what_is_no_numbers_is_read_by_its_library_too(tmp_path: Path, name: str) -> None:
    write, reader = OTHER[name]
    path, store = tmp_path / name, tmp_path / "out.zarr"
    write(path)
    gangsaw.compress(path, store)
    report = gangsaw.verify(store, against=path)
    assert (report.problems, [r.split()[0] for r in report.readers]) == ((), [reader])


CHANGES: dict[str, Callable[[Any], object]] = {
    "scalar": lambda data: data.__setitem__((), b"abd"),
    "texts": lambda data: data.__setitem__(1, "z"),
    "ascii": lambda data: data.__setitem__(1, b"b\xfe"),
    "fixed": lambda data: data.__setitem__(0, b"az"),
    "lists": lambda data: data.__setitem__(0, [1, 3]),
    "items": lambda data: data.__setitem__(0, np.ones((2, 2), "i4")),
    "long": lambda data: data.__setitem__(1, 1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_any_kind_is_seen_by_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    import h5py

    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.formats.hdf5.independent_reader import open_netcdf_reader

    path, store, other = tmp_path / "a.h5", tmp_path / "out.zarr", tmp_path / "b.h5"
    hdf5_of_all_kinds(path)
    gangsaw.compress(path, store)
    shutil.copy(path, other)
    with h5py.File(other, "r+") as file:
        CHANGES[name](file[name])
    seen: IndependentReader | None = open_netcdf_reader(str(other))
    monkeypatch.setattr(arguments, "open_independent_reader", lambda *_: seen)
    problems = gangsaw.verify(store, against=path).problems
    assert len(problems) == 1
    assert name in problems[0]


def fastq(path: Path, letter: str = "A") -> None:
    lines = (f"@r{i} x\nACGT{letter}\n+\nIIII{chr(40 + i % 40)}\n" for i in range(100))
    path.write_text("".join(lines))


def fasta(path: Path, letter: str = "A") -> None:
    path.write_text(f">one first\nACGTNN{letter}\nacgtr\n>two\n{letter * 30}\n")


def bam(path: Path, letter: str = "A") -> None:
    pysam = pytest.importorskip("pysam", reason="the extra bam is not installed")
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "c", "LN": 1000}]}
    with pysam.AlignmentFile(str(path), "wb", header=header) as file:
        for number, flag in enumerate((0, 16, 4, 256)):
            read = pysam.AlignedSegment(file.header)
            read.query_name, read.flag, read.query_sequence = f"r{number}", flag, f"ACRT{letter}"
            read.query_qualities = pysam.qualitystring_to_array("ABCDE")
            if flag != 4:
                read.reference_id, read.reference_start, read.cigarstring = 0, 10, "5M"
            file.write(read)


RECORDS: dict[str, Callable[..., None]] = {"a.fastq": fastq, "a.fa": fasta, "a.bam": bam}


@pytest.mark.parametrize("name", RECORDS)
def test_a_reader_of_records_that_is_wrong_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip("pysam", reason="the extra bam is not installed")
    path, other, store = tmp_path / name, tmp_path / f"other-{name}", tmp_path / "out.zarr"
    RECORDS[name](path)
    RECORDS[name](other, "C")
    gangsaw.compress(path, store)
    good = gangsaw.verify(store, against=path)
    assert (good.problems, [r.split()[0] for r in good.readers]) == ((), ["pysam"])

    for module in (read_input, genome_stream):
        readers = {
            kind: lambda _, *given, read=read, **own: read(str(other), *given, **own)
            for kind, read in module.READERS.items()
        }
        monkeypatch.setattr(module, "READERS", readers)
    opened = genome_stream.FastaGenome
    monkeypatch.setattr(genome_stream, "FastaGenome", lambda _, **own: opened(str(other), **own))
    gangsaw.compress(path, store, overwrite=True)
    problems = gangsaw.verify(store, against=path).problems
    assert "record 1" in problems[0]


ODD_FASTX = {
    "latin.fastq": "@é  µ \nACGT\n+\nIIII\n@ b\nAC\n+\nII\n".encode("latin-1"),
    "latin.fa": ">é  µ \nACGT\n".encode("latin-1"),
    "blanks.fa": b">a\t b  \n1 ACGT 10\nAC \tG\n",
    "returns.fastq": b"@a x\r\nACGT\r\n+\r\nIIII\r\n@b\nACGT\n+\nIIII\n",
}


@pytest.mark.parametrize("name", ODD_FASTX)
def test_odd_names_and_blanks_are_equal_to_what_pysam_reads(tmp_path: Path, name: str) -> None:
    pytest.importorskip("pysam", reason="the extra bam is not installed")
    path, store = tmp_path / name, tmp_path / "out.zarr"
    path.write_bytes(ODD_FASTX[name])
    kinds = ["fastq"] if name.endswith("fastq") else ["genome", "fasta"]
    for kind in kinds:
        gangsaw.compress(path, store, format=kind, overwrite=True)
        report = gangsaw.verify(store, against=path, format=kind)
        assert (report.problems, [r.split()[0] for r in report.readers]) == ((), ["pysam"])
        path.write_bytes(ODD_FASTX[name].replace(b"\xb5", b"\xb6").replace(b"ACGT", b"ACGA"))
        assert gangsaw.verify(store, against=path, format=kind).problems
        path.write_bytes(ODD_FASTX[name])


@pytest.mark.full
@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["a.fastq", "a.fa"])
def test_what_pysam_does_not_decompress_is_read_by_ourselves(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    path, store = tmp_path / f"{name}.bz2", tmp_path / "out.zarr"
    for letter in "AC":
        RECORDS[name](tmp_path / name, letter)
        path.write_bytes(pack((tmp_path / name).read_bytes()))
        if letter == "A":
            gangsaw.compress(path, store)
            report = gangsaw.verify(store, against=path)
            assert (report.problems, report.readers) == ((), ("gangsaw",))
    assert gangsaw.verify(store, against=path).problems


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    path, pipe, store = tmp_path / "a.fastq", tmp_path / "pipe.fastq", tmp_path / "out.zarr"
    fastq(path)
    gangsaw.compress(path, store)
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    report = gangsaw.verify(store, against=pipe, format="fastq")
    writer.join()
    assert (report.problems, report.readers) == ((), ("gangsaw",))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"@a\nAC\0GT\n+\nFFFFF\n@b\nG\n+\nI\n", "fastq"),
        (b">a\nACGT\n@CG\n>b\nAA\n", "fasta"),
        (b">a\nACGT\n+\nCG\n>b\nAA\n", "fasta"),
        (b">a\nACGT\n@CG\n>b\nAA\n", "genome"),
        (b">a\nACGT\n+\nCG\n>b\nAA\n", "genome"),
    ],
)
def test_what_pysam_does_not_read_is_left_to_our_reader(
    tmp_path: Path, gangsaw: CommandLine, text: bytes, kind: str
) -> None:
    """It ends a line at a NUL byte, and a sequence at a line that begins with + or @."""
    source, store, other = tmp_path / "a.txt", tmp_path / "a.zarr", tmp_path / "b.txt"
    source.write_bytes(text)
    gangsaw.ok("compress", source, store, "--format", kind)
    found = gangsaw("verify", store, "--against", source, "--format", kind)
    assert (found.code, found.err) == (0, "")
    assert re.search(r"read by +gangsaw", found.out)
    other.write_bytes(text.replace(b"ACGT", b"AGGT").replace(b"\0", b"T"))
    found = gangsaw("verify", store, "--against", other, "--format", kind)
    assert found.code == 1
