"""Completion by a shell: commands, options and the values of those that take one of a few words."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from helpers.command_line import CommandLine

from gangsaw.cli import main
from gangsaw.codecs.core import codec_table

HEAVY = ("dask", "distributed", "numba", "numpy", "zarr")
RUN = "import sys; from gangsaw.cli import main; main()"


def asked(line: str) -> dict[str, str]:
    """What bash's function says of the last word of a line."""
    last = str(len(line.split(" ")) - 1)
    return {"_GANGSAW_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": last}


Completed = Callable[[str], set[str]]


@pytest.fixture
def completed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Completed:
    """Return what a line is completed by."""

    def complete(line: str) -> set[str]:
        for name, value in asked(line).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main([])
        assert not ended.value.code
        found = capsys.readouterr()
        assert found.err == ""
        return set(found.out.split())

    return complete


def test_nothing_heavy_is_imported() -> None:
    told = f"import atexit, sys; atexit.register(lambda: print(*set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{told}; {RUN}"],
        env={**os.environ, **asked("gangsaw compress --codec b")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["bwt"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gangsaw inde", {"index", "index-genome", "index-reads"}),
        ("gangsaw tcr sh", {"share"}),
        ("gangsaw compress --cod", {"--codec"}),
        ("gangsaw compress a.hdr --device ", {"cpu", "gpu"}),
        ("gangsaw decompress a.zarr --cluster s", {"slurm", "ssh"}),
        ("gangsaw compress --format fast", {"fasta", "fastq"}),
        ("gangsaw compress --codec dna --param m", {"mode="}),
        ("gangsaw compress --effort ", {"fast", "dense"}),
        ("gangsaw tcr count --model ", {"dp1", "dp2", "both"}),
        ("gangsaw index-reads a.zarr ", {"names", "bins"}),
        ("gangsaw completion ", {"bash", "zsh", "fish"}),
    ],
)
def test_what_is_offered(completed: Completed, line: str, words: set[str]) -> None:
    assert completed(line) == words


def test_every_codec_is_offered(completed: Completed) -> None:
    names = {name.removeprefix("gangsaw.") for name in codec_table.names()}
    assert completed("gangsaw compress --codec ") == {"auto", *names, "zstd", "none"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(gangsaw: CommandLine, shell: str) -> None:
    script = gangsaw.ok("completion", shell).out
    assert "_GANGSAW_COMPLETE=complete_" + shell in script
    assert "--no-files" not in script  # files are completed, too
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script.encode(), check=True)


def test_an_unknown_shell(gangsaw: CommandLine) -> None:
    assert "shell must be bash, zsh or fish" in gangsaw("completion", "tcsh").failed(2)


def test_what_completes_is_what_is_taken() -> None:
    from gangsaw.tasks.genomics.align.commands.align import FORMATS
    from gangsaw.tasks.genomics.align.output import formats

    assert tuple(formats.FORMATS) == FORMATS
