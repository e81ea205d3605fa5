"""The sizes that keep the code readable, and one name for one thing."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

REPOSITORY = Path(__file__).parents[1]
PACKAGE = ("codecs", "tasks", "cluster", "src")
ALL = (*PACKAGE, "tests", "notebooks", "deploy", ".ci")
SUFFIXES = {".py", ".cu", ".cuh"}
FILE_LINES = 400
MEDIAN_LINES = 10
FUNCTION_LINES = 60
PARAMETERS = 10
# functions that may be longer: file and name, with the reason
LONG: dict[str, str] = {}
# those that may have more parameters
MANY = {
    "tasks/api/functions.py compress": "what a user says of a job, all but two by keyword",
    "tasks/api/functions.py decompress": "likewise",
}
# names that several classes have, where: one idea, or public in each place
SHARED = {
    "Capabilities": "codecs/*/selection.py",  # of each codec, with the base class in the core
    "Params": "codecs/*/params.py",
    "Reads": "*/reads/*.py",  # gangsaw.codecs.Reads, and gangsaw.reads.Reads
}

KERNEL = re.compile(r"^(from|import) (gangsaw\.codecs\.core\.)?(numba|entropy)", re.MULTILINE)

CLAIM = re.compile(r"\b(faster|slower|quicker)\b|\bas (fast|slow) as\b")
CLAIMS = {"codecs/dna/letters/pack.py"}  # no row says so yet

Function = ast.FunctionDef | ast.AsyncFunctionDef


def files(folders: tuple[str, ...]) -> Iterator[Path]:
    for folder in folders:
        paths = (REPOSITORY / folder).rglob("*")
        yield from sorted(path for path in paths if path.suffix in SUFFIXES)


class Definition(NamedTuple):
    """A function or a class of the package.

    Not its tree: trees of all files slow each garbage collection down.
    """

    file: str
    name: str
    line: int
    body_lines: int = 0
    parameters: int = 0
    is_class: bool = False


@cache
def definitions() -> list[Definition]:
    """Every function and class of the package."""
    found = []
    for path in files(PACKAGE):
        if path.suffix == ".py":
            name = path.relative_to(REPOSITORY).as_posix()
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, Function):
                    sizes = body_lines(node), parameters(node)
                    found.append(Definition(name, node.name, node.lineno, *sizes))
                elif isinstance(node, ast.ClassDef):
                    found.append(Definition(name, node.name, node.lineno, is_class=True))
    return found


def body_lines(function: Function) -> int:
    """Lines behind signature and docstring."""
    body = function.body[ast.get_docstring(function) is not None :]
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]


def functions() -> dict[str, int]:
    """Lines of each function of the package by file and name."""
    return {
        f"{one.file}:{one.line} {one.name}": one.body_lines
        for one in definitions()
        if not one.is_class
    }


def test_a_median_function_is_short() -> None:
    assert median(functions().values()) < MEDIAN_LINES


def test_no_function_is_long() -> None:
    long = {name for name, lines in functions().items() if lines > FUNCTION_LINES}
    plain = {f"{name.partition(':')[0]} {name.rpartition(' ')[2]}" for name in long}
    assert plain == set(LONG)


def parameters(function: Function) -> int:
    """Parameters of all kinds; `*` and `**` are one each."""
    of = function.args
    starred = [one for one in (of.vararg, of.kwarg) if one]
    return len([*of.posonlyargs, *of.args, *of.kwonlyargs, *starred])


def test_no_function_has_many_parameters() -> None:
    found = {f"{one.file} {one.name}" for one in definitions() if one.parameters > PARAMETERS}
    assert found == set(MANY)


def test_parameters_of_all_kinds_count() -> None:
    function = ast.parse("def f(a, /, b, *c, d=1, **e): pass").body[0]
    assert isinstance(function, Function)
    assert parameters(function) == 5


def test_no_file_is_long() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in files(ALL)}
    assert len(lines) > 400
    assert not {str(path): n for path, n in lines.items() if n > FILE_LINES}


def test_a_class_has_its_name_alone() -> None:
    """A private one as well: a reader who searches for the name finds one thing."""
    homes: dict[str, list[str]] = defaultdict(list)
    for one in definitions():
        name = one.name.lstrip("_")
        if one.is_class and not fnmatch(one.file, SHARED.get(name, "")):
            homes[name].append(one.file)
    assert not {name: found for name, found in homes.items() if len(found) > 1}
    assert not SHARED.keys() & homes.keys()


def test_no_comment_claims_a_speed() -> None:
    """A comment gives reasons; what is faster is said by the pages of benchmarks."""
    found = {
        f"{path.relative_to(REPOSITORY).as_posix()}: {line.strip()}"
        for path in files(PACKAGE)
        for line in path.read_text().splitlines()
        if CLAIM.search(line)
    }
    assert {claim.partition(":")[0] for claim in found} <= CLAIMS, found


def test_only_kernels_may_say_any() -> None:
    """Numba finds the types of a kernel's arguments; typer's have no public name."""
    overrides = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["mypy"][
        "overrides"
    ]
    free = {
        module.removeprefix("gangsaw.").replace(".", "/")
        for override in overrides
        if override.get("disallow_any_explicit") is False
        for module in override["module"]
    }
    assert len(free) > 50
    plain = {name for name in free if not KERNEL.search(source(f"{name}.py"))}
    assert plain == {"cli/table"}


def source(name: str) -> str:
    """The text of a module by its path in the package; "" where there is none."""
    paths = (REPOSITORY / name, REPOSITORY / "src" / "gangsaw" / name)
    return "".join(path.read_text() for path in paths if path.exists())


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("def f():\n    '''Say it.\n\n    At length.\n    '''\n    return 1", 1),
        ("def f(\n    x,\n):\n    y = x\n    return y", 2),
        ("def f():\n    '''Only that.'''", 0),
    ],
)
def test_signature_and_docstring_do_not_count(code: str, lines: int) -> None:
    function = ast.parse(code).body[0]
    assert isinstance(function, Function)
    assert body_lines(function) == lines


@pytest.mark.parametrize(
    "path",
    sorted(REPOSITORY.glob("codecs/*/[cg]pu.py")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_the_backend_of_a_codec_is_a_table(path: Path) -> None:
    """What goes around blocks is in codecs/core/backends."""
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 65
    assert not any(isinstance(node, ast.For | ast.While) for node in ast.walk(ast.parse(text)))
    assert "except CorruptChunk" not in text
    assert "run_blocks" not in text
