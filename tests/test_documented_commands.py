"""Command lines in docstrings and pages: each script takes the arguments that they show."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from helpers.hang import HANG

from gangsaw.tasks.bench.table import Row

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "tests" / "benchmarks"
SOURCES = (ROOT / "tests", ROOT / "deploy")
LINE = re.compile(
    r"(?:^|[`#\s])((?:python|bash) (?:(?:tests|deploy)/[\w./-]+\.(?:py|sh)"
    r"|-m (?:faults|fuzz|kills|mutations)\b)[^`#;>\n]*)",
    re.MULTILINE,
)
# words that stand for values; what is between brackets may be left out
VALUES = {"CHUNKS": "1", "NUMBER": "1", "{seed}": "1"}
ENDS = ("", "in", "from")  # after them the sentence goes on
OWN = {path.stem for path in (ROOT / "tests").iterdir()} | {p.stem for p in BENCHMARKS.iterdir()}


def documented() -> Iterator[tuple[str, ...]]:
    """Yield the words of each command line, once."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    pages += [p for s in SOURCES for p in s.rglob("*") if p.suffix in (".py", ".md", ".sh")]
    texts = (p.read_text() for p in pages if p != Path(__file__).resolve())
    lines = {found[1] for text in texts for found in LINE.finditer(text)}
    yield from sorted({tuple(words) for line in lines if len(words := line.split()) > 1})


def arguments(words: tuple[str, ...]) -> list[str]:
    """Return what may be run: without brackets and marks of sentences, values for placeholders."""
    plain = re.sub(r"\[[^]]*\]", "", " ".join(words)).replace("...", "").split()
    kept = [word.strip(",.:)\"'") for word in plain]
    upto = next((i for i, word in enumerate(kept) if word in ENDS), len(kept))
    return [VALUES.get(word, word) for word in kept[:upto] if word != "NAME"]


COMMANDS = sorted({tuple(arguments(words)) for words in documented()})
SCRIPTS = {
    "deploy/gpu/measure.sh",
    "tests/benchmarks/run.py",
    "tests/check_wheel.py",
    "tests/lowest.py",
    "-m",
}


def test_the_search_finds_scripts() -> None:
    assert {words[1] for words in COMMANDS} >= SCRIPTS
    assert ("python", "tests/benchmarks/run.py", "ccsds123", "startup") in COMMANDS


@pytest.mark.quick(cases=4)
@pytest.mark.parametrize("script", sorted({c[: 3 if c[1] == "-m" else 2] for c in COMMANDS}))
def test_documented_commands_are_taken(script: tuple[str, ...]) -> None:
    """With --help at the end arguments are parsed, names and numbers checked, and nothing runs."""
    lines = [c for c in COMMANDS if c[: len(script)] == script]
    if script[-1].endswith("run.py"):  # it takes any of its names: one process, not thirty
        lines = [tuple(dict.fromkeys(word for line in lines for word in line))]
    for words in lines:
        program = [sys.executable] if words[0] == "python" else [words[0]]
        done = subprocess.run(
            [*program, *words[1:], "--help"],
            cwd=ROOT / "tests" if words[1] == "-m" else ROOT,
            capture_output=True,
            text=True,
            timeout=HANG,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
        options = [word for word in words[2:] if word.startswith("--")]
        missing = [option for option in options if option not in done.stdout]
        assert not missing, f"{' '.join(words)}: no {missing} in its --help"


@pytest.mark.full
def test_sections_of_benchmarks_can_be_imported_by_the_script() -> None:
    """The script's own search path has `helpers`, as pytest's has; peers may be absent."""
    code = (
        f"import sys; sys.path[0] = {str(BENCHMARKS)!r}\n"
        "import importlib, run\n"
        "for name in run.SECTIONS:\n"
        "    try: importlib.import_module(f'bench_{name}')\n"
        f"    except ModuleNotFoundError as e: assert e.name.partition('.')[0] not in {OWN!r}, e\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script of benchmarks, whose section `startup` has one row at once."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.delitem(sys.modules, "run", raising=False)
    module = importlib.import_module("run")
    for name in ("keep_memory", "touch_memory"):
        monkeypatch.setattr(module, name, lambda: None)
    bench = SimpleNamespace(rows=lambda: [Row("a row", 1.5, "s")])
    monkeypatch.setitem(sys.modules, "bench_startup", bench)
    return module


@pytest.mark.parametrize(("options", "text"), [((), "| a row | 1.5 s |"), (("--json",), '"a row"')])
def test_benchmarks_are_printed(
    options: tuple[str, ...],
    text: str,
    run: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "startup", *options])
    run.main()
    assert text in capsys.readouterr().out
