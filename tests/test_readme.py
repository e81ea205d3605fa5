"""The README's examples run as they stand, on small files of the names they use."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from helpers.hang import HANG
from helpers.shell_commands import run_shell

import gangsaw as package
from gangsaw.tasks.formats.envi.text import header_text
from gangsaw.tasks.hyperspectral.synthetic import make_scene

README = (Path(__file__).parents[1] / "README.md").read_text()
MARK = r"(?:<!-- ci: (run|gpu|cluster) -->\n)?"  # of what is not run here
BLOCKS = re.findall(MARK + r"```(sh|python)\n(.*?)```", README, re.DOTALL)
EXAMPLES = [(language, text) for where, language, text in BLOCKS if not where]
# what examples write that later ones read, and from which sources
STORES: dict[str, tuple[Any, dict[str, Any]]] = {
    "scene.zarr": ("scene.hdr", {"bit_depth": "auto"}),
    "reads.zarr": (["reads_1.fastq.gz", "reads_2.fastq.gz"], {}),
    "logs.zarr": ("access.log", {"format": "text"}),
    "genome.zarr": ("genome.fa.gz", {}),
}


def scene(folder: Path) -> None:
    """Write scene.hdr and its data: 8 bands, 200 x 300 pixels."""
    cube = make_scene(8, 200, 300, bit_depth=12).cube
    cube.tofile(folder / "scene.img")
    fields = {"samples": "300", "lines": "200", "bands": "8", "header offset": "0"}
    fields |= {"data type": "12", "interleave": "bsq", "byte order": "0"}
    (folder / "scene.hdr").write_text(header_text(fields))


def observation(folder: Path) -> None:
    """Write observation.ms."""
    from helpers.radio_files import write

    write(folder / "observation.ms")


def mates(folder: Path) -> None:
    """Write reads_1.fastq.gz and reads_2.fastq.gz, 1,100 records each."""
    rng = np.random.default_rng(3)
    for which in (1, 2):
        letters = rng.choice(list("ACGT"), (1100, 40))
        records = (f"@read {i}\n{''.join(s)}\n+\n{'I' * 40}\n" for i, s in enumerate(letters))
        text = "".join(records).encode()
        (folder / f"reads_{which}.fastq.gz").write_bytes(gzip.compress(text))


def genome(folder: Path) -> None:
    """Write genome.fa.gz, of chr1 and chrM."""
    letters = "".join(np.random.default_rng(4).choice(list("ACGT"), 3000))
    text = f">chr1\n{letters}\n>chrM\n{letters[:90]}\n"
    (folder / "genome.fa.gz").write_bytes(gzip.compress(text.encode()))


def log(folder: Path) -> None:
    """Write access.log, of 1,000 lines, and patterns.txt."""
    ends = (" connection refused" if i % 9 == 4 else "" for i in range(1000))
    lines = (f'10.0.0.{i % 9} - - "GET /{i % 77}" 200 {i}{end}\n' for i, end in enumerate(ends))
    (folder / "access.log").write_text("".join(lines))
    (folder / "patterns.txt").write_text("refused\nGET\n")


def test_the_commands_of_a_newcomer_are_marked_for_ci() -> None:
    commands = [text for where, _, text in BLOCKS if where == "run"]
    assert len(commands) == 3
    for command, part in zip(
        commands, ("gangsaw demo", "pytest", "gangsaw tcr count"), strict=True
    ):
        assert part in command


def write_stores(index: int) -> None:
    """Write the stores that an example reads: those that an earlier example names."""
    earlier = "".join(text for _, text in EXAMPLES[:index])
    for store, (sources, options) in STORES.items():
        if store in EXAMPLES[index][1] and store in earlier:
            package.compress(sources, store, **options)


IDS = [f"{number}-{language}" for number, (language, _) in enumerate(EXAMPLES)]


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test, with all files that examples read."""
    monkeypatch.chdir(tmp_path)
    for write_sources in (scene, observation, log, mates, genome):
        write_sources(tmp_path)
    return tmp_path


@pytest.mark.quick(cases=len(EXAMPLES))
@pytest.mark.parametrize("index", range(len(EXAMPLES)), ids=IDS)
@pytest.mark.usefixtures("sources")
def test_example(
    index: int,
    gangsaw: CommandLine,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In this process, without workers; it finds the stores of earlier examples that it reads."""
    write_stores(index)
    language, text = EXAMPLES[index]
    if language == "python":
        exec(text, {})
        return
    monkeypatch.setattr("gangsaw.tasks.api.functions.workers", lambda **_: nullcontext())
    failures: list[str] = []

    def run(words: list[str], stdin: Path) -> int:
        with stdin.open() as file, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", file)
            ran = gangsaw(*words)
        failures.extend([ran.err] * (ran.code != 0))
        return ran.code

    code, written = run_shell(text, tmp_path_factory.mktemp("shell"), run)
    assert code == 0, (text, written, failures)


@pytest.mark.full
@pytest.mark.usefixtures("sources")
def test_an_example_in_a_shell() -> None:
    """As a user runs it: with the command that is installed, and its workers."""
    (text,) = (text for _, text in EXAMPLES if text.startswith("gangsaw compress access.log"))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    if done.returncode:
        pytest.fail(f"{text}\n{done.stdout}\n{done.stderr}")


def test_both_languages_have_examples() -> None:
    """They were found, and so were the stores that later ones read."""
    assert {language for language, _ in EXAMPLES} == {"sh", "python"}
    commands = "".join(text for language, text in EXAMPLES if language == "sh")
    for store in STORES:
        assert re.search(rf"gangsaw compress .*{store}", commands), store


def test_the_example_on_a_gpu(cupy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene(tmp_path)
    monkeypatch.chdir(tmp_path)
    package.compress("scene.hdr", "scene.zarr")
    (text,) = (text for where, *of, text in BLOCKS if (where, *of) == ("gpu", "python"))
    names: dict[str, Any] = {}
    exec(text, names)
    assert isinstance(names["window"], cupy.ndarray)
    expected = zarr.open_array("scene.zarr/data", mode="r")[:, 100:164, 200:264]
    np.testing.assert_array_equal(names["window"].get(), expected)
