"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.partial import part_of, sweep

_CHECK: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)


@contextmanager
def published_if(check: Callable[[], None]) -> Iterator[None]:
    """Let `check` raise before any target gets its name: what it was made of may have changed."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


@contextmanager
def whole_files(targets: Sequence[Path], *, overwrite: bool) -> Iterator[list[Path]]:
    """Yield a temporary path next to each target; rename all at the end, or remove all.

    The last target is renamed last, so that a header never exists without its data file.

    Raises
    ------
    BadParams
        A target exists and may not be replaced, or its folder is not there.
    """
    check_apart(targets)
    for target in targets:
        check_target(target, overwrite=overwrite)
        sweep(target)
    parts = [part_of(target) for target in targets]
    try:
        yield parts
        _CHECK.get()()
        for part, target in zip(parts, targets, strict=True):
            _sync(part)
            part.replace(target)
    except OSError as error:  # the user knows the target, not its temporary file
        named = {str(part): str(target) for part, target in zip(parts, targets, strict=True)}
        error.filename = named.get(str(error.filename), error.filename)
        if error.filename is None and error.errno == errno.ENOSPC:
            error.filename = str(targets[0])
        raise
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


@contextmanager
def whole_folder(target: Path, mark: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield a temporary path next to the target; rename it at the end, or remove it.

    Raises BadParams where the target exists and may not be replaced: only a folder with a file
    called `mark`, the sign of its format, may be.
    """
    if target.exists() and not (overwrite and (target / mark).is_file()):
        hint = (
            "or --overwrite to replace it"
            if (target / mark).is_file()
            else "it is of no such format"
        )
        raise BadParams(f"{target} exists: give another name, {hint}")
    if not target.parent.is_dir():
        raise BadParams(f"{target.parent}: no such directory; make it first")
    sweep(target)
    part = part_of(target)
    old = part.with_suffix(".old")
    try:
        yield part
        _CHECK.get()()
        if target.exists():
            target.rename(old)
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def check_target(target: Path, *, overwrite: bool) -> None:
    """Raise BadParams where a file must not be written."""
    if target.is_dir():
        raise BadParams(f"{target} is a directory; name a file")
    if target.exists() and not overwrite:
        raise BadParams(f"{target} exists: give another name, or --overwrite to replace it")
    if not target.parent.is_dir():
        raise BadParams(f"{target.parent}: no such directory; make it first")


def check_apart(targets: Iterable[str | Path]) -> None:
    """Raise BadParams where two targets are one file: it would hold the last of them alone."""
    known: set[Path] = set()
    for target in targets:
        if (place := Path(target).resolve()) in known:
            raise BadParams(f"{target} is named twice: name another file for each target")
        known.add(place)


def allocate(path: Path, n_bytes: int) -> None:
    """Give a file this size and reserve its disk space; its content stays.

    Samples are written through a memory map: without the space a full disk would end the process
    by SIGBUS, with it the OSError comes here, before the first sample.
    """
    with path.open("ab") as file:
        if n_bytes and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        else:
            file.truncate(n_bytes)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
