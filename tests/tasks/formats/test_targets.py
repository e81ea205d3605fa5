"""Targets that a command cannot write are refused before it reads anything."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from helpers.radio_files import write

import gangsaw
from gangsaw import BadParams
from gangsaw.tasks.formats.contract.table import writable

USAGE = 2
OTHERS = sorted({s for kind in writable() for s in kind.suffixes} - {".zarr", ".zip"})


def store(path: Path) -> Path:
    zarr.create_array(path, data=np.eye(4, dtype="u2"), dimension_names=("y", "x"))
    return path


@pytest.mark.parametrize("suffix", OTHERS)
def test_compress_writes_no_other_format(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"out{suffix}"
    with pytest.raises(BadParams, match=r"compress writes a Zarr store, and .*: name it out\.zarr"):
        gangsaw.compress(store(tmp_path / "a.zarr"), target)
    assert not target.exists()


def test_a_store_is_no_stream(gangsaw: CommandLine, tmp_path: Path) -> None:
    line = gangsaw("compress", store(tmp_path / "a.zarr"), "-").failed(USAGE)
    assert "a Zarr store is no stream: name a folder" in line
    line = gangsaw("decompress", tmp_path / "a.zarr", "-", "--format", "zarr").failed(USAGE)
    assert "Zarr cannot go to standard output" in line


@pytest.mark.parametrize(
    "kind", [k.name for k in writable() if not k.writes_streams and 1 in k.paths]
)
def test_only_streams_go_to_standard_output(
    gangsaw: CommandLine, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = gangsaw("decompress", store(tmp_path / "a.zarr"), "-", "--format", kind).failed(USAGE)
    assert "name a file" in line or "standard output" in line
    assert {path.name for path in tmp_path.iterdir()} == {"a.zarr"}


@pytest.mark.parametrize("name", ["p.xyz", "p", "p.PNGX", "p.jpg"])
def test_pictures_of_other_kinds(gangsaw: CommandLine, tmp_path: Path, name: str) -> None:
    there_is_none = tmp_path / "none.zarr"  # nothing is opened before
    line = gangsaw("info", there_is_none, "--plot", tmp_path / name).failed(USAGE)
    assert "a picture is .png, .pdf or .svg" in line


@pytest.mark.parametrize(
    ("name", "start"), [("p.png", b"\x89PNG"), ("p.pdf", b"%PDF"), ("p.svg", b"<?xml")]
)
def test_pictures_are_what_their_names_say(
    gangsaw: CommandLine, tmp_path: Path, name: str, start: bytes
) -> None:
    cube = np.arange(8 * 64 * 64, dtype="u2").reshape(8, 64, 64)
    zarr.create_array(tmp_path / "a.zarr", data=cube, dimension_names=("band", "y", "x"))
    gangsaw.ok("compress", tmp_path / "a.zarr", tmp_path / "b.zarr", "--quiet", "--workers", 0)
    gangsaw.ok("info", tmp_path / "b.zarr", "--plot", tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.full
@pytest.mark.parametrize("name", ["x.png", "x", "x.xyz"])
def test_a_suffix_of_no_format_is_for_records_alone(tmp_path: Path, name: str) -> None:
    """As the README has it: others are asked for the format."""
    np.ones((3, 20, 30), "<u2").tofile(tmp_path / "scene.img")
    (tmp_path / "scene.hdr").write_text(
        "ENVI\nsamples = 30\nlines = 20\nbands = 3\ndata type = 12\ninterleave = bsq\n"
    )
    gangsaw.compress(tmp_path / "scene.img", tmp_path / "scene.zarr")
    with pytest.raises(BadParams, match="is of no format: pass --format"):
        gangsaw.decompress(tmp_path / "scene.zarr", tmp_path / name)
    assert not (tmp_path / name).exists()
    (tmp_path / "reads.fastq").write_bytes(written := b"@a\nACGT\n+\nIIII\n")
    gangsaw.compress(tmp_path / "reads.fastq", tmp_path / "reads.zarr")
    gangsaw.decompress(tmp_path / "reads.zarr", tmp_path / name)
    assert (tmp_path / name).read_bytes() == written


@pytest.mark.parametrize(("name", "is_written"), [("o.fits", False), ("o.xyz", False), ("o", True)])
def test_a_folder_has_the_suffix_of_its_format_or_none(
    tmp_path: Path, name: str, is_written: bool
) -> None:
    """A MeasurementSet named o.fits is a mistake."""
    write(tmp_path / "a.ms")
    gangsaw.compress(tmp_path / "a.ms", tmp_path / "a.zarr")
    with nullcontext() if is_written else pytest.raises(BadParams, match="is of no format: pass"):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / name)
    assert (tmp_path / name).exists() == is_written


def test_one_file_is_no_two_targets(gangsaw: CommandLine, tmp_path: Path) -> None:
    for mate in "12":
        (tmp_path / f"a_{mate}.fq").write_bytes(b"@r/" + mate.encode() + b"\nACGT\n+\nIIII\n")
    reads, copy = [tmp_path / "a_1.fq", tmp_path / "a_2.fq"], tmp_path / "copy.fq"
    gangsaw.ok("compress", *reads, tmp_path / "r.zarr")
    same = tmp_path / "x" / ".." / copy.name
    (tmp_path / "x").mkdir()
    for command in (
        ("decompress", tmp_path / "r.zarr", copy, same),
        ("decompress", tmp_path / "r.zarr", copy, same, "--dry-run"),
        ("bin", *reads, copy, "--mates", same),
    ):
        assert "is named twice: name another file for each target" in gangsaw(*command).failed(
            USAGE
        )
        assert not copy.exists()
