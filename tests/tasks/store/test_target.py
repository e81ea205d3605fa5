"""Targets that may not be touched, and disks that do not play along: nothing is harmed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.job_data import objects, raw_source
from helpers.job_runs import SHAPE, interrupted, job, labelled_source
from zarr.storage import MemoryStore

from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.formats.raw.source import RawSource
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.source import open_zarr


@pytest.fixture
def source(tmp_path: Path) -> RawSource:
    return labelled_source(tmp_path)


def test_an_existing_target_is_not_touched(source: RawSource, tmp_path: Path) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    before = objects(target)
    with pytest.raises(BadParams, match="exists: give another name, or --overwrite"):
        job(source, target)
    assert objects(target) == before
    interrupted(source, tmp_path / "b.zarr")
    with pytest.raises(BadParams, match="unfinished job: finish it with --resume"):
        job(source, tmp_path / "b.zarr")


def test_a_directory_that_is_no_store_is_never_overwritten(
    source: RawSource, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("dear")
    for options in ({}, {"overwrite": True}, {"resume": True}):
        with pytest.raises(BadParams, match="exists and is no Zarr store: give another name"):
            job(source, tmp_path / "home", **options)
    assert objects(tmp_path / "home") == {"thesis.txt": b"dear"}


def test_a_remote_store_is_not_overwritten(source: RawSource) -> None:
    store = MemoryStore()
    job(source, store)
    with pytest.raises(BadParams, match="cannot be replaced safely"):
        job(source, store, overwrite=True)


def test_mistakes_are_told_before_anything_is_created(source: RawSource, tmp_path: Path) -> None:
    target = tmp_path / "a.zarr"
    floats = tmp_path / "floats.raw"
    np.zeros(SHAPE, "f4").tofile(floats)
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"chunks": (6, 16)}, "must be 3 extents"),
        ({"chunks": (6, 0, 16)}, "must be 3 extents of 1 or more"),
        ({"chunks": {"rows": 3}}, "has no axis 'rows'; it has band, y, x"),
        ({"codec": "gzip"}, "codec must be"),
        ({"codec": Ccsds123(bit_depth=17)}, "bit_depth"),
    ]
    for options, message in mistakes:
        with pytest.raises(BadParams, match=message):
            job(source, target, **options)
    doubled = replace(source, coords=(Coordinate("data", ("x",), np.zeros(50)),))
    with pytest.raises(BadParams, match="names must differ"):
        job(doubled, target)
    with pytest.raises(BadParams, match="overlap"):
        job(source, Path(source.name) / "in.zarr")
    assert not target.exists()


def test_the_source_is_never_the_target(source: RawSource, tmp_path: Path) -> None:
    job(source, tmp_path / "a.zarr")
    stored = open_zarr(str(tmp_path / "a.zarr"))
    for target in (tmp_path / "a.zarr", tmp_path / "a.zarr" / "inner", tmp_path):
        with pytest.raises(BadParams, match="overlap"):
            job(stored, target, overwrite=True)


def test_a_full_disk_is_told_and_resumed(tmp_path: Path) -> None:
    """On a real file system of one mebibyte, mounted in its own namespace."""
    script = """
    import sys
    from pathlib import Path
    from gangsaw.codecs.core.errors import JobFailed
    from gangsaw.tasks.jobs.compress import compress
    from gangsaw.tasks.formats.raw.source import open_raw
    from gangsaw.tasks.jobs.verification.verify import verify

    folder = Path(sys.argv[1])
    source = open_raw(str(folder / "cube0.raw"), (6, 400, 500), "<u2")
    target = folder / "small" / "a.zarr"
    (folder / "small" / "filler").write_bytes(bytes(600_000))
    try:
        compress(source, target, codec="none", chunks=(1, 100, 100))
    except JobFailed as error:
        print(error)
    (folder / "small" / "filler").unlink()
    import subprocess
    subprocess.run(["mount", "-o", "remount,size=8m", str(folder / "small")], check=True)
    print(compress(source, target, codec="none", chunks=(1, 100, 100), resume=True).resumed)
    print(verify(target, against=source).problems)
    """
    raw_source(tmp_path, (6, 400, 500))
    message, resumed, problems = on_a_small_disk(tmp_path, script, "size=1m")
    assert message.startswith("chunk ")
    assert "No space left on device" in message
    assert message.endswith("finished batches are safe: run again with --resume")
    assert int(resumed) > 5
    assert problems == "()"


def test_a_read_only_target_is_told(tmp_path: Path) -> None:
    script = """
    import sys
    from pathlib import Path
    from gangsaw.codecs.core.errors import JobFailed
    from gangsaw.tasks.jobs.compress import compress
    from gangsaw.tasks.formats.raw.source import open_raw

    folder = Path(sys.argv[1])
    source = open_raw(str(folder / "cube0.raw"), (6, 40, 50), "<u2")
    try:
        compress(source, folder / "small" / "a.zarr", codec="none")
    except JobFailed as error:
        print(error)
    """
    raw_source(tmp_path)
    done = on_a_small_disk(tmp_path, script, "ro,size=1m")
    assert done == [f"cannot write to {tmp_path}/small/a.zarr: Read-only file system"]


def on_a_small_disk(folder: Path, script: str, options: str) -> list[str]:
    """Run a script with its own file system at `folder`/small; return the lines it prints."""
    (folder / "small").mkdir()
    (folder / "script.py").write_text(textwrap.dedent(script))
    mount = f'mount -t tmpfs -o {options} tmpfs "$0/small"'
    namespace = ["unshare", "-Urm", "sh", "-c"]
    if subprocess.run([*namespace, mount, str(folder)], check=False).returncode:
        pytest.skip("no user namespaces here: cannot mount a small file system")
    run = f'{mount} && exec "{sys.executable}" "$0/script.py" "$0"'
    done = subprocess.run(
        [*namespace, run, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_target_below_a_file_is_told(source: RawSource, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(JobFailed, match=r"cannot write to .*: Not a directory"):
        job(source, tmp_path / "file" / "a.zarr")
