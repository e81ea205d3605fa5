"""Small files of every format, made by the libraries of their fields where there are such."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
import zarr
from helpers import tcr_tables
from helpers.envi_files import cube, write_envi
from helpers.product_files import (
    write_emit,
    write_enmap,
    write_neon,
    write_pace,
    write_prisma,
)
from helpers.radio_files import write as write_radio
from helpers.small_files import kat, netcdf, netcdf3
from helpers.tcr_tables import bgzip

from gangsaw import compress, decompress


@dataclass(frozen=True)
class Seed:
    """A file or folder that is whole.

    Attributes
    ----------
    format : its name in the table; "tcr" for tables of repertoires, which are no source
    make : writes it into a folder and returns the path that a user names
    is_text : whether lines and numbers are what a hostile hand changes
    packed : how it is compressed, with checksums: "gzip", "bgzip" or ""
    own : options of the format
    """

    format: str
    make: Callable[[Path], Path]
    is_text: bool = False
    packed: str = ""
    own: Mapping[str, object] = field(default_factory=dict)


def _file(name: str, write: Callable[[Path], object]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return make


def _of_bytes(name: str, data: Callable[[], bytes]) -> Callable[[Path], Path]:
    return _file(name, lambda path: path.write_bytes(data()))


def _bases(n: int, seed: int) -> bytes:
    return np.frombuffer(b"ACGTN", np.uint8)[
        np.random.default_rng(seed).integers(0, 5, n)
    ].tobytes()


def _fastq() -> bytes:
    lines = [
        b"@run:1:%d/1\n%b\n+\n%b\n" % (i, _bases(30 + i, i), b"I" * (20 + i) + b"#" * 10)
        for i in range(20)
    ]
    return b"".join(lines)


def _fasta() -> bytes:
    parts = []
    for i in range(4):
        bases = _bases(200, i) + b"nnacgt" * 5
        lines = [bases[at : at + 60] for at in range(0, len(bases), 60)]
        parts.append(b">chr%d made\n%b\n" % (i, b"\n".join(lines)))
    return b"".join(parts)


def _related(folder: Path) -> Path:
    """Files of genomes that are related, of which one is packed."""
    rng, letters = np.random.default_rng(4), np.frombuffer(_bases(900, 3), np.uint8).copy()
    target = folder / "genomes"
    target.mkdir(parents=True)
    for i in range(3):
        letters[rng.integers(0, letters.size, 9)] = ord("T")
        text = letters.tobytes()
        lines = [text[at : at + 60] for at in range(0, len(text), 60)]
        fasta = b">chr1 of %d\n%b\n" % (i, b"\n".join(lines))
        path = target / ("s2.fa.gz" if i == 2 else f"s{i}.fa")
        path.write_bytes(gzip.compress(fasta, mtime=0) if i == 2 else fasta)
    return target


def _genbank() -> bytes:
    rows = [
        b"%9d %b" % (at + 1, b" ".join(_bases(10, at + i).lower() for i in range(6)))
        for at in range(0, 300, 60)
    ]
    head = b"LOCUS       MADE%18d bp    DNA     linear   UNK\nDEFINITION  made.\nORIGIN\n" % 300
    return head + b"\n".join(rows) + b"\n//\n"


def _two_bit(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fasta, store = Path(folder) / "in.fa", Path(folder) / "in.zarr"
        fasta.write_bytes(_fasta())
        compress(fasta, store, format="genome")
        decompress(store, path, accept_loss=True)


def _bam(path: Path) -> None:
    import pysam

    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "chr1", "LN": 1000}]}
    with pysam.AlignmentFile(str(path), "wb", header=header) as file:
        for i in range(20):
            read = pysam.AlignedSegment(file.header)
            read.query_name, read.query_sequence = f"read{i}", _bases(40, i).decode()
            read.flag, read.query_qualities = 4, pysam.qualitystring_to_array("I" * 40)
            read.set_tag("XX", "made")
            file.write(read)


def _hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("cube", data=cube(), chunks=True, compression="gzip", fletcher32=True)
        file["cube"].attrs["units"] = "counts"
        file.create_dataset("names", data=["a", "b"], dtype=h5py.string_dtype())


def _netcdf4(path: Path) -> None:
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        for name, extent in (("y", 6), ("x", 7)):
            file.createDimension(name, extent)
            file.createVariable(name, "f8", (name,))[:] = np.arange(extent)
        image = file.createVariable("image", "i2", ("y", "x"), zlib=True, fill_value=-1)
        image.scale_factor = 0.1
        image[:] = np.arange(42).reshape(6, 7)


def _geotiff(path: Path) -> None:
    import rasterio

    options = {"driver": "GTiff", "count": 3, "height": 20, "width": 30, "dtype": "uint16"}
    more = {"crs": "EPSG:32633", "transform": rasterio.Affine(10, 0, 5e5, 0, -10, 4e6)}
    with rasterio.open(path, "w", nodata=0, compress="deflate", **options, **more) as file:
        file.write(np.arange(1800, dtype="u2").reshape(3, 20, 30))


def _envi(folder: Path) -> Path:
    metadata = "map info = {UTM, 1, 1, 5e5, 4e6, 15, 15, 33, North, WGS-84}\n"
    return write_envi(folder / "a.hdr", cube(), metadata=f"{metadata}wavelength = {{1, 2, 3}}\n")


def _radio(name: str) -> Callable[[Path], Path]:
    return _file(name, write_radio)


def _zarr(version: int) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        group = zarr.create_group(folder / "a.zarr", zarr_format=version)  # type: ignore[arg-type]
        group.create_array("cube", data=cube())
        return folder / "a.zarr"

    return make


def _table(write: Callable[[tcr_tables.Rows], str]) -> Seed:
    data = _of_bytes("m.txt", lambda: write(tcr_tables.RECORDS).encode())
    return Seed("tcr", data, is_text=True)


SEEDS = [
    Seed("fastq", _of_bytes("a.fastq", _fastq), is_text=True),
    Seed("fastq", _of_bytes("a.fastq.gz", lambda: gzip.compress(_fastq())), True, "gzip"),
    Seed("fastq", _of_bytes("a.fastq.gz", lambda: bgzip(_fastq())), True, "bgzip"),
    Seed("fasta", _of_bytes("a.fasta", _fasta), is_text=True),
    Seed("fasta", _of_bytes("a.fasta.gz", lambda: bgzip(_fasta())), True, "bgzip"),
    Seed("genome", _of_bytes("a.fa", _fasta), is_text=True),
    Seed("genome", _of_bytes("a.fa.gz", lambda: gzip.compress(_fasta())), True, "gzip"),
    Seed("collection", _related, is_text=True),
    Seed("genbank", _of_bytes("a.gb", _genbank), is_text=True),
    Seed("text", _of_bytes("a.log", _genbank), is_text=True),
    Seed("text", _of_bytes("a.log.gz", lambda: gzip.compress(_genbank())), True, "gzip"),
    Seed("2bit", _file("a.2bit", _two_bit)),
    Seed("bam", _file("a.bam", _bam), packed="bgzip"),
    Seed("netcdf", _file("a.h5", _hdf5)),
    Seed("netcdf", _file("a.nc", netcdf)),
    Seed("netcdf", _file("b.nc", _netcdf4)),
    Seed("netcdf", _file("c.nc", netcdf3)),
    Seed("hdf5", _file("a.h5", kat)),
    Seed("geotiff", _file("a.tif", _geotiff)),
    Seed("envi", _envi, is_text=True),
    Seed(
        "raw",
        _file("a.raw", lambda path: cube().tofile(path)),
        own={"shape": cube().shape, "dtype": cube().dtype.name},
    ),
    Seed("zarr", _zarr(2), is_text=True),
    Seed("zarr", _zarr(3), is_text=True),
    Seed("uvh5", _radio("a.uvh5")),
    Seed("uvfits", _radio("a.uvfits")),
    Seed("ms", _radio("a.ms")),
    Seed("miriad", _radio("a.uv")),
    Seed("emit", _file("a.nc", write_emit)),
    Seed("pace", _file("a.nc", write_pace)),
    Seed("prisma", _file("a.he5", write_prisma)),
    Seed("neon", _file("a.h5", write_neon)),
    Seed("enmap", write_enmap),
    *map(_table, tcr_tables.WRITERS.values()),
    Seed("tcr", _of_bytes("m.parquet", lambda: tcr_tables.parquet(tcr_tables.RECORDS))),
]
