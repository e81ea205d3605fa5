"""Stores in one ZIP file: read as they are, written as a folder that is packed at the end."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zarr.abc.store import Store
from zarr.storage import StorePath, ZipStore

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.store.far import far_store
from gangsaw.tasks.store.partial import part_of, sweep
from gangsaw.tasks.store.stores import StoreAddress

SIGNATURE = b"PK"  # of an archive with members (PK 03 04) or without (PK 05 06)
SUFFIX = ".zip"
METADATA = ("zarr.json", ".zgroup", ".zarray")  # one of them at the root makes it a store


def is_zip(address: str | Path) -> bool:
    """Whether a path is a ZIP file."""
    path = Path(str(address).removeprefix("file://"))
    if "://" in str(path) or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(2) == SIGNATURE


def is_zipped_store(path: str | Path) -> bool:
    """Whether a file is a ZIP file with a Zarr store in it."""
    if not is_zip(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return not set(METADATA).isdisjoint(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def zip_store(address: str | Path) -> ZipStore:
    """Return the store in a ZIP file, to read; CorruptChunk where it is damaged."""
    path = Path(str(address).removeprefix("file://")).absolute()
    try:
        store = ZipStore(path, mode="r")
        store._sync_open()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise CorruptChunk(f"the ZIP file is damaged: {error}", store=str(address)) from None
    return store


def zarr_at(address: str) -> str | Store | StorePath:
    """Return what zarr opens: a path by its name, a ZIP file and an address as a store."""
    if isinstance(address, StoreAddress):
        return address.place
    if "://" in address and not address.startswith("file://"):
        return far_store(address, read_only=True)
    return zip_store(address) if is_zip(address) else address


@contextmanager
def packed_target(target: str | Path, *, overwrite: bool, resume: bool = False) -> Iterator[str]:
    """Yield where to write a store: the target, or for a ZIP file a folder beside it.

    The folder is packed when the store is whole. After a failure it stays, for `resume`.

    Raises BadParams where the file exists and may not be replaced, or its folder is not there. A
    file is whole: it appears at the end, so that there is nothing to `resume`.
    """
    path = Path(str(target).removeprefix("file://")).absolute()
    if path.suffix.lower() != SUFFIX or path.is_dir():
        yield str(target)
        return
    if "://" in str(target):
        raise BadParams(f"{target}: a ZIP file is written on this machine: name a path")
    if path.exists() and not overwrite:
        if resume and is_zipped_store(path):
            raise BadParams(
                f"{target} is finished: a ZIP file appears when its store is whole, and nothing is "
                "left to resume; gangsaw verify checks it, --overwrite writes it anew"
            )
        raise BadParams(f"{target} exists: give another name, or --overwrite to replace it")
    if not path.parent.is_dir():
        raise BadParams(f"{path.parent}: no such directory; make it first")
    folder = path.with_name(f".{path.name}.gangsaw-folder")
    yield str(folder)
    _pack(folder, path)
    shutil.rmtree(folder, ignore_errors=True)


def _pack(folder: Path, path: Path) -> None:
    """Write a folder as a ZIP file without compression, which appears when it is whole."""
    sweep(path)
    part = part_of(path)
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for name in sorted(folder.rglob("*")):
                if name.is_file():
                    archive.write(name, name.relative_to(folder).as_posix())
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
