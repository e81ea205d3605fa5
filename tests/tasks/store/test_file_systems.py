"""Jobs on file systems without hard links, fallocate, syncs of folders or the case of names."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.poor_file_system import LACKS, library, run

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.exporting.atomic import check_apart, check_target, write_whole_files
from gangsaw.tasks.store.objects import files
from gangsaw.tasks.store.objects.files import (
    allocate,
    create_file,
    is_same_file,
    is_within,
    sync_file,
)

ALL = " ".join(LACKS)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


FACTS = """
import errno, os, sys
root = sys.argv[1]
def fails(call):
    try:
        call()
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""
open(root + "/Name", "w").close()
print(fails(lambda: os.link(root + "/Name", root + "/other")))
with open(root + "/Name", "ab") as file:
    print(fails(lambda: os.posix_fallocate(file.fileno(), 0, 10)))
with open(root + "/Name", "r+b") as file:
    print(fails(lambda: os.posix_fallocate(file.fileno(), 0, 10)))
folder = os.open(root, os.O_RDONLY)
print(fails(lambda: os.fsync(folder)))
print(fails(lambda: os.stat(root + "/nAME")))
"""


def test_the_library_lacks_what_it_says(loaded: Path, tmp_path: Path) -> None:
    ran = run(FACTS, loaded, tmp_path, ALL)
    assert ran.stdout.splitlines() == ["EPERM", "EBADF", "ENOTSUP", "EINVAL", ""], ran.stderr
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    assert run(FACTS, loaded, tmp_path, "").stdout.splitlines() == ["", "", "", "", "ENOENT"]


# what the issue of a store, its exports and its append need of a file system
JOBS = """
import sys
from pathlib import Path
import numpy as np, xarray as xr, gangsaw
from gangsaw.tasks.store.state import lease
root = Path(sys.argv[1])
values = np.arange(7 * 300 * 200, dtype="u2").reshape(7, 300, 200)
data = xr.Dataset({"data": (("band", "line", "sample"), values)})
target, again = root / "a.zarr", root / "again.zarr"
gangsaw.compress(data, target)
def stop(progress):
    raise KeyboardInterrupt
try:
    gangsaw.compress(data, again, chunks=(1, 300, 200), on_progress=stop)
    assert False, "it stops"
except KeyboardInterrupt:
    pass
gangsaw.compress(data, again, chunks=(1, 300, 200), resume=True)
gangsaw.compress(data, target, overwrite=True)
gangsaw.compress(data, root / "b.zarr.zip")
gangsaw.compress(data, root / "c.zarr", codec="none")
for store in (target, again, root / "b.zarr.zip", root / "c.zarr"):
    assert gangsaw.verify(store, against=data).ok, store
    assert np.array_equal(gangsaw.open(store)["data"], values), store
for name in ("e.hdr", "a.nc", "a.tif", "a.raw", "copy.zarr"):
    gangsaw.decompress(target, root / name, accept_loss=True)
assert np.array_equal(np.fromfile(root / "a.raw", "u2").reshape(values.shape), values)
gangsaw.compress(root / "e.hdr", root / "back.zarr")
assert np.array_equal(np.ravel(gangsaw.open(root / "back.zarr")["data"]), values.ravel())
assert xr.load_dataset(root / "a.nc")["data"].equals(data["data"])
with lease.hold_lease(lease.Prefix(lease.LocalStore(target))):
    try:
        gangsaw.compress(data, target, overwrite=True)
        assert False, "it is held"
    except gangsaw.BadParams as error:
        assert "is writing there" in str(error), error
print(sorted(path.name for path in root.iterdir()))
"""
LEFT = [
    "a.nc",
    "a.raw",
    "a.tif",
    "a.zarr",
    "again.zarr",
    "b.zarr.zip",
    "back.zarr",
    "c.zarr",
    "copy.zarr",
    "e.hdr",
    "e.img",
]


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("lacks", [ALL, *LACKS, ""])
def test_jobs_run_without(loaded: Path, tmp_path: Path, lacks: str) -> None:
    root = tmp_path / "poor"
    root.mkdir()
    ran = run(JOBS, loaded, root, lacks)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == str(LEFT)


NAMES = """
import sys
from pathlib import Path
import numpy as np, xarray as xr, gangsaw
root = Path(sys.argv[1])
for names in (("Data", "data"), ("A/x", "a/y"), ("caf\\u00e9", "cafe\\u0301")):
    found = {name: xr.Dataset({"v": ("i", np.arange(10))}) for name in names}
    tree = xr.DataTree.from_dict(found)
    try:
        gangsaw.compress(tree, root / "a.zarr", codec="none")
        print("written")
    except gangsaw.BadParams as error:
        print(error)
print(sorted(path.name for path in root.iterdir()))
source = root / "store.zarr"
gangsaw.compress(np.arange(1000, dtype="u2"), source)
try:
    gangsaw.decompress(source, root / "STORE.zarr", overwrite=True)
    print("written")
except gangsaw.BadParams as error:
    print(error)
"""


@pytest.mark.full
def test_names_that_are_one_there_are_refused(loaded: Path, tmp_path: Path) -> None:
    root = tmp_path / "poor"
    root.mkdir()
    ran = run(NAMES, loaded, root, "case")
    assert ran.returncode == 0, ran.stderr
    data, groups, accents, left, itself = ran.stdout.splitlines()
    assert "treats Data and data as one name: write to another one, or rename" in data
    assert "treats A and a as one name" in groups
    assert "as one name" in accents
    assert left == "[]"
    assert "overlap: give another target" in itself


def test_targets_that_are_one_there_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exists = tmp_path / ".A.raw.gangsaw-lease"

    def same(a: Path, b: Path) -> bool:
        return str(a).lower() == str(b).lower() and exists.exists()

    monkeypatch.setattr("gangsaw.tasks.formats.exporting.atomic.is_same_file", same)
    targets = [tmp_path / "A.raw", tmp_path / "a.raw"]
    with (
        pytest.raises(BadParams, match=r"a\.raw is named twice: the file system there ignores"),
        write_whole_files(targets, overwrite=False),
    ):
        pytest.fail("both are one")
    assert not list(tmp_path.iterdir())


def failing(number: int) -> object:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.quick(cases=2)
@pytest.mark.parametrize("number", files.NO_LINKS)
def test_a_file_is_created_once_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(os, "link", failing(number))
    assert create_file(tmp_path / "new" / "lease", b"mine")
    assert not create_file(tmp_path / "new" / "lease", b"of another one")
    assert [p.read_bytes() for p in (tmp_path / "new").iterdir()] == [b"mine"]
    monkeypatch.setattr(os, "link", failing(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left"):
        create_file(tmp_path / "other", b"mine")


@pytest.mark.quick(cases=2)
@pytest.mark.parametrize("number", files.NO_FALLOCATE)
def test_space_is_counted_where_none_is_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"content")
    monkeypatch.setattr(os, "posix_fallocate", failing(number))
    allocate(path, 5000)
    assert path.read_bytes() == b"content".ljust(5000, b"\0")
    with pytest.raises(OSError, match="No space left on device") as raised:
        allocate(path, 1 << 60)
    assert (raised.value.filename, path.stat().st_size) == (str(path), 5000)
    allocate(path, 0)
    monkeypatch.setattr(os, "posix_fallocate", failing(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left on device"):
        allocate(path, 100)


def test_what_cannot_be_synced_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    for number in (*files.NO_SYNC, *files.NO_FOLDER_SYNC):
        monkeypatch.setattr(os, "fsync", failing(number))
        sync_file(tmp_path)
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    for one in (path, tmp_path):
        with pytest.raises(OSError, match="Input/output error"):
            sync_file(one)


def test_one_place_has_many_names(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert is_same_file(tmp_path / "link" / "b", tmp_path / "a" / "b")
    assert is_within(tmp_path / "link" / "b" / "new", tmp_path / "a")
    assert not is_within(tmp_path / "a", tmp_path / "a" / "b")
    assert not is_same_file(tmp_path / "a" / "new", tmp_path / "a" / "other")


def test_a_link_that_leads_to_itself_is_refused_by_name(tmp_path: Path) -> None:
    loop = tmp_path / "out.raw"
    loop.symlink_to(loop)
    assert is_same_file(loop, loop)
    with pytest.raises(BadParams, match=r"out\.raw is a symbolic link that leads to itself"):
        check_target(loop, overwrite=True)
    with pytest.raises(BadParams, match="named twice"):
        check_apart([loop, loop])


@pytest.fixture
def fat(tmp_path: Path) -> Iterator[Path]:
    """A real FAT or exFAT, as only root may mount."""
    kinds = {"exfat": "mkfs.exfat", "vfat": "mkfs.vfat"}
    kind = next((kind for kind, tool in kinds.items() if shutil.which(tool)), None)
    if os.geteuid() != 0 or kind is None:
        pytest.skip("a real FAT needs root and apt-get install dosfstools (or exfatprogs)")
    image, folder = tmp_path / "image", tmp_path / "mounted"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run([kinds[kind], str(image)], check=True, capture_output=True)
    command = ["mount", "-t", kind, "-o", "loop", str(image), str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip(f"this machine mounts no {kind}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_jobs_run_on_a_real_fat(fat: Path, loaded: Path) -> None:
    ran = run(JOBS, loaded, fat, "")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == str(LEFT)
