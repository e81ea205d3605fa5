"""Stores in ZIP files, opened for reading."""

from __future__ import annotations

import zipfile
from pathlib import Path

from zarr.abc.store import Store
from zarr.storage import StorePath, ZipStore

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.objects.remote import open_remote_store
from gangsaw.tasks.store.objects.stores import StoreAddress

SIGNATURE = b"PK"  # of an archive with members (PK 03 04) or without (PK 05 06)
SUFFIX = ".zip"
METADATA = ("zarr.json", ".zgroup", ".zarray")  # one of them at the root makes the archive a store


def is_zip(address: str | Path) -> bool:
    """Return True if a path is a ZIP file."""
    path = Path(str(address).removeprefix("file://"))
    if "://" in str(path) or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(2) == SIGNATURE


def is_zipped_store(path: str | Path) -> bool:
    """Return True if a file is a ZIP file with a Zarr store in it."""
    if not is_zip(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return not set(METADATA).isdisjoint(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def zip_store(address: str | Path) -> ZipStore:
    """Return the store in a ZIP file, for reading; raise CorruptChunk if the file is damaged."""
    path = Path(str(address).removeprefix("file://")).absolute()
    try:
        store = ZipStore(path, mode="r")
        store._sync_open()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise CorruptChunk(f"the ZIP file is damaged: {error}", store=str(address)) from None
    return store


def zarr_argument_of(address: str) -> str | Store | StorePath:
    """Return the argument of `zarr.open`: a path as it is, a ZIP file or an address as a store."""
    if isinstance(address, StoreAddress):
        return address.place
    if "://" in address and not address.startswith("file://"):
        return open_remote_store(address, read_only=True)
    return zip_store(address) if is_zip(address) else address
