"""Pipes and devices as sources and targets: opened once, read or written in order."""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from gangsaw.codecs.core.errors import BadParams, ChunkError, GangsawError

STDIN = "-"
STDIN_NAME = "stdin"  # file name of the copy of standard input; samples are named after it
STANDARD = ("/dev/stdin", "/dev/stdout", "/dev/stderr")
OPEN_FILE = re.compile(r"/dev/fd/([0-9]+)|/proc/self/fd/([0-9]+)")
COPY_BYTES = 1 << 20
JOIN_SECONDS = 0.2  # longest delay before an interrupt is noticed while pipes are copied


def is_pipe(path: str | Path) -> bool:
    """Return True for paths that can be read only once: "-", FIFOs, devices and sockets."""
    text = str(path)
    if text == STDIN:
        return True
    if "://" in text:
        return False
    place = Path(text)
    return place.exists() and not place.is_dir() and not place.is_file()


def descriptor_of(path: str | Path) -> int | None:
    """Return the file descriptor that a path such as /dev/stdout or /dev/fd/63 names, or None."""
    text = str(path)
    if text in STANDARD:
        return STANDARD.index(text)
    found = OPEN_FILE.fullmatch(text)
    return int(found[1] or found[2]) if found else None


def is_stream(target: str | Path) -> bool:
    """Return True for a target that is written in order and never replaced: a pipe or a device.

    FIFOs, character devices and open files of this process, of any kind, are such targets.
    """
    if str(target) == STDIN or descriptor_of(target) is not None:
        return True
    place = Path(target)
    return place.is_fifo() or place.is_char_device()


def is_stdout(target: str | Path) -> bool:
    """Return True for standard output under any of its names."""
    return str(target) == STDIN or descriptor_of(target) == 1


def open_target(target: str | Path) -> BinaryIO:
    """Open a stream for writing bytes; an open file of this process is not truncated."""
    sys.stdout.flush()
    if (descriptor := descriptor_of(target)) is not None:
        return os.fdopen(os.dup(descriptor), "wb")
    return Path(target).open("wb")


def copy_to(file: Path, target: str | Path) -> None:
    """Copy a whole file to a stream."""
    with file.open("rb") as source, open_target(target) as stream:
        shutil.copyfileobj(source, stream, COPY_BYTES)


def refuse_resume(paths: Sequence[str], *, resume: bool) -> None:
    """Raise BadParams if a resumed job reads a pipe, whose earlier content is unknown."""
    if resume and (piped := next(filter(is_pipe, paths), None)):
        raise BadParams(
            f"{piped} is a pipe, which is read once: --resume needs a file; --overwrite starts anew"
        )


def open_byte_stream(path: str | Path) -> BinaryIO:
    """Open a file or a pipe for reading bytes; "-" is standard input."""
    if str(path) == STDIN:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    return Path(path).open("rb")


@contextmanager
def copy_pipes_to_files(
    paths: Sequence[str], folder: str | Path | None = None
) -> Iterator[list[str]]:
    """Yield the same paths, with each pipe copied to a temporary file.

    Needed for formats that are read several times, or out of order. Errors raised inside the
    context name the pipes. Several pipes are read at the same time, since one process may write to
    all of them.

    Parameters
    ----------
    paths : paths of files, folders and pipes, and addresses
    folder : folder of the temporary files; the system's temporary folder by default

    Raises
    ------
    BadParams : a pipe is named twice
    """
    piped = [path for path in paths if is_pipe(path)]
    if not piped:
        yield list(paths)
        return
    _refuse_same(piped)
    with TemporaryDirectory(prefix="gangsaw-piped-", dir=folder) as room:
        copies = {path: Path(room, str(i), _name_of(path)) for i, path in enumerate(piped)}
        _copy_all(copies)
        with _pipes_named({str(copy): path for path, copy in copies.items()}):
            yield [str(copies.get(path, path)) for path in paths]


def _name_of(path: str) -> str:
    return STDIN_NAME if path in (STDIN, "/dev/stdin") else Path(path).name


def _refuse_same(piped: Sequence[str]) -> None:
    seen: dict[tuple[int, int], str] = {}
    for path in piped:
        found = os.fstat(sys.stdin.fileno()) if path == STDIN else Path(path).stat()
        other = seen.setdefault((found.st_dev, found.st_ino), path)
        if other != path or piped.count(path) > 1:
            raise BadParams(f"{path} is named twice: a pipe is read once")


def _copy_all(copies: Mapping[str, Path]) -> None:
    errors: list[BaseException] = []

    def copy(path: str, target: Path) -> None:
        try:
            target.parent.mkdir()
            with open_byte_stream(path) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file, COPY_BYTES)
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=copy, args=one, name="gangsaw-pipe", daemon=True)
        for one in copies.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(JOIN_SECONDS)
    if errors:
        raise errors[0]


@contextmanager
def _pipes_named(names: Mapping[str, str]) -> Iterator[None]:
    """Replace the paths of temporary copies by the names of the pipes in errors."""
    try:
        yield
    except ChunkError:
        raise
    except GangsawError as error:
        error.args = tuple(_restore_names(arg, names) for arg in error.args)
        raise


def _restore_names(arg: object, names: Mapping[str, str]) -> object:
    if isinstance(arg, str):
        for copy, name in names.items():
            arg = arg.replace(copy, name)
    return arg
