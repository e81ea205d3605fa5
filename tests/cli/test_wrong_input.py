"""Wrong input: the exit code, one clear line, and nothing harmed."""

from __future__ import annotations

import errno
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import dask
import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi

from gangsaw.tasks.formats.exporting.atomic import write_whole_files

USAGE, FAILURE = 2, 1


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """Return the header of a small ENVI scene."""
    return write_envi(tmp_path / "scene.hdr", cube())


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_missing_file(gangsaw: CommandLine, tmp_path: Path) -> None:
    line = gangsaw("compress", tmp_path / "no.hdr", tmp_path / "a.zarr").failed(USAGE)
    assert "no.hdr: no such file or directory" in line
    assert contents(tmp_path) == {}


def test_header_without_data(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    scene.with_suffix(".img").unlink()
    line = gangsaw("compress", scene, tmp_path / "a.zarr").failed(USAGE)
    assert "has no data file" in line
    assert set(contents(tmp_path)) == {"scene.hdr"}


def test_truncated_data_file(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    data = scene.with_suffix(".img")
    data.write_bytes(data.read_bytes()[:100])
    line = gangsaw("compress", scene, tmp_path / "a.zarr").failed(USAGE)
    assert "is truncated" in line
    assert "need 420 bytes, the file has 100" in line


def test_nan_in_floats_for_an_integer_codec(gangsaw: CommandLine, tmp_path: Path) -> None:
    samples = cube("float32")
    samples[1, 2, 3] = np.nan
    scene = write_envi(tmp_path / "f.hdr", samples)
    before = contents(tmp_path)
    command = ("compress", scene, tmp_path / "a.zarr", "--codec", "ccsds123", "--workers", 0)
    line = gangsaw(*command).failed(USAGE)
    assert "float32 samples and NaN at (1, 2, 3)" in line
    assert "gangsaw.ccsds123 codes integers: scale them to integers first" in line
    assert contents(tmp_path) == before


@pytest.mark.parametrize("dtype", ["bool", "complex64"])
def test_other_dtypes_for_an_integer_codec(
    gangsaw: CommandLine, tmp_path: Path, dtype: str
) -> None:
    zarr.create_array(tmp_path / "s.zarr", data=np.zeros((2, 3, 4), dtype))
    command = ("compress", tmp_path / "s.zarr", tmp_path / "a.zarr", "--codec", "ccsds123")
    assert f"{dtype} samples" in gangsaw(*command, "--workers", 0).failed(USAGE)


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_more_bits_than_bit_depth(gangsaw: CommandLine, tmp_path: Path, dtype: str) -> None:
    samples = np.zeros((5, 7, 6), dtype)
    samples[3, 2, 1] = 5000 if dtype == "uint16" else -5000
    scene = write_envi(tmp_path / "d.hdr", samples)
    before = contents(tmp_path)
    command = ("compress", scene, tmp_path / "a.zarr", "--bit-depth", 12, "--workers", 0)
    line = gangsaw(*command).failed(USAGE)
    needed = 13 if dtype == "uint16" else 14
    assert f"sample {samples[3, 2, 1]} at band 3, y 2, x 1 of data needs {needed} bits" in line
    assert f"use --bit-depth {needed} or auto" in line
    assert contents(tmp_path) == before


def test_target_exists(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    target = tmp_path / "a.zarr"
    gangsaw.ok("compress", scene, target, "--workers", 0)
    before = contents(tmp_path)
    line = gangsaw("compress", scene, target, "--workers", 0).failed(USAGE)
    assert "exists: give another name, or --overwrite" in line
    for copy in ("scene.hdr", "scene.img", "scene.nc", "scene.raw"):
        (tmp_path / copy).touch()
        line = gangsaw("decompress", target, tmp_path / copy, "--accept-loss").failed(USAGE)
        assert "exists: give another name, or --overwrite" in line
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before


def test_overwrite_spares_what_is_no_store(
    gangsaw: CommandLine, tmp_path: Path, scene: Path
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1").write_text("...")
    command = ("compress", scene, tmp_path / "thesis", "--overwrite", "--workers", 0)
    assert "is no Zarr store" in gangsaw(*command).failed(USAGE)
    assert (tmp_path / "thesis" / "chapter1").read_text() == "..."


def test_no_space_left(gangsaw: CommandLine, tmp_path: Path, tmpfs: Callable[[str], Path]) -> None:
    scene = write_envi(tmp_path / "big.hdr", cube(shape=(20, 200, 200)))
    before = contents(tmp_path)
    full = tmpfs("size=256k")
    line = gangsaw("compress", scene, full / "a.zarr", "--workers", 0).failed(FAILURE)
    assert "No space left on device" in line
    assert "--resume" in line
    gangsaw.ok("compress", scene, tmp_path / "b.zarr", "--workers", 0)
    for copy in ("b.hdr", "b.raw", "b.nc"):
        command = ("decompress", tmp_path / "b.zarr", full / copy, "--accept-loss")
        line = gangsaw(*command).failed(FAILURE)
        assert "No space left on device: free some space" in line
        assert str(full) in line
    assert {path.name for path in full.iterdir()} <= {"a.zarr"}  # nothing half-written
    again = ("decompress", tmp_path / "b.zarr", full / "c.zarr")
    assert "again with --resume" in gangsaw(*again).failed(FAILURE)
    subprocess.run(["mount", "-o", "remount,size=64m", str(full)], check=True)
    gangsaw.ok(*again, "--resume")
    gangsaw.ok("verify", full / "c.zarr", "--against", tmp_path / "b.zarr")
    line = gangsaw("decompress", tmp_path / "b.zarr", full / "b.hdr", "--resume").failed(USAGE)
    assert "only a Zarr store can be resumed" in line
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_read_only_target(
    gangsaw: CommandLine, tmp_path: Path, scene: Path, tmpfs: Callable[[str], Path]
) -> None:
    folder = tmpfs("size=4m")
    gangsaw.ok("compress", scene, folder / "a.zarr", "--workers", 0)
    before = contents(folder)
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    for command in (
        ("compress", scene, folder / "b.zarr", "--workers", 0),
        ("compress", scene, folder / "a.zarr", "--overwrite", "--workers", 0),
        ("decompress", folder / "a.zarr", folder / "b.hdr"),
        ("decompress", folder / "a.zarr", folder / "b.nc"),
        ("decompress", folder / "a.zarr", folder / "b.zarr"),
    ):
        assert "Read-only file system" in gangsaw(*command).failed(FAILURE)
    assert contents(folder) == before


def test_a_scheduler_that_is_not_there(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    command = ("compress", scene, tmp_path / "a.zarr", "--scheduler", "tcp://127.0.0.1:9")
    with dask.config.set({"gangsaw.connect-seconds": 1}):
        line = gangsaw(*command).failed(FAILURE)
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in line
    assert not (tmp_path / "a.zarr").exists()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ("--codec", "jpeg"),
            "--codec must be auto, bwt, ccsds123, dna, ",
        ),
        (("--param", "mode"), "--param must be NAME=VALUE"),
        (("--param", "mode=fast"), "mode must be one of full, reduced, got 'fast'"),
        (("--param", "nope=1"), "unknown parameter 'nope'; known are"),
        (("--param", "prediction_bands=16"), "prediction_bands must be in 0..15, got 16"),
        (("--block", "a,b"), "--block cannot be 'a,b': pass integers"),
        (("--chunks", "1,2"), "must be 3 extents"),
        (("--chunks", "t=3"), "has no axis 't'; it has band, y, x"),
        (("--chunks", "y=three"), "--chunks must be such as"),
        (("--bit-depth", "many"), "--bit-depth must be auto or a number"),
        (("--bit-depth", "17"), "must be in 2..16, got 17"),
        (("--codec", "zstd", "--block", "0,8,8"), "no array has codec parameters"),
        (
            ("--effort", "fast"),
            "no array has --effort, an option of gangsaw.bwt and gangsaw.visibility: data",
        ),
        (("--codec", "none", "--bit-depth", "9"), "(uint16) goes to plain samples"),
        (("--workers", "-1"), "--workers"),
        (("--frobnicate",), "No such option: --frobnicate"),
    ],
)
def test_wrong_options(
    gangsaw: CommandLine, tmp_path: Path, scene: Path, options: tuple[str, ...], line: str
) -> None:
    command = ("compress", scene, tmp_path / "a.zarr", "--workers", 0, *options)
    assert line in gangsaw(*command).failed(USAGE)
    assert not (tmp_path / "a.zarr").exists()


@pytest.mark.parametrize(
    ("text", "line"),
    [(None, "no such file"), ("{", "is not JSON"), ("[1]", "must hold a JSON object")],
)
def test_wrong_params_file(
    gangsaw: CommandLine, tmp_path: Path, scene: Path, text: str | None, line: str
) -> None:
    if text is not None:
        (tmp_path / "p.json").write_text(text)
    command = ("compress", scene, tmp_path / "a.zarr", "--params", tmp_path / "p.json")
    assert line in gangsaw(*command, "--workers", 0).failed(USAGE)


@pytest.mark.parametrize("command", ["compress {0}.hdr {0}.zarr", "verify {0}.zarr"])
def test_a_wrong_thread_limit(
    gangsaw: CommandLine, scene: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("GANGSAW_THREADS", "many")
    before = contents(scene.parent)
    line = gangsaw(*command.format(scene.with_suffix("")).split()).failed(USAGE)
    assert "GANGSAW_THREADS must be a number" in line
    assert contents(scene.parent) == before


def test_wrong_commands(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    assert "No such command 'compres'" in gangsaw("compres").failed(USAGE)
    assert "target" in gangsaw("compress", scene).failed(USAGE).lower()
    assert "is of no format" in gangsaw("decompress", scene, tmp_path / "a.xyz").failed(USAGE)
    gangsaw.ok("decompress", scene, tmp_path / "plain.zarr", "--workers", 0)  # it need be no store
    assert "no such store" in gangsaw("verify", tmp_path / "none.zarr").failed(USAGE)
    assert "no Zarr" in gangsaw("info", tmp_path / "none.zarr").failed(USAGE)


def test_a_damaged_store(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    store = tmp_path / "a.zarr"
    gangsaw.ok("compress", scene, store, "--workers", 0)
    chunk = store / "data" / "c" / "0" / "0" / "0"
    data = bytearray(chunk.read_bytes())
    data[-1] ^= 1
    chunk.write_bytes(data)
    for command in (
        ("decompress", store, tmp_path / "b.hdr"),
        ("decompress", store, tmp_path / "b.nc"),
    ):
        line = gangsaw(*command).failed(FAILURE)
        assert "checksum" in line
    assert not list(tmp_path.glob("*b.*"))
    ran = gangsaw("verify", store, "--json")
    assert ran.code == FAILURE
    assert not ran.figures["ok"]
    assert len(ran.figures["problems"]) == ran.err.count("\n") == 1
    chunk.write_bytes(data[:20])
    assert "too few" in gangsaw("info", store).failed(FAILURE)


def test_damaged_metadata(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    store = tmp_path / "a.zarr"
    gangsaw.ok("compress", scene, store, "--workers", 0)
    (store / "data" / "zarr.json").write_text("{")
    for command in ("info", "verify"):
        assert "damaged" in gangsaw(command, store).err


def test_traceback_on_demand(gangsaw: CommandLine, tmp_path: Path) -> None:
    ran = gangsaw("info", "--traceback", tmp_path / "none.zarr")
    assert ran.code == USAGE
    assert "Traceback (most recent call last)" in ran.err
    assert ran.err.splitlines()[-1].startswith("gangsaw: ")


def test_a_damaged_stream(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    stream = tmp_path / "a.c123"
    gangsaw.ok("stream", "encode", scene, stream)
    assert "exists" in gangsaw("stream", "encode", scene, stream).failed(USAGE)
    stream.write_bytes(stream.read_bytes()[:-9])
    line = gangsaw("stream", "decode", stream, tmp_path / "b.hdr").failed(FAILURE)
    assert str(stream) in line
    assert not (tmp_path / "b.hdr").exists()
    assert "no such file" in gangsaw("stream", "decode", "no.c123", "b.hdr").failed(USAGE)
    (tmp_path / "p.json").write_text(json.dumps({"mode": "fast"}))
    command = ("stream", "encode", scene, tmp_path / "c.c123", "--params", tmp_path / "p.json")
    assert "mode must be one of" in gangsaw(*command).failed(USAGE)
    folder = ("stream", "encode", scene, tmp_path / "c.c123", "--params", tmp_path)
    line = gangsaw(*folder).failed(USAGE)
    assert line == f"gangsaw: {tmp_path} is a folder: --params needs a JSON file\n"
    line = gangsaw("stream", "decode", tmp_path, tmp_path / "b.hdr").failed(USAGE)
    assert line == f"gangsaw: {tmp_path} is a folder: name a CCSDS-123 file\n"


def test_an_address_that_is_none(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    command = ("compress", scene, tmp_path / "a.zarr", "--scheduler", "head-node")
    line = gangsaw(*command).failed(USAGE)
    assert "'head-node' is no address of a Dask scheduler; use tcp://HOST:8786" in line


def test_a_group_of_commands_alone(gangsaw: CommandLine) -> None:
    assert "Missing command" in gangsaw("stream").failed(USAGE)


def test_a_demo_of_nothing_leaves_no_folder(gangsaw: CommandLine, tmp_path: Path) -> None:
    line = gangsaw("demo", tmp_path / "no.hdr", "--out", tmp_path / "demo").failed(USAGE)
    assert "no.hdr: no such file or directory" in line
    assert contents(tmp_path) == {}


def test_current_directory_that_is_gone(
    gangsaw: CommandLine, tmp_path: Path, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    line = gangsaw("compress", scene, "a.zarr", "--workers", 0).failed(FAILURE)
    assert "the current directory no longer exists" in line


def test_a_file_that_cannot_be_written_is_named_as_the_user_did(tmp_path: Path) -> None:
    target = tmp_path / "copy.raw"

    def write() -> None:
        with write_whole_files([target], overwrite=False) as (part,):
            raise OSError(errno.EROFS, "Read-only file system", str(part))

    with pytest.raises(OSError, match="Read-only file system") as caught:
        write()
    assert caught.value.filename == str(target)


def test_a_format_without_a_source_is_refused(
    gangsaw: CommandLine, tmp_path: Path, scene: Path
) -> None:
    gangsaw.ok("compress", scene, tmp_path / "a.zarr", "--workers", 0)
    line = gangsaw("verify", tmp_path / "a.zarr", "--format", "raw").failed(USAGE)
    assert "--format describes a source: name the source by --against" in line


def test_a_size_of_a_source_is_refused(gangsaw: CommandLine, scene: Path) -> None:
    line = gangsaw("bench", scene, "--size", "8,16,16", "--rounds", 1).failed(USAGE)
    assert "--size is of a synthetic scene" in line
