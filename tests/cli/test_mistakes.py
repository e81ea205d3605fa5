"""Typical mistakes of a first day: the exit code, and a line that names file, value and next step.

Whole sentences are not compared, so that messages may be worded anew.
"""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import dask
import numpy as np
import pytest
from helpers import tcr_tables
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi

import gangsaw
from gangsaw.tasks.formats.contract import format as formats

NOBODY = "tcp://127.0.0.1:9"
RAW = "--shape 3,20,30 --dtype uint16"

# what is typed, the exit code, and what the line says: the file, the value, the next step
CUBES = {
    "wrong path": ("compress scen.hdr new.zarr", 2, "scen.hdr", "no such file", "correct the path"),
    "header alone": ("compress alone.hdr new.zarr", 2, "alone.hdr", "data file", "alone.img"),
    "folder": ("compress folder new.zarr", 2, "folder", "no Zarr", "name the folder of a store"),
    "no shape": ("compress cube.raw new.zarr", 2, "cube.raw", "--shape", "--dtype"),
    "no dtype": ("compress cube.raw new.zarr --shape 3,20,30", 2, "cube.raw", "--dtype"),
    "dtype": (
        "compress cube.raw new.zarr --shape 3,20,30 --dtype unit16",
        2,
        "cube.raw",
        "'unit16'",
        "uint16",
    ),
    "too large a shape": (
        "compress cube.raw new.zarr --shape 3,20,31 --dtype uint16",
        2,
        "cube.raw",
        "3 x 20 x 31",
        "correct --shape",
    ),
    "too small a shape": (
        "compress cube.raw new.zarr --shape 3,20,29 --dtype uint16",
        2,
        "cube.raw",
        "3 x 20 x 29",
        "--accept-loss",
    ),
    "offset": (
        f"compress cube.raw new.zarr {RAW} --offset x",
        2,
        "--offset",
        "'x'",
        "an integer",
    ),
    "codec": (
        "compress scene.hdr new.zarr --codec ccsd123",
        2,
        "--codec",
        "'ccsd123'",
        "ccsds123?",
    ),
    "parameter": (
        "compress scene.hdr new.zarr --codec ccsds123 --param predicton_bands=3",
        2,
        "'predicton_bands'",
        "did you mean prediction_bands?",
    ),
    "option of another format": (
        "compress scene.hdr new.zarr --order sorted",
        2,
        "scene.hdr",
        "--order",
        "leave --order out",
    ),
    "option": ("compress scene.hdr new.zarr --chunk y=10", 2, "--chunk", "did you mean --chunks?"),
    "axis": ("compress scene.hdr new.zarr --chunks z=5", 2, "'z'", "band, y, x"),
    "target exists": ("compress scene.hdr scene.zarr", 2, "scene.zarr", "exists", "--overwrite"),
    "target is no store": ("compress scene.hdr folder", 2, "folder", "no Zarr", "another name"),
    "export exists": ("decompress scene.zarr scene.hdr", 2, "scene.img", "exists", "--overwrite"),
    "suffix": ("decompress scene.zarr new.xyz", 2, "new.xyz", "suffix", "--format"),
    "variable": ("decompress scene.zarr new.hdr --variable dat", 2, "scene.zarr", "'dat'", "data?"),
    "picture": ("info scene.zarr --plot a.jpg", 2, "a.jpg", ".png"),
    "not a store": ("verify scene.hdr", 2, "scene.hdr", "no Zarr", "gangsaw compress"),
    "no store": ("info scne.zarr", 2, "scne.zarr", "no such file", "correct the path"),
}
RADIO = {
    "no template": (
        "decompress scene.zarr new.ms",
        2,
        "scene.zarr",
        "template",
        "compress the file",
    ),
    "missing extra": (
        "compress cube.raw new.zarr --format uvfits",
        2,
        "cube.raw",
        "gangsaw[radio]",
    ),
    "other content": (
        "compress cube.raw new.zarr --format uvh5",
        2,
        "cube.raw",
        "HDF5",
        "--format",
    ),
    "format": ("compress cube.raw new.zarr --format uvh", 2, "--format", "'uvh'", "uvh5?"),
}
READS = {
    "store of another kind": ("extract scene.zarr 1:5", 2, "scene.zarr", "neither", "genome"),
    "record": ("extract genome.zarr chr3", 2, "genome.zarr", "'chr3'", "chr1"),
    "range": ("extract genome.zarr chr1:50-20", 2, "chr1:50-20", "2,000", "first"),
    "beyond the end": ("extract genome.zarr chr1:1-9000", 2, "chr1:1-9000", "2,000"),
    "no qualities": ("decompress genome.zarr new.fastq", 2, "genome.zarr", "no reads", "FASTQ"),
    "no index": ("search text.zarr line", 2, "text.zarr", "index", "gangsaw index text.zarr"),
    "no pattern": ("search text.zarr", 2, "pattern", "--file"),
    "not a genome": ("align reads.fastq text.zarr new.paf", 2, "text.zarr", "genome", "FASTA"),
    "file for a store": (
        "align reads.fastq g.fa new.paf",
        2,
        "g.fa",
        "no Zarr",
        "gangsaw compress",
    ),
    "order": ("compress reads.fastq new.zarr --order sort", 2, "--order", "'sort'", "sorted?"),
    "collection": ("append g.fa genome.zarr", 2, "genome.zarr", "collection", "gangsaw compress"),
}
REPERTOIRES = {
    "no species": ("tcr count t.tsv new.zarr", 2, "species", "--species human or mouse"),
    "species": ("tcr count t.tsv new.zarr --species dog", 2, "species", "'dog'", "human or mouse"),
    "chain": ("tcr count t.tsv new.zarr --species human --chain TRX", 2, "locus", "'TRX'", "TRB"),
    "no table": ("tcr count g.fa new.zarr --species human", 2, "g.fa", "columns", "junction"),
    "table is a folder": ("tcr count folder new.zarr --species human", 2, "folder", "table"),
    "no counts": ("tcr export scene.zarr new.tsv", 2, "scene.zarr", "gangsaw tcr count"),
}
CLUSTERS = {
    "workers in words": ("compress scene.hdr new.zarr --workers two", 2, "--workers", "'two'"),
    "too many workers": ("compress scene.hdr new.zarr --workers 900", 2, "900", "--oversubscribe"),
    "kind of cluster": ("compress scene.hdr new.zarr --cluster slrm", 2, "'slrm'", "slurm?"),
    "address": ("compress scene.hdr new.zarr --scheduler head", 2, "'head'", "tcp://HOST:8786"),
    "no scheduler": (f"compress scene.hdr new.zarr --scheduler {NOBODY}", 1, NOBODY, "start one"),
    "scheduler file": (
        "compress scene.hdr new.zarr --scheduler-file none.json",
        1,
        "none.json",
        "--scheduler-file",
    ),
    "one slash": ("compress scene.hdr s3:/bucket/a.zarr", 2, "s3:/bucket", "s3://bucket/a.zarr"),
    "protocol": ("info s4://bucket/a.zarr", 2, "s4://bucket/a.zarr", "s4"),
    "command": ("compres scene.hdr new.zarr", 2, "'compres'", "compress"),
}
MISTAKES = {**CUBES, **RADIO, **READS, **REPERTOIRES, **CLUSTERS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a file and a store of each kind."""
    place = tmp_path_factory.mktemp("mistakes")
    samples = cube("uint16", (3, 20, 30))
    gangsaw.compress(write_envi(place / "scene.hdr", samples), place / "scene.zarr", codec="none")
    write_envi(place / "alone.hdr", samples).with_suffix(".img").unlink()
    samples.tofile(place / "cube.raw")
    (place / "folder").mkdir()
    (place / "folder" / "notes").touch()
    letters = "".join(np.random.default_rng(1).choice(list("ACGT"), 2000))
    (place / "g.fa").write_text(f">chr1\n{letters}\n>chr2\nACGT\n")
    gangsaw.compress(place / "g.fa", place / "genome.zarr", format="genome")
    (place / "reads.fastq").write_text(f"@r\n{letters[:100]}\n+\n{'I' * 100}\n" * 9)
    (place / "a.log").write_text("a line\n" * 99)
    gangsaw.compress(place / "a.log", place / "text.zarr", format="text")
    (place / "t.tsv").write_text(tcr_tables.airr([tcr_tables.Record(id="a")]))
    return place


def contents(place: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.quick(cases=len(MISTAKES))
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_a_line(
    gangsaw: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    typed, code, *named = MISTAKES[mistake]
    monkeypatch.chdir(folder)
    monkeypatch.setattr(formats, "find_spec", without_pyuvdata)
    before = contents(folder)
    with dask.config.set({"gangsaw.connect-seconds": 0.2}):
        line = gangsaw(*typed.split(" ")).failed(code)
    assert [word for word in named if word not in line] == [], line
    assert "unexpected" not in line
    assert "None" not in line
    assert contents(folder) == before


def without_pyuvdata(name: str) -> ModuleSpec | None:
    """Return the spec of a module, as on a machine without the extra of radio astronomy."""
    return None if name == "pyuvdata" else importlib.util.find_spec(name)


def test_there_are_many() -> None:
    assert len(MISTAKES) >= 40
