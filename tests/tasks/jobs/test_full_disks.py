"""Disks that fill up while a command writes: it says so in one line, and a resume finishes it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from kills.commands import COMMANDS, Command

from gangsaw.tasks.store.objects.files import create_file

SHORT = ("compress", "index")
CASES = [
    pytest.param(name, marks=[pytest.mark.full] * (name not in SHORT))
    for name, command in COMMANDS.items()
    if command.result
]
SHARES = (0.3, 0.9)  # of what the command writes: among its chunks, and near its end


def alone(words: tuple[object, ...]) -> tuple[object, ...]:
    """Return a command line without workers."""
    at = words.index("--workers")
    return (*words[: at + 1], 0, *words[at + 2 :])


def clear(command: Command, folder: Path) -> None:
    for path in folder.glob(f"{command.result}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


@contextmanager
def left(folder: Path, n_bytes: int) -> Iterator[None]:
    """Leave that much room while the context lasts."""
    filler = folder / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free(folder) - n_bytes)
    yield
    filler.unlink()


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("name", CASES)
def test_a_full_disk_is_told_and_a_resume_finishes(
    name: str,
    gangsaw: CommandLine,
    tmpfs: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A chunk that was journalled by halves would stay so: a resume leaves it as it is."""
    command, folder = COMMANDS[name], tmpfs("size=64m")
    monkeypatch.chdir(folder)
    command.prepare(folder)
    for words in command.before:
        gangsaw.ok(*alone(words))
    before = free(folder)
    gangsaw.ok(*alone(command.words))
    wanted, needed = command.found(folder), before - free(folder)
    again = ("--resume",) if command.goes_on else ()
    for share in SHARES:
        clear(command, folder)
        with left(folder, int(share * needed)):
            line = gangsaw(*alone(command.words)).failed(1)
        assert "No space left on device" in line, line
        assert command.goes_on or "--resume" not in line, line
        assert not list(folder.rglob("*.partial"))
        gangsaw.ok(*alone(command.words), *again)
        assert command.found(folder) == wanted


def test_a_file_that_finds_no_room_leaves_nothing(tmpfs: Callable[[str], Path]) -> None:
    folder = tmpfs("size=64k")
    with left(folder, 4096), pytest.raises(OSError, match="No space left on device"):
        create_file(folder / "lease", bytes(8192))
    assert not list(folder.iterdir())
    assert create_file(folder / "lease", b"mine")
