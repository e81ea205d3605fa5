"""Files of a store in a folder, without zarr: its own calls each go through two threads."""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from zarr.core.buffer import Buffer, default_buffer_prototype

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report import dry_run

PARTIAL = re.compile(r"\.[0-9a-f]{32}\.partial$")  # LocalStore's temporary files
# errors of link(2) on exFAT, FAT, SMB, gcsfuse and other FUSE file systems, and on Android
NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EACCES, errno.EMLINK)
# errors of fsync(2) on file systems that cannot sync, or not folders: exFAT, SMB, FUSE
NO_SYNC = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)
NO_FOLDER_SYNC = (errno.EBADF, errno.EACCES, errno.EPERM, errno.EISDIR)
# errors of posix_fallocate(3): NFS before 4.2, exFAT, FUSE
NO_FALLOCATE = (*NO_SYNC, errno.EBADF, errno.ENODEV, errno.EPERM)
FEW_TRIES = 5
CONCURRENT_SYNCS = 16  # a file system commits several of them together
FEW_SYNCS = 4  # up to this many are synced one by one: their callers already run in several threads


def file_version(path: Path) -> tuple[int, str, int]:
    """Return size in bytes, time of change in ns and inode of a file."""
    found = path.stat()
    return found.st_size, str(found.st_mtime_ns), found.st_ino


def read_file(path: Path, n_bytes: int = -1) -> Buffer | None:
    """Return a file or its first `n_bytes` bytes; None if it does not exist."""
    try:
        with path.open("rb", buffering=0) as file:
            return default_buffer_prototype().buffer.from_bytes(file.read(n_bytes))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def write_file(path: Path, data: Buffer | bytes) -> None:
    """Write a file atomically, as LocalStore does but without its two threads."""
    dry_run.forbid(path)
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
        while len(left):  # the system writes at most 2 GiB per call
            left = left[file.write(left) :]


def sync_files(paths: Collection[Path]) -> None:
    """Sync files, or the names in folders, to disk, so that they survive a power cut."""
    if len(paths) <= FEW_SYNCS:
        for path in paths:
            sync_file(path)
        return
    with ThreadPoolExecutor(min(len(paths), CONCURRENT_SYNCS)) as pool:
        list(pool.map(sync_file, paths))


def create_file(path: Path, data: bytes) -> bool:
    """Write a file unless it exists; return True if this call created it."""
    dry_run.forbid(path)
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
    try:
        for _ in range(FEW_TRIES):  # another process may remove the empty folder meanwhile
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                part.write_bytes(data)
                break
        os.link(part, path)  # the file appears with all its bytes
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        return _create_alone(path, data)
    finally:
        part.unlink(missing_ok=True)
    return True


def _create_alone(path: Path, data: bytes) -> bool:
    """Create a file without hard links; it is empty for a moment."""
    try:
        with path.open("xb", buffering=0) as file:
            try:
                file.write(data)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        return False
    return True


def keys_below(folder: Path) -> Iterator[str]:
    """Yield the keys of the files below a folder, temporary files included, without stat calls."""
    left = [(str(folder), "")]
    while left:
        path, prefix = left.pop()
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(path) as found:
            for entry in found:
                if entry.is_dir():
                    left.append((entry.path, f"{prefix}{entry.name}/"))
                else:
                    yield prefix + entry.name


def file_bytes(path: Path) -> int | None:
    """Return the size of a file in bytes, or None if it does not exist."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def bytes_below(path: Path) -> int:
    """Return the size of a file, or the total size of all files in a folder, in bytes; else 0."""
    if path.is_dir():
        return sum(file_bytes(path / key) or 0 for key in keys_below(path))
    return file_bytes(path) or 0


def sync_file(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk, so that it survives a power cut.

    Some file systems cannot sync folders, or sync nothing; errors of these are ignored.
    """
    is_folder = path.is_dir()
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        if is_folder:
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_SYNC and not (is_folder and error.errno in NO_FOLDER_SYNC):
            raise
    finally:
        os.close(descriptor)


def allocate(path: Path, n_bytes: int) -> None:
    """Set the size of a file and reserve its disk space; its content stays.

    Samples are written through a memory map. On a full disk without reserved space, SIGBUS would
    end the process; reserving raises OSError before the first sample. If the file system cannot
    reserve, the free space is checked.
    """
    path.touch()
    with path.open("r+b") as file:  # not append mode: glibc's emulation overwrites
        if n_bytes and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            except OSError as error:
                if error.errno not in NO_FALLOCATE:
                    raise
            else:
                return
        needed = n_bytes - os.fstat(file.fileno()).st_size
        if needed > shutil.disk_usage(path.parent).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        file.truncate(n_bytes)


def ignores_case(path: Path) -> bool:
    """Return True if the file system finds an existing file by its name in the other case."""
    other = path.with_name(path.name.swapcase())
    return other != path and is_same_file(path, other)


def is_same_file(a: Path, b: Path) -> bool:
    """Return True if two paths name the same file or folder, through links, mounts or case."""
    if resolve_links(a) == resolve_links(b):
        return True
    try:
        return a.samefile(b)
    except OSError:  # one of them does not exist
        return False


def is_within(a: Path, b: Path) -> bool:
    """Return True if `a` is `b` or lies below it."""
    whole = resolve_links(a)
    return any(is_same_file(path, b) for path in (whole, *whole.parents))


def resolve_links(path: Path) -> Path:
    """Return a path with symbolic links resolved; a link that leads to itself is kept.

    `Path.resolve` raises RuntimeError for a link that leads to itself, before Python 3.13.
    """
    return Path(os.path.realpath(path))


def follow_link(path: Path) -> Path:
    """Return the path that a symbolic link leads to; the path itself if it is no link.

    A parent folder that is a link to nothing is followed, too: it cannot be created by its name.

    Raises BadParams if a link leads to itself or to a path in a missing folder.
    """
    links = (one for one in (path, *path.parents) if one.is_symlink() and not one.exists())
    if (link := next(links, None)) is None:
        return resolve_links(path) if path.is_symlink() else path
    end = resolve_links(link)
    if end.is_symlink():
        raise BadParams(f"{link} is a symbolic link that leads to itself: give another name")
    if not end.parent.is_dir():
        raise BadParams(
            f"{link} is a symbolic link to {end}, and there is no directory {end.parent}: make it "
            "first, or give another name"
        )
    return resolve_links(path)


def _files(folder: Path) -> Iterator[Path]:
    return (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)


def list_partial_files(folder: Path) -> Iterator[Path]:
    """Yield the temporary files below a folder, which writers rename once complete."""
    return (path for path in _files(folder) if PARTIAL.search(path.name))


def list_object_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, without the temporary files of writers."""
    return (path for path in _files(folder) if not PARTIAL.search(path.name))
