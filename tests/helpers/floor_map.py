"""The floors in words: the map that CONTRIBUTING.md has, and the ORDER that imports allow."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from itertools import chain

from helpers.floors import FACE, order_of, room, shown
from helpers.imports import Tree, graph, reached

WIDTH = 26  # of the column of names


def floor_map(tree: Tree, folder: str = "") -> str:
    """Return what each floor holds, from the top; one that says nothing is shown by its own."""
    return "\n".join(_lines(tree, folder)) + "\n"


def _lines(tree: Tree, folder: str) -> Iterator[str]:
    order = order_of(tree, folder)
    for row, note in zip(order.rows, order.notes, strict=True):
        if note:
            yield from _columns(_paths(folder, row), note)
        else:
            yield from chain.from_iterable(
                _lines(tree, posixpath.join(folder, name)) for name in row
            )


def _columns(names: str, note: str) -> Iterator[str]:
    if len(names) < WIDTH:
        yield f"    {names:{WIDTH}}{note}"
    else:
        yield from (f"    {names}", f"    {'':{WIDTH}}{note}")


def _paths(folder: str, row: tuple[str, ...]) -> str:
    first, *others = row
    return ", ".join([shown(posixpath.join(folder, first)), *others])


def proposed(tree: Tree, folder: str) -> str:
    """Return an ORDER of a folder by its imports, each name as high as it can be.

    Names of a circle stand on one floor: it has to be opened first.
    """
    left = _arrows(tree, folder)
    rows = []
    while left:
        below = {name: reached(left, found) for name, found in left.items()}
        row = [name for name in left if all(_is_not_above(below, other, name) for other in left)]
        rows.append(" ".join(sorted(row)))
        left = {name: found - set(row) for name, found in left.items() if name not in row}
    return "\n".join(rows) + "\n"


def _is_not_above(below: Mapping[str, set[str]], other: str, name: str) -> bool:
    return name not in below[other] or other in below[name]


def _arrows(tree: Tree, folder: str) -> dict[str, frozenset[str]]:
    """Return which names of a folder each of them imports."""
    inside = f"{folder}/" if folder else ""
    found: dict[str, set[str]] = {}
    for path, targets in graph(tree).items():
        if path.startswith(inside):
            names = {room(folder, to) for to in targets if to.startswith(inside)}
            found.setdefault(room(folder, path), set()).update(names)
    found.pop(FACE, None)
    return {name: frozenset(names - {name, FACE}) for name, names in found.items()}
