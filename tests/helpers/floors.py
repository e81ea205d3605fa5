"""The floors of the package: what an ORDER says, and what stands against it.

An ORDER lies in each folder that has sub-folders: a line a floor, from the top, with the names of
sub-folders and the stems of files. One rule: for each import, in the lowest folder that holds both
ends, the importer's floor is above the other's. What follows # says what a floor holds. A line
`public:` names what others may import of the folder, besides the names of its `__init__`.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, takewhile
from typing import NamedTuple

from helpers.imports import Tree, above, circles, graph, is_code

MOST_FILES = 12  # of a folder without sub-folders
FACE = "__init__"  # stands above all that lies beside it, where its ORDER does not name it
PUBLIC = "public:"


class Order(NamedTuple):
    """What an ORDER says.

    Attributes
    ----------
    rows : the names of each floor, from the top
    notes : what each floor holds, in words; "" where that is not said
    public : what others may import of the folder; None where that is not said, and all may be
    """

    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    public: tuple[str, ...] | None

    def floor(self, name: str) -> int | None:
        """Return the floor of a name, counted from the top; None where there is none."""
        floors = (floor for floor, row in enumerate(self.rows) if name in row)
        return next(floors, -1 if name == FACE else None)


@cache
def parsed(text: str) -> Order:
    """Read an ORDER."""
    halves = [line.partition("#") for line in text.splitlines()]
    lines = [(names.split(), note.strip()) for names, _, note in halves if names.strip()]
    floors = [(tuple(names), note) for names, note in lines if names[0] != PUBLIC]
    public = [tuple(names[1:]) for names, _ in lines if names[0] == PUBLIC]
    rows, notes = (tuple(part) for part in zip(*floors, strict=True)) if floors else ((), ())
    return Order(rows, notes, tuple(chain(*public)) if public else None)


def rooms(tree: Tree) -> Mapping[str, Counter[str]]:
    """Return what each folder holds: stems, and sub-folders with a slash; and how many files."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for path in filter(is_code, tree):
        below = posixpath.splitext(posixpath.basename(path))[0]
        for folder in above(path):
            found[folder][below] += 1
            below = f"{posixpath.basename(folder)}/"
    return found


def problems(tree: Tree) -> list[str]:
    """Return all that is wrong, in words."""
    imports = graph(tree)
    arrows = (_wrong_import(tree, path, to) for path in imports for to in sorted(imports[path]))
    rounds = (f"circle of {', '.join(sorted(names))}" for names in circles(imports))
    return sorted([*_wrong_folders(tree), *filter(None, arrows), *rounds])


def _wrong_folders(tree: Tree) -> Iterator[str]:
    found = rooms(tree)
    for folder, names in found.items():
        has_folders = any(name.endswith("/") for name in names)
        if has_folders and order_path(folder) not in tree:
            yield f"{shown(folder)} has no ORDER"
        if not has_folders and names.total() > MOST_FILES:
            yield f"{shown(folder)} has {names.total()} files and no folders"
    for path in (path for path in tree if posixpath.basename(path) == "ORDER"):
        folder = posixpath.dirname(path)
        there = {name.rstrip("/") for name in found[folder]}
        yield from _wrong_order(tree, folder, there)


def _wrong_order(tree: Tree, folder: str, there: set[str]) -> Iterator[str]:
    order = order_of(tree, folder)
    named = Counter(chain(*order.rows))
    where = shown(order_path(folder))
    yield from (f"{where} does not name {name}" for name in there - {FACE} - named.keys())
    yield from (f"{where} names {name}, which is not there" for name in named.keys() - there)
    yield from (f"{where} names {name} twice" for name, times in named.items() if times > 1)
    public = set(order.public or ())
    stale = {name for name in public if not _lies(tree, posixpath.join(folder, name))}
    yield from (f"{where} makes {name} public, which is not there" for name in stale)


def _lies(tree: Tree, path: str) -> bool:
    return f"{path}.py" in tree or f"{path}/__init__.py" in tree


def order_path(folder: str) -> str:
    """Return the path of a folder's ORDER in the package."""
    return posixpath.join(folder, "ORDER")


def order_of(tree: Tree, folder: str) -> Order:
    """Return what the ORDER of a folder says; nothing where there is none."""
    return parsed(tree.get(order_path(folder), ""))


def shown(path: str) -> str:
    """Return a path of the package as it is in the repository."""
    is_mapped = path.partition("/")[0] in ("codecs", "tasks", "cluster")
    return path if is_mapped else posixpath.join("src/gangsaw", path).rstrip("/")


def _wrong_import(tree: Tree, path: str, to: str) -> str:
    """Say why a file may not import another, "" where it may."""
    both = posixpath.commonpath([posixpath.dirname(path), posixpath.dirname(to)])
    why = _wrong_floor(tree, both, path, to) or _not_public(tree, both, to)
    return f"{shown(path)} imports {shown(to)}: {why}" if why else ""


def _wrong_floor(tree: Tree, both: str, path: str, to: str) -> str:
    here, there = (room(both, end) for end in (path, to))
    order = order_of(tree, both)
    high, low = order.floor(here), order.floor(there)
    if here == there or high is None or low is None or high < low:
        return ""
    if high == low:
        return f"{here} and {there} are on one floor of {shown(both)}"
    return f"{there} is above {here} in {shown(both)}"


def room(folder: str, path: str) -> str:
    """Return the name of a file, or of the folder that holds it, in a folder above."""
    return posixpath.splitext(_below(folder, path).partition("/")[0])[0]


def _below(folder: str, path: str) -> str:
    """Return a path as it is seen from a folder above it."""
    return path.removeprefix(f"{folder}/") if folder else path


def _not_public(tree: Tree, both: str, to: str) -> str:
    """Say that a file lies behind the public names of a folder that is entered."""
    for folder in takewhile(lambda folder: folder != both, above(to)):
        name = posixpath.splitext(_below(folder, to))[0].removesuffix(f"/{FACE}")
        public = order_of(tree, folder).public
        if public is not None and name not in (FACE, *public):
            return f"{name} is not public in {shown(folder)}"
    return ""
