"""What first commands compile: `python tests/benchmarks/compiled.py [NAME...] [--top 30]`.

Each command runs once in this process's folder of its own, without a cache, and with one worker in
its own process. A row per command: processor seconds, of which compiling and LLVM; compilations
and functions. Then the functions that took longest.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gangsaw.tasks.bench.table import say

HOOK = Path(__file__).parent / "compile_hook"
HERE = ["--workers", "0", "--quiet"]
COMMANDS = {
    "fastq-in": ["compress", "a.fastq", "out.zarr"],
    "fastq-out": ["decompress", "fastq.zarr", "b.fastq"],
    "genome-in": ["compress", "a.fa", "out.zarr"],
    "genome-out": ["decompress", "fa.zarr", "b.fa"],
    "align": ["align", "a.fastq", "fa.zarr", "out.paf"],
    "text-in": ["compress", "a.log", "out.zarr"],
    "text-out": ["decompress", "log.zarr", "b.log"],
    "index": ["index", "fa.zarr"],
    "search": ["search", "fa.zarr", "ACGTTGCA"],
    "vis-in": ["compress", "vis.zarr", "out.zarr"],
    "vis-out": ["decompress", "coded.zarr", "b.zarr"],
    "demo": ["demo", "--out", "demo"],
    "tcr": ["tcr", "count", "r.tsv", "paths.zarr", "--species", "human"],
}
NEEDS = {
    "fastq.zarr": ["compress", "a.fastq", "fastq.zarr"],
    "fa.zarr": ["compress", "a.fa", "fa.zarr"],
    "log.zarr": ["compress", "a.log", "log.zarr"],
    "coded.zarr": ["compress", "vis.zarr", "coded.zarr"],
}


class Compilation(NamedTuple):
    """A row of the hook's file."""

    name: str
    types: list[str]
    wrapped: bool
    depth: int
    seconds: float
    own: float
    llvm: float


class Run(NamedTuple):
    """A command's processor seconds, and what was compiled."""

    seconds: float
    compiled: list[Compilation]

    def row(self, name: str) -> str:
        """The row of a table."""
        own, llvm = (sum(getattr(c, f) for c in self.compiled) for f in ("own", "llvm"))
        functions = len({c.name for c in self.compiled})
        figures = f"{self.seconds:.1f} | {own:.1f} | {llvm:.1f} | {len(self.compiled)}"
        return f"| {name} | {figures} | {functions} |"


def sources(folder: Path) -> None:
    """Write small files that each command reads."""
    rng = np.random.default_rng(1)
    genome = rng.choice(list("ACGT"), 48_000)
    lines = ("".join(genome[at : at + 70]) for at in range(0, genome.size, 70))
    (folder / "a.fa").write_text(">lambda\n" + "\n".join(lines) + "\n")
    (folder / "a.fastq").write_text("".join(_read(rng, genome, n) for n in range(20_000)))
    (folder / "a.log").write_text("".join(_line(rng, n) for n in range(20_000)))
    (folder / "r.tsv").write_text(_repertoire(rng))
    _visibilities(folder / "vis.zarr", rng)


def _read(rng: np.random.Generator, genome: Any, n: int) -> str:
    at = int(rng.integers(genome.size - 150))
    wrong = rng.random(150) < 0.005
    bases = np.where(wrong, rng.choice(list("ACGTN"), 150), genome[at : at + 150])
    quality = rng.choice(list("#,:F"), 150, p=[0.01, 0.05, 0.1, 0.84])
    name = f"@A00123:8:HX:1:{1101 + n // 5000}:{rng.integers(30000)}:{rng.integers(30000)} 1:N:0:AC"
    return f"{name}\n{''.join(bases)}\n+\n{''.join(quality)}\n"


def _line(rng: np.random.Generator, n: int) -> str:
    what = ["GET /index.html", "POST /form", "connection refused", "disk full"][rng.integers(4)]
    return f"2026-01-01T00:{n // 600 % 60:02}:{n // 10 % 60:02} host{rng.integers(9)} {what} {n}\n"


def _repertoire(rng: np.random.Generator) -> str:
    head = "sequence_id\tjunction\tv_call\tj_call\tduplicate_count\n"
    middles = ("".join(rng.choice(list("ACGT"), 12)) for _ in range(2000))
    rows = (
        f"s{n}\tTGTGCCAGCAGC{m}AATGAGCAGTTCTTC\tTRBV12-3*01\tTRBJ2-1*01\t1\n"
        for n, m in enumerate(middles)
    )
    return head + "".join(rows)


def _visibilities(path: Path, rng: np.random.Generator) -> None:
    import zarr

    noise = rng.normal(size=(64, 16, 64, 8)).astype("f4").view("c8")
    zarr.open_group(str(path), mode="w").create_array("vis", data=noise)


def run(command: list[str], folder: Path, cache: str | None) -> Run:
    """Run a command in a folder, with the given cache of kernels or this process's own."""
    with tempfile.TemporaryDirectory() as log:
        path = os.pathsep.join([str(HOOK), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "COMPILE_LOG": log, "PYTHONPATH": path}
        if cache is not None:
            environment["NUMBA_CACHE_DIR"] = cache
        words = [str(Path(sys.executable).parent / "gangsaw"), *command]
        before = _children()
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
        seconds = _children() - before
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")
        return Run(seconds, list(_compilations(Path(log))))


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _compilations(log: Path) -> Iterable[Compilation]:
    for file in sorted(log.iterdir()):
        yield from (Compilation(**json.loads(line)) for line in file.read_text().splitlines())


def longest(compiled: list[Compilation], top: int) -> Iterable[str]:
    """Yield the functions whose compilations took longest, all signatures together."""
    kinds: dict[str, list[Compilation]] = defaultdict(list)
    for compilation in compiled:
        kinds[compilation.name].append(compilation)
    ordered = sorted(kinds.items(), key=lambda item: -sum(c.own for c in item[1]))
    for name, rows in ordered[:top]:
        own, llvm, whole = (sum(getattr(c, f) for c in rows) for f in ("own", "llvm", "seconds"))
        wrapped = "wrapped" if rows[0].wrapped else ""
        yield f"{own:7.2f} {llvm:7.2f} {whole:7.2f} {len(rows):3} {wrapped:8}{name}"


def main() -> None:
    """Print the table of the commands that are named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--top", type=int, default=25)
    parser.add_argument("--json", type=Path, help="folder for all compilations of each command")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources(folder)
        for command in asked.names or COMMANDS:
            first(command, folder, asked)


def first(name: str, folder: Path, asked: argparse.Namespace) -> None:
    """Run a command without a cache, and print what it took."""
    command = COMMANDS[name]
    for word in command:
        if word in NEEDS and not (folder / word).exists():
            run([*NEEDS[word], *HERE], folder, None)
    if name == "search":
        run([*COMMANDS["index"], *HERE, "--overwrite"], folder, None)
    for made in ("out.zarr", "out.paf", "b.fastq", "b.fa", "b.log"):
        subprocess.run(["rm", "-rf", str(folder / made)], check=True)
    with tempfile.TemporaryDirectory() as cache:
        done = run([*command, *([] if name == "search" else HERE)], folder, cache)
    say(done.row(name))
    say("\n".join(longest(done.compiled, asked.top)))
    if asked.json:
        asked.json.mkdir(exist_ok=True)
        (asked.json / f"{name}.json").write_text(json.dumps([c._asdict() for c in done.compiled]))


if __name__ == "__main__":
    main()
