"""ZIP files as targets: a store is written to a folder next to the file and packed at the end."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zarr.storage import LocalStore

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.objects.files import follow_link, sync_file
from gangsaw.tasks.store.objects.partial import partial_path, remove_abandoned_files
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.objects.zipped import SUFFIX, is_zipped_store
from gangsaw.tasks.store.state.lease import hold_lease


@contextmanager
def pack_target(target: str | Path, *, overwrite: bool, resume: bool = False) -> Iterator[str]:
    """Yield the path to write a store to: the target, or for a ZIP file a folder next to it.

    The folder is packed when the store is complete. After a failure it stays, for `resume`. A ZIP
    file appears when its store is complete, so there is nothing to `resume` in it.

    Raises
    ------
    BadParams : the file exists and may not be replaced, or its parent directory does not exist
    """
    path = Path(str(target).removeprefix("file://")).absolute()
    if path.suffix.lower() != SUFFIX or path.is_dir():
        yield str(target)
        return
    if "://" in str(target):
        raise BadParams(f"{target}: a ZIP file is written on this machine: name a path")
    path = follow_link(path)
    with hold_lease(Prefix(LocalStore(path))) as lease:
        if path.exists() and not overwrite:
            if resume and is_zipped_store(path):
                raise BadParams(
                    f"{target} is finished: a ZIP file appears when its store is whole, so that "
                    "nothing is left to resume; gangsaw verify checks it, --overwrite writes it "
                    "anew"
                )
            raise BadParams(f"{target} exists: give another name, or --overwrite to replace it")
        if not path.parent.is_dir():
            raise BadParams(f"{path.parent}: no such directory; make it first")
        folder = path.with_name(f".{path.name}.gangsaw-folder")
        yield str(folder)
        lease.confirm()
        _pack(folder, path)
        shutil.rmtree(folder, ignore_errors=True)


def _pack(folder: Path, path: Path) -> None:
    """Write a folder as an uncompressed ZIP file, which appears when it is complete."""
    remove_abandoned_files(path)
    part = partial_path(path)
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for name in sorted(folder.rglob("*")):
                if name.is_file():
                    archive.write(name, name.relative_to(folder).as_posix())
        sync_file(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
