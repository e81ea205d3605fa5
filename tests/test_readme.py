"""The README's examples run as they stand, on a small scene of the name they use."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import gangsaw
from gangsaw.tasks.formats.known.envi.text import header_text
from gangsaw.tasks.hyperspectral.synthetic import make_scene

README = (Path(__file__).parents[1] / "README.md").read_text()
MARK = r"(?:<!-- ci: (run|gpu|cluster) -->\n)?"  # of what is not run here
BLOCKS = re.findall(MARK + r"```(sh|python)\n(.*?)```", README, re.DOTALL)
EXAMPLES = [(language, text) for where, language, text in BLOCKS if not where]


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


@pytest.mark.long
def test_examples(tmp_path: Path) -> None:
    """All in one folder and in order: the later ones read what the earlier ones wrote."""
    assert {language for language, _ in EXAMPLES} == {"sh", "python"}
    scene(tmp_path)
    observation(tmp_path)
    log(tmp_path)
    mates(tmp_path)
    genome(tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for language, text in EXAMPLES:
        command = ["bash", "-euo", "pipefail", "-c"] if language == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*command, text],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            pytest.fail(f"{text}\n{done.stdout}\n{done.stderr}")


def test_the_example_on_a_gpu(cupy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene(tmp_path)
    monkeypatch.chdir(tmp_path)
    gangsaw.compress("scene.hdr", "scene.zarr")
    (text,) = (text for where, *of, text in BLOCKS if (where, *of) == ("gpu", "python"))
    names: dict[str, Any] = {}
    exec(text, names)
    assert isinstance(names["window"], cupy.ndarray)
    expected = zarr.open_array("scene.zarr/data", mode="r")[:, 100:164, 200:264]
    np.testing.assert_array_equal(names["window"].get(), expected)
