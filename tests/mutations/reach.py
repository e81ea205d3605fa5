"""Plugin of pytest: writes the processor time of each test and the product functions that it runs.

    PYTHONPATH=tests python -m pytest -p mutations.reach --reach-out FOLDER --all

It needs Python 3.12 or newer (`sys.monitoring`). Compiled kernels are no Python code when they run:
`tests_of` finds their tests by the imports of modules. Processes that a test starts are not seen.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from mutations.mutate import FOLDERS, Mutation

ROOT = Path(__file__).resolve().parents[2]
TOOL = 3  # of `sys.monitoring`: 0 to 2 and 5 are debuggers, coverage, profilers, optimisers


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reach-out", type=Path, help="folder for what tests run")


class Recorder:
    """Functions that run, for each test of this process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"{os.getpid()}.jsonl").open("a", encoding="utf-8")
        self._ran: set[str] = set()
        self._numbers: dict[str, int] = {}
        folders = _installed_folders()
        skip, ran = sys.monitoring.DISABLE, self._ran.add  # type: ignore[attr-defined]

        def started(code: CodeType, _: int) -> object:
            for prefix, folder in folders:
                if code.co_filename.startswith(prefix) and code.co_name != "<module>":
                    name = f"{folder}{code.co_filename[len(prefix) :]}"
                    ran(f"{name}:{code.co_qualname.partition('.<locals>')[0]}")
                    break
            return skip

        events = sys.monitoring.events  # type: ignore[attr-defined]
        sys.monitoring.use_tool_id(TOOL, "reach")  # type: ignore[attr-defined]
        sys.monitoring.register_callback(TOOL, events.PY_START, started)  # type: ignore[attr-defined]
        sys.monitoring.set_events(TOOL, events.PY_START)  # type: ignore[attr-defined]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._ran.clear()
        sys.monitoring.restart_events()  # type: ignore[attr-defined]
        before = _processor_time()
        yield
        new = sorted(self._ran - self._numbers.keys())
        for name in new:
            self._numbers[name] = len(self._numbers)
        row = {"test": item.nodeid, "cpu": round(_processor_time() - before, 3), "new": new}
        row["ran"] = sorted(self._numbers[name] for name in self._ran)
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()


def _installed_folders() -> list[tuple[str, str]]:
    """Return the folders of the installed package, and what they are in the repository."""
    found = {name: import_module(f"gangsaw.{name}") for name in FOLDERS[:-1]}
    prefixes = [(f"{one.__path__[0]}/", f"{name}/") for name, one in found.items()]
    return [*prefixes, (f"{import_module('gangsaw').__path__[0]}/", "src/gangsaw/")]


def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("--reach-out")
    if folder:
        config.pluginmanager.register(Recorder(folder.resolve()))


def _processor_time() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usages)


@dataclass(frozen=True)
class Reach:
    """Tests by what they run.

    Attributes
    ----------
    cpu : processor seconds of each test
    by_function : tests of "file:function"
    by_file : tests of a file: they run a function of it
    """

    cpu: dict[str, float]
    by_function: dict[str, set[str]]
    by_file: dict[str, set[str]]

    def tests_of(self, mutation: Mutation) -> list[str]:
        """Return the tests that run what is mutated, the quick ones first."""
        if mutation.group == "kernels":
            found = self._tests_of_kernels(mutation.file)
        else:
            found = self.by_function.get(f"{mutation.file}:{mutation.function}", set())
        return sorted(found or self.of_folder(mutation, self.cpu), key=self._cost)

    def of_folder(self, mutation: Mutation, tests: Iterable[str]) -> list[str]:
        """Return the tests in the folder of `tests` that mirrors the mutated file's, cheap first.

        They run what is recorded of no test: what processes do that tests start.
        """
        folder = f"tests/{mutation.file.removeprefix('src/gangsaw/').rpartition('/')[0]}/"
        return sorted((test for test in tests if test.startswith(folder)), key=self._cost)

    def _cost(self, test: str) -> tuple[float, str]:
        return self.cpu.get(test, 1.0), test

    def _tests_of_kernels(self, file: str) -> set[str]:
        """Return tests that run Python which imports kernels of `file`, or import it themselves."""
        kernels, found = {file}, set[str]()
        waiting = [file]
        while waiting:
            for importer in importers().get(waiting.pop(), ()):
                found |= self.by_file.get(importer, set())
                if importer not in kernels and _is_kernel(importer):
                    kernels.add(importer)
                    waiting.append(importer)
        tests = {test for kernel in kernels for test in importers().get(kernel, ())}
        return found | {test for test in self.cpu if test.partition("::")[0] in tests}


def load(folder: Path) -> Reach:
    """Read what `Recorder` wrote."""
    reach = Reach({}, defaultdict(set), defaultdict(set))
    for path in sorted(folder.glob("*.jsonl")):
        names: list[str] = []
        for line in path.read_text().splitlines():
            row: dict[str, Any] = json.loads(line)
            reach.cpu[row["test"]] = row["cpu"]
            names += row["new"]
            for name in (names[number] for number in row["ran"]):
                reach.by_function[name].add(row["test"])
                reach.by_file[name.partition(":")[0]].add(row["test"])
    return reach


@lru_cache
def importers() -> dict[str, set[str]]:
    """Return for each file of the product the files that import it, tests among them."""
    names = {_module(p): p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py")}
    found: dict[str, set[str]] = defaultdict(set)
    for path in [*names.values(), *(ROOT / "tests").rglob("*.py")]:
        for name in _imported(path):
            if name in names:
                file = names[name].relative_to(ROOT).as_posix()
                found[file].add(path.relative_to(ROOT).as_posix())
    return found


@lru_cache
def _is_kernel(file: str) -> bool:
    return file.startswith(FOLDERS) and "numba.jit import" in (ROOT / file).read_text()


def _module(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    parts = parts[1:] if parts[0] == "src" else ["gangsaw", *parts]
    return ".".join(part for part in parts if part != "__init__")


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
