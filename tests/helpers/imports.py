"""What each file of the package imports, of all kinds: modules wherever they are named, headers."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

REPOSITORY = Path(__file__).parents[2]
# folders of the repository, and where each lies in the package
FOLDERS = {"src/gangsaw": "", "codecs": "codecs/", "tasks": "tasks/", "cluster": "cluster/"}
CODE = {".py", ".pyi", ".cu", ".cuh"}
PARTS = ("body", "orelse", "finalbody", "handlers", "cases")  # of statements, with statements
LOADERS = {"import_module", "__import__"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SHARED_HEADERS = "codecs/core/cuda"

Tree: TypeAlias = Mapping[str, str]  # text of each file by its path in the package
Graph: TypeAlias = Mapping[str, frozenset[str]]


class Named(NamedTuple):
    """What an import names.

    Attributes
    ----------
    module : its dotted name, whole
    name : what is taken of it, "" where that is not said
    """

    module: str
    name: str = ""


@cache
def package() -> Tree:
    """Text of the code and the ORDER files of the package."""
    return {
        f"{place}{path.relative_to(REPOSITORY / folder).as_posix()}": path.read_text()
        for folder, place in FOLDERS.items()
        for path in sorted((REPOSITORY / folder).rglob("*"))
        if is_code(path.name) or path.name == "ORDER"
    }


def is_code(path: str) -> bool:
    """Whether a file has code, by its suffix."""
    return posixpath.splitext(path)[1] in CODE


def graph(tree: Tree) -> Graph:
    """Return the files that each file imports."""
    return {path: frozenset(targets(tree, path)) for path in tree if is_code(path)}


def targets(tree: Tree, path: str) -> set[str]:
    """Return the files of the package that one of them imports."""
    if path.endswith(("cu", "cuh")):
        found = {header(tree, path, name) for name in INCLUDE.findall(tree[path])}
    else:
        found = {target(tree, named) for named in names(path, tree[path])}
    return found - {"", path}


def target(tree: Tree, named: Named) -> str:
    """Return the file of what is imported, "" where it is none of the package."""
    inner = file_of(tree, f"{named.module}.{named.name}") if named.name else ""
    return inner or file_of(tree, named.module)


def file_of(tree: Tree, module: str) -> str:
    """Return the file of a module, "" where it is none of the package."""
    top, *parts = module.split(".")
    paths = ("/".join([*parts, "__init__.py"]), "/".join(parts) + ".py")
    return next((path for path in paths if top == "gangsaw" and path in tree), "")


def header(tree: Tree, path: str, name: str) -> str:
    """Return the file of a header: seen from the folder, the folders above it, or core/cuda."""
    folders = [*above(path), SHARED_HEADERS]
    paths = (posixpath.normpath(posixpath.join(folder, name)) for folder in folders)
    return next((found for found in paths if found in tree), "")


def above(path: str) -> Iterator[str]:
    """Yield the folders that hold a file, the nearest first; the package itself is ""."""
    while path:
        path = posixpath.dirname(path)
        yield path


@cache
def names(path: str, text: str, *, types: bool = True) -> frozenset[Named]:
    """Return what a module imports: in functions, relative, by constants.

    types : with what it imports for type checkers alone
    """
    tree = ast.parse(text)
    found = {named for node in statements(tree, types) for named in _named(path, node)}
    if any(loader in text for loader in LOADERS):
        found |= {Named(_whole(path, name)) for name in _constants(tree)}
    return frozenset(found)


def statements(tree: ast.Module, types: bool) -> Iterator[ast.AST]:
    """Yield all statements; expressions, which hold none, are not walked."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        fields = PARTS[0 if types or not _is_for_types(node) else 1 :]
        waiting += chain.from_iterable(getattr(node, field, ()) for field in fields)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _named(path: str, node: ast.AST) -> Iterator[Named]:
    if isinstance(node, ast.Import):
        yield from (Named(name.name) for name in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = _whole(path, "." * node.level + (node.module or ""))
        yield from (Named(module, name.name) for name in node.names)


def _whole(path: str, name: str) -> str:
    """Return the dotted name of a module that may be named from a file's folder."""
    module = name.lstrip(".")
    ups = len(name) - len(module)
    if not ups:
        return name
    folder = ["gangsaw", *path.split("/")[:-1]]
    return ".".join([*folder[: len(folder) - ups + 1], *filter(None, [module])])


def _constants(tree: ast.Module) -> Iterator[str]:
    """Yield the names that calls of loaders give as constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _function(node.func) in LOADERS:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value


def _function(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def circles(graph: Graph) -> set[frozenset[str]]:
    """Return the files of each circle, or of circles that share files."""
    left = _with_imports(graph)
    below = {name: reached(left, left[name]) for name in left}
    return {
        frozenset(other for other in below[name] if name in below[other])
        for name in left
        if name in below[name]
    }


def _with_imports(graph: Graph) -> Graph:
    """Leave away files that import nothing that is left: none of them is in a circle."""
    while ends := {name for name, found in graph.items() if not found}:
        graph = {name: found - ends for name, found in graph.items() if name not in ends}
    return graph


def reached(graph: Graph, first: Iterable[str]) -> set[str]:
    """Return these names and all that they import, by whatever way."""
    found: set[str] = set()
    waiting = list(first)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += graph[name]
    return found
