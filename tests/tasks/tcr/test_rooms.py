"""Each room of path counting stands on those below it alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FOLDER, PACKAGE = Path(__file__).parents[3] / "tasks" / "tcr", "gangsaw.tasks.tcr"
ROOMS = (
    "model",
    "germline",
    "pgen",
    "repertoire",
    "counting",
    "store",
    "sharing",
    "simulation",
    "annotation",
    "statistics",
    "commands",
)


def used(room: str) -> set[str]:
    """Names of the rooms that a room's modules import from, its own not among them."""
    trees = [ast.parse(path.read_text()) for path in (FOLDER / room).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    names = {f"{node.module}.{name.name}" for node in froms for name in node.names}
    ours = {name.removeprefix(f"{PACKAGE}.").split(".")[0] for name in names if PACKAGE in name}
    return ours & set(ROOMS) - {room}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_stands_on_those_below(room: str) -> None:
    assert used(room) <= set(ROOMS[: ROOMS.index(room)])


def test_every_room_has_its_place() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/__init__.py")} == set(ROOMS)
    assert used("store") >= {"repertoire", "counting"}
