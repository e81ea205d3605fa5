"""Files of a store in a folder, by plain calls: zarr's own would each go through two threads."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from zarr.core.buffer import Buffer, default_buffer_prototype

from gangsaw.tasks.engine import rehearsal

PARTIAL = re.compile(r"\.[0-9a-f]{32}\.partial$")  # LocalStore's temporary files
SYNCS_IN_FLIGHT = 16  # a file system commits several of them together
FEW_SYNCS = 4  # whoever has no more waits for them one by one: several wait at the same time


def file_stamp(path: Path) -> tuple[int, str, int]:
    """Return bytes, time of change in ns and inode of a file."""
    found = path.stat()
    return found.st_size, str(found.st_mtime_ns), found.st_ino


def read_file(path: Path, n_bytes: int = -1) -> Buffer | None:
    """Return a file, or its first bytes; None where there is none."""
    try:
        with path.open("rb", buffering=0) as file:
            return default_buffer_prototype().buffer.from_bytes(file.read(n_bytes))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def write_file(path: Path, data: Buffer | bytes) -> None:
    """Write a file as LocalStore does, which would go through two threads."""
    rehearsal.forbid(path)
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
    try:
        try:
            _write_bytes(part, data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_bytes(part, data)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _write_bytes(path: Path, data: Buffer | bytes) -> None:
    with path.open("xb", buffering=0) as file:
        left = memoryview(data) if isinstance(data, bytes) else data.as_numpy_array().data
        while len(left):  # the system takes at most 2 GiB at once
            left = left[file.write(left) :]


def sync_files(paths: Collection[Path]) -> None:
    """Return when files, or the names in folders, would survive a power cut."""
    if len(paths) <= FEW_SYNCS:
        for path in paths:
            _sync_file(path)
        return
    with ThreadPoolExecutor(min(len(paths), SYNCS_IN_FLIGHT)) as pool:
        list(pool.map(_sync_file, paths))


def create_file(path: Path, data: bytes) -> bool:
    """Write a file where there is none; return whether it was this call that did."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
    try:
        part.write_bytes(data)
        os.link(part, path)  # with all its bytes, or not at all
    except FileExistsError:
        return False
    finally:
        part.unlink(missing_ok=True)
    return True


def keys_below(folder: Path) -> Iterator[str]:
    """Yield the keys of the files below a folder, temporary ones included: names, no stats."""
    left = [(str(folder), "")]
    while left:
        path, prefix = left.pop()
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(path) as found:
            for entry in found:
                if entry.is_dir():
                    left.append((entry.path, f"{prefix}{entry.name}/"))
                else:
                    yield prefix + entry.name


def size_of(path: Path) -> int | None:
    """Return the bytes of a file, None where there is none."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _files(folder: Path) -> Iterator[Path]:
    return (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)


def partials(folder: Path) -> Iterator[Path]:
    """Yield the temporary files below a folder."""
    return (path for path in _files(folder) if PARTIAL.search(path.name))


def objects(folder: Path) -> Iterator[Path]:
    """Yield the other files below a folder."""
    return (path for path in _files(folder) if not PARTIAL.search(path.name))
