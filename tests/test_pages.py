"""Commands and Python code of the README and of the documentation run as they stand.

Each page is one test: its blocks run in order in one folder, which has small files of the names
that pages use. A comment before a block says where else it runs: `<!-- ci: run -->` by `.ci/run`,
`gpu` and `cluster` where there is one, `never` for what changes the machine.
"""

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

ROOT = Path(__file__).resolve().parents[1]
MARK = r"(?:<!-- ci: (run|gpu|cluster|never) -->\n)?"  # of what is not run here
BLOCK = re.compile(MARK + r"```(sh|python)\n(.*?)```", re.DOTALL)
GENERATED = (  # no examples of their own
    "_build",
    "reference",
    "explanation/results",
    "project/changelog",
    "project/contributing",
)
PAGES = [
    ROOT / "README.md",
    *(
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if not str(path.relative_to(ROOT / "docs")).startswith(GENERATED)
    ),
]
# stores that pages name without making them, and their sources
STORES: dict[str, tuple[Any, dict[str, Any]]] = {
    "scene.zarr": ("scene.hdr", {"bit_depth": "auto"}),
    "observation.zarr": ("observation.ms", {}),
    "reads.zarr": (["reads_1.fastq.gz", "reads_2.fastq.gz"], {}),
    "logs.zarr": ("access.log", {"format": "text"}),
    "genome.zarr": ("genome.fa.gz", {}),
}


def blocks_of(path: Path) -> list[tuple[str, str, str]]:
    """Return the mark, the language and the text of each block of a page."""
    return BLOCK.findall(path.read_text())


EXAMPLES = {
    str(path.relative_to(ROOT)): found
    for path in PAGES
    if (found := [(language, text) for mark, language, text in blocks_of(path) if not mark])
}
README = blocks_of(ROOT / "README.md")


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


def product(folder: Path) -> None:
    """Write prisma.he5, in the layout of PRISMA: cubes of 22 and 26 bands, 40 lines, 30 samples."""
    from helpers.product_files import write_prisma

    write_prisma(folder / "prisma.he5")


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
    commands = [text for mark, _, text in README if mark == "run"]
    for command, part in zip(commands, ("gangsaw demo", "pytest"), strict=True):
        assert part in command


def write_stores(text: str) -> None:
    """Write the stores that a block names, unless they exist or the block itself makes them."""
    for store, (sources, options) in STORES.items():
        makes = re.search(rf"compress\b[^\n]*\b{re.escape(store)}", text)
        if re.search(rf"\b{re.escape(store)}\b", text) and not makes and not Path(store).exists():
            package.compress(sources, store, **options)


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this test, with all files that examples read."""
    monkeypatch.chdir(tmp_path)
    for write_sources in (scene, product, observation, log, mates, genome):
        write_sources(tmp_path)
    return tmp_path


@pytest.mark.quick(cases=3)
@pytest.mark.parametrize("page", EXAMPLES)
@pytest.mark.usefixtures("sources")
def test_page(
    page: str,
    gangsaw: CommandLine,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In this process, without workers; Python blocks of a page share their names."""
    monkeypatch.setattr("gangsaw.tasks.api.functions.workers", lambda **_: nullcontext())
    names: dict[str, Any] = {}
    failures: list[str] = []

    def run(words: list[str], stdin: Path) -> int:
        with stdin.open() as file, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", file)
            ran = gangsaw(*words)
        failures.extend([ran.err] * (ran.code != 0))
        return ran.code

    for language, text in EXAMPLES[page]:
        write_stores(text)
        if language == "python":
            exec(text, names)
            continue
        code, written = run_shell(text, tmp_path_factory.mktemp("shell"), run)
        assert code == 0, (text, written, failures)


@pytest.mark.full
@pytest.mark.usefixtures("sources")
def test_an_example_in_a_shell() -> None:
    """As a user runs it: with the command that is installed, and its workers."""
    text = (
        "gangsaw compress access.log access.zarr && gangsaw verify access.zarr --against access.log"
    )
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
    """They were found, also below the folder of the documentation."""
    assert {language for blocks in EXAMPLES.values() for language, _ in blocks} == {"sh", "python"}
    assert any(page.startswith("docs/how-to") for page in EXAMPLES)


def test_the_example_on_a_gpu(cupy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene(tmp_path)
    monkeypatch.chdir(tmp_path)
    package.compress("scene.hdr", "scene.zarr")
    page = ROOT / "docs" / "how-to" / "gpu.md"
    (text,) = (
        text for mark, language, text in blocks_of(page) if (mark, language) == ("gpu", "python")
    )
    names: dict[str, Any] = {}
    exec(text, names)
    assert isinstance(names["window"], cupy.ndarray)
    expected = zarr.open_array("scene.zarr/data", mode="r")[:, 100:164, 200:264]
    np.testing.assert_array_equal(names["window"].get(), expected)
