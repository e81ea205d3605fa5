"""Targets that are pipes, devices and links: written as they are, and never replaced."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from helpers.align_files import small_genome, write_fasta
from helpers.command_line import CommandLine
from helpers.hang import HANG

RUN = "import sys; from gangsaw.cli import main; sys.exit(main())"
FASTQ = "".join(f"@q{i}\n{'ACGT' * 20}\n+\n{'I' * 80}\n" for i in range(3000)).encode()


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from gangsaw import compress

    folder = tmp_path_factory.mktemp("reads")
    (folder / "a.fastq").write_bytes(FASTQ)
    compress(folder / "a.fastq", folder / "a.zarr")
    return folder / "a.zarr"


class Fifo:
    """A FIFO, and a thread that reads it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path, self._found = path, bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        self._found += self.path.read_bytes()

    def text(self) -> bytes:
        """Return what was written; the FIFO is one still."""
        self._thread.join(HANG)
        assert stat.S_ISFIFO(self.path.stat().st_mode)
        assert not self._thread.is_alive()
        return bytes(self._found)


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
def test_reads_go_to_a_fifo(
    gangsaw: CommandLine, reads: Path, tmp_path: Path, overwrite: tuple[str, ...]
) -> None:
    fifo = Fifo(tmp_path / "fifo")
    gangsaw.ok("decompress", reads, fifo.path, *overwrite, "--quiet")
    assert fifo.text() == FASTQ


@pytest.mark.full
def test_files_that_are_not_written_in_order_go_to_a_fifo(
    gangsaw: CommandLine, tmp_path: Path
) -> None:
    import xarray as xr

    data = xr.Dataset({"a": (("y", "x"), np.arange(12.0).reshape(3, 4))})
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    gangsaw.ok("compress", tmp_path / "a.nc", tmp_path / "a.zarr", "--quiet")
    fifo = Fifo(tmp_path / "fifo.nc")
    gangsaw.ok("decompress", tmp_path / "a.zarr", fifo.path, "--quiet")
    (tmp_path / "back.nc").write_bytes(fifo.text())
    with xr.open_dataset(tmp_path / "back.nc", engine="h5netcdf") as back:
        np.testing.assert_array_equal(back["a"], data["a"])


def test_alignments_go_to_a_fifo_and_to_nothing(gangsaw: CommandLine, tmp_path: Path) -> None:
    write_fasta(tmp_path / "g.fa", small_genome())
    gangsaw.ok("compress", tmp_path / "g.fa", tmp_path / "g.zarr", "--format", "genome", "--quiet")
    (tmp_path / "q.fa").write_text(f">q\n{small_genome()['chr1'][100:400]}\n")
    command = ("align", tmp_path / "q.fa", tmp_path / "g.zarr")
    gangsaw.ok(*command, tmp_path / "o.paf", "--quiet")
    fifo = Fifo(tmp_path / "fifo.paf")
    gangsaw.ok(*command, fifo.path, "--overwrite", "--quiet")
    assert fifo.text() == (tmp_path / "o.paf").read_bytes() != b""
    gangsaw.ok(*command, "/dev/null", "--format", "sam", "--quiet")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "-"])
def test_standard_output_holds_the_text_alone(reads: Path, tmp_path: Path, name: str) -> None:
    """Also where it is a file that has some text already."""
    command = [sys.executable, "-c", RUN, "decompress", str(reads), name, "--format", "fastq"]
    ran = subprocess.run(command, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, FASTQ), ran.stderr
    with (tmp_path / "log").open("wb") as file:
        file.write(b"before\n")
        file.flush()
        subprocess.run(command, stdout=file, check=True)
    assert (tmp_path / "log").read_bytes() == b"before\n" + FASTQ


def test_the_file_that_a_link_leads_to_is_written(
    gangsaw: CommandLine, reads: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.fastq"
    link.symlink_to(tmp_path / "there" / "real.fastq")
    gangsaw.ok("decompress", reads, link, "--quiet")
    assert "exists" in gangsaw("decompress", reads, link).failed(2)
    (tmp_path / "there" / "real.fastq").write_bytes(b"old")
    gangsaw.ok("decompress", reads, link, "--overwrite", "--quiet")
    assert link.is_symlink()
    assert (tmp_path / "there" / "real.fastq").read_bytes() == FASTQ


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
def test_a_store_is_not_written_to_a_fifo(
    gangsaw: CommandLine, tmp_path: Path, overwrite: tuple[str, ...]
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "a.txt").write_bytes(b"one\n")
    line = gangsaw("compress", tmp_path / "a.txt", tmp_path / "fifo", *overwrite).failed(2)
    assert "is no stream" in line
    assert str(tmp_path / "fifo") in line
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)


LINKED = [  # target, and what is written there
    ("link.zarr", "compress"),
    ("link.zarr.zip", "compress"),
    ("link.fastq", "decompress"),
]


@pytest.mark.parametrize("option", ["", "--overwrite", "--resume"])
@pytest.mark.parametrize(("name", "command"), LINKED)
def test_a_link_to_nothing_yet_is_written_through(
    gangsaw: CommandLine, reads: Path, tmp_path: Path, name: str, command: str, option: str
) -> None:
    source, link, end = tmp_path / "a.fastq", tmp_path / name, tmp_path / "there" / f"real-{name}"
    source.write_bytes(FASTQ)
    link.symlink_to(end)
    given = source if command == "compress" else reads
    options = [option] if option and (command, option) != ("decompress", "--resume") else []
    line = gangsaw(command, given, link, *options).failed(2)
    assert f"{link} is a symbolic link to {end}, and there is no directory {end.parent}" in line
    assert not end.parent.exists()
    end.parent.mkdir()
    gangsaw.ok(command, given, link, *options, "--quiet")
    assert link.is_symlink()
    assert end.exists()
    if command == "compress":
        gangsaw.ok("verify", link, "--quiet")
    else:
        assert end.read_bytes() == FASTQ
    gangsaw.ok(command, given, link, "--overwrite", "--quiet")
    assert link.is_symlink()
    assert sorted(path.name for path in end.parent.iterdir()) == [end.name]
    assert {path.name for path in tmp_path.iterdir()} == {source.name, name, "there"}


def test_a_store_is_written_below_a_link_to_nothing_yet(
    gangsaw: CommandLine, tmp_path: Path
) -> None:
    source, link, end = tmp_path / "a.fastq", tmp_path / "link", tmp_path / "there" / "real"
    source.write_bytes(FASTQ)
    link.symlink_to(end)
    line = gangsaw("compress", source, link / "a.zarr").failed(2)
    assert f"{link} is a symbolic link to {end}, and there is no directory {end.parent}" in line
    end.parent.mkdir()
    gangsaw.ok("compress", source, link / "a.zarr", "--quiet")
    assert (end / "a.zarr" / "zarr.json").is_file()


@pytest.mark.parametrize(("name", "command"), LINKED)
def test_a_link_to_itself_is_refused_as_a_target(
    gangsaw: CommandLine, reads: Path, tmp_path: Path, name: str, command: str
) -> None:
    source, link = tmp_path / "a.fastq", tmp_path / name
    source.write_bytes(FASTQ)
    link.symlink_to(link)
    line = gangsaw(command, source if command == "compress" else reads, link).failed(2)
    assert "leads to itself: give another name" in line
