"""Compress and decompress, store to store: what a reader gets, and what is never harmed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from distributed import Client
from job_data import WAVELENGTHS, LoggedArray, cube, logged, objects, raw_source, reads
from zarr.codecs import GzipCodec, ZstdCodec
from zarr.storage import MemoryStore

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.local import start
from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks import target as target_module
from gangsaw.tasks.compress import Summary, compress, decompress
from gangsaw.tasks.layout import choose_codec, default_chunks, image_axes
from gangsaw.tasks.progress import Progress
from gangsaw.tasks.sources.base import Coordinate, Source
from gangsaw.tasks.sources.raw import RawSource
from gangsaw.tasks.sources.zarr import open_zarr
from gangsaw.tasks.verify import verify

SHAPE = (6, 40, 50)
CHUNKS = (6, 16, 16)  # 3 x 4 chunks, clipped at two sides
ZSTD = ZstdCodec(level=1)


@pytest.fixture
def source(tmp_path: Path) -> RawSource:
    """A raw cube with wavelengths and attributes."""
    plain = raw_source(tmp_path, SHAPE)
    return replace(plain, coords=(WAVELENGTHS,), attrs={"sensor": "seeded"})


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client:
        yield client


def job(source: Source, target: Path | MemoryStore, **options: Any) -> Summary:
    return compress(source, target, **{"codec": ZSTD, "chunks": CHUNKS} | options)


@pytest.mark.parametrize("codec", ["auto", "none", ZSTD, Ccsds123(block=(0, 8, 8))])
def test_every_reader_gets_the_samples(source: RawSource, tmp_path: Path, codec: Any) -> None:
    """With plain zarr and xarray, and with warnings as errors."""
    target = tmp_path / "cube.zarr"
    summary = job(source, target, codec=codec)
    assert (zarr.open_group(target, mode="r")["data"][...] == cube(SHAPE)).all()
    assert sorted(
        name for name, _ in zarr.open_group(target, use_consolidated=False).members()
    ) == [
        "band",
        "data",
    ]
    dataset = xr.open_zarr(target)
    assert (dataset["data"].values == cube(SHAPE)).all()
    assert (dataset["band"].values == WAVELENGTHS.values).all()
    assert dataset["band"].attrs == {"units": "nm"}
    assert dataset.attrs == {"sensor": "seeded"}
    assert (summary.chunks, summary.resumed, summary.arrays) == (12, 0, ("data",))
    assert (summary.samples, summary.raw_bytes) == (12_000, 24_000)
    stored = sum(p.stat().st_size for p in (target / "data" / "c").rglob("*") if p.is_file())
    assert summary.stored_bytes == stored
    assert summary.ratio == 24_000 / stored
    assert summary.bits_per_sample == 8 * stored / 12_000


def test_workers_write_the_same_store(source: RawSource, tmp_path: Path, client: Client) -> None:
    job(source, tmp_path / "here.zarr")
    job(source, tmp_path / "there.zarr", client=client)
    assert objects(tmp_path / "here.zarr") == objects(tmp_path / "there.zarr")


def test_any_store_can_be_the_target(source: RawSource) -> None:
    store = MemoryStore()
    job(source, store)
    assert (zarr.open_group(store, mode="r")["data"][...] == cube(SHAPE)).all()


def test_decompressing_gives_the_samples_back(source: RawSource, tmp_path: Path) -> None:
    job(source, tmp_path / "small.zarr", codec="auto")
    small = open_zarr(str(tmp_path / "small.zarr"))
    decompress(small, tmp_path / "plain.zarr")
    plain = zarr.open_group(tmp_path / "plain.zarr", mode="r")
    assert plain["data"].compressors == ()
    assert (plain["data"][...] == cube(SHAPE)).all()
    assert (plain["band"][...] == WAVELENGTHS.values).all()


def test_holes_in_a_store_are_never_read_as_samples(source: RawSource, tmp_path: Path) -> None:
    small = tmp_path / "small.zarr"
    interrupted(source, small)
    with pytest.raises(BadParams, match="is not finished: run it with --resume first"):
        open_zarr(str(small))
    job(source, small, resume=True)
    (small / "data" / "c" / "0" / "1" / "1").unlink()
    stored = open_zarr(str(small))
    with pytest.raises(JobFailed, match=r"chunk c/0/1/1: missing: Zarr would read fill values"):
        decompress(stored, tmp_path / "plain.zarr")
    plain = zarr.create_group(tmp_path / "sparse.zarr")
    plain.create_array("data", shape=(6, 40), chunks=(6, 10), dtype="u2", fill_value=7)
    sparse = open_zarr(str(tmp_path / "sparse.zarr"))  # another writer's: absent chunks are legal
    assert (sparse.arrays[0].read((slice(0, 6), slice(5, 25))) == 7).all()


def test_progress_is_told(source: RawSource, tmp_path: Path) -> None:
    states: list[Progress] = []
    job(source, tmp_path / "a.zarr", on_progress=states.append)
    assert [state.done for state in states] == list(range(13))
    assert states[0].seconds_left is None
    assert states[0].ratio == 0
    assert states[-1].seconds_left == 0
    assert states[-1].throughput > 0
    assert states[6].seconds_left == pytest.approx(states[6].seconds)


@dataclass(frozen=True)
class Interrupted(LoggedArray):
    """An array whose reader is interrupted at one row."""

    row: int = 0

    def read(self, region: tuple[slice, ...]) -> Any:
        if region[1].start == self.row:
            raise KeyboardInterrupt
        return self.inner.read(region)


def interrupted(source: RawSource, target: Path, row: int = 32, **options: Any) -> None:
    """Run a job up to the chunks at this row."""
    arrays = tuple(Interrupted(array, log="", row=row) for array in source.arrays)
    with pytest.raises(KeyboardInterrupt):
        job(replace(source, arrays=arrays), target, **options)  # type: ignore[arg-type]


def test_resume_redoes_no_journalled_batch(source: RawSource, tmp_path: Path) -> None:
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    job(source, tmp_path / "whole.zarr")
    interrupted(source, target)
    with pytest.raises(JobFailed, match="is not finished: run it with --resume"):
        verify(target)
    summary = job(logged(source, log), target, resume=True)
    assert summary.resumed == 8
    assert {starts[1] for _, starts in reads(log)} == {32}
    assert summary.raw_bytes == 24_000
    assert objects(target) == objects(tmp_path / "whole.zarr")
    assert job(logged(source, log), target, resume=True).resumed == 12
    assert len(reads(log)) == 4


def test_resume_of_nothing_is_a_start(source: RawSource, tmp_path: Path) -> None:
    assert job(source, tmp_path / "a.zarr", resume=True).resumed == 0


def test_a_damaged_manifest_is_made_anew(source: RawSource, tmp_path: Path) -> None:
    job(source, tmp_path / "whole.zarr")
    job(source, tmp_path / "a.zarr")
    manifest = tmp_path / "a.zarr" / "data" / ".gangsaw" / "manifest"
    manifest.write_bytes(manifest.read_bytes()[:-1])
    assert job(source, tmp_path / "a.zarr", resume=True).resumed == 0
    assert objects(tmp_path / "a.zarr") == objects(tmp_path / "whole.zarr")


def test_a_torn_journal_entry_is_redone(source: RawSource, tmp_path: Path) -> None:
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    interrupted(source, target)
    entry = target / "data" / ".gangsaw" / "journal" / "00000003"
    entry.write_bytes(entry.read_bytes()[:-5])
    job(logged(source, log), target, resume=True)
    assert sorted({starts[1:] for _, starts in reads(log)})[0] == (0, 48)
    assert len(reads(log)) == 5
    assert verify(target, against=source).ok


def test_resume_cleans_temporary_files(source: RawSource, tmp_path: Path) -> None:
    target = tmp_path / "a.zarr"
    interrupted(source, target)
    (target / "data" / "c" / "0" / f"x.{'ab' * 16}.partial").write_bytes(b"half")
    job(source, target, resume=True)
    assert not list(target.rglob("*.partial"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codec": GzipCodec()}, "shape, dtype, chunks, codec, parameters or attributes differ"),
        ({"chunks": (6, 16, 50)}, "shape, dtype, chunks, codec, parameters or attributes differ"),
    ],
)
def test_resume_refuses_another_job(
    source: RawSource, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    interrupted(source, tmp_path / "a.zarr")
    before = objects(tmp_path / "a.zarr")
    with pytest.raises(BadParams, match=f"holds a different job .*{message}.*--overwrite"):
        job(source, tmp_path / "a.zarr", resume=True, **change)
    assert objects(tmp_path / "a.zarr") == before


def test_resume_refuses_a_changed_source(source: RawSource, tmp_path: Path) -> None:
    interrupted(source, tmp_path / "a.zarr")
    os.utime(source.name, ns=(1, 1))
    with pytest.raises(BadParams, match="the source is another one or has changed"):
        job(source, tmp_path / "a.zarr", resume=True)


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


def test_overwriting_keeps_the_old_store_until_the_new_one_is_whole(
    source: RawSource, tmp_path: Path
) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    before = objects(target)
    other = raw_source(tmp_path, SHAPE, seed=1)
    interrupted(other, target, overwrite=True)
    assert objects(target) == before
    assert job(other, target, resume=True).resumed == 8
    assert (zarr.open_group(target, mode="r")["data"][...] == cube(SHAPE, 1)).all()
    assert verify(target, against=other).ok
    assert [p.name for p in tmp_path.iterdir() if "gangsaw" in p.name] == []


def test_resume_finds_its_job_beside_a_given_up_one(source: RawSource, tmp_path: Path) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    interrupted(raw_source(tmp_path, SHAPE, seed=1), target, overwrite=True)
    shutil.rmtree(target)
    interrupted(source, target)
    assert job(source, target, resume=True).resumed == 8
    assert verify(target, against=source).ok
    assert [p.name for p in tmp_path.iterdir() if "gangsaw" in p.name] == []


def test_resuming_what_is_finished_keeps_the_job_beside_it(
    source: RawSource, tmp_path: Path
) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    other = raw_source(tmp_path, SHAPE, seed=1)
    interrupted(other, target, overwrite=True)
    assert job(source, target, resume=True).resumed == 12
    assert job(other, target, resume=True).resumed == 8


@pytest.mark.parametrize("renames", [1, 2])
def test_a_kill_in_the_swap_loses_nothing(
    source: RawSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    target = tmp_path / "a.zarr"
    job(source, target)
    other = raw_source(tmp_path, SHAPE, seed=1)
    done = 0
    rename = Path.rename

    def dies_after(self: Path, to: Path) -> Path:
        nonlocal done
        if done == renames:
            raise KeyboardInterrupt
        done += 1
        return rename(self, to)

    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", dies_after)
    monkeypatch.setattr(target_module, "shutil", SimpleNamespace(rmtree=dies))
    with pytest.raises(KeyboardInterrupt):
        job(other, target, overwrite=True)
    monkeypatch.undo()
    job(other, target, resume=True)
    assert (zarr.open_group(target, mode="r")["data"][...] == cube(SHAPE, 1)).all()
    assert [p.name for p in tmp_path.iterdir() if "gangsaw" in p.name] == []


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


def test_chunks_by_name(source: RawSource, tmp_path: Path) -> None:
    job(source, tmp_path / "a.zarr", chunks={"y": 7, "band": -1})
    assert zarr.open_array(tmp_path / "a.zarr", path="data").chunks == (6, 7, 50)


def test_a_full_disk_is_told_and_resumed(tmp_path: Path) -> None:
    """On a real file system of one mebibyte, mounted in a namespace of its own."""
    script = """
    import sys
    from pathlib import Path
    from gangsaw.codecs.core.errors import JobFailed
    from gangsaw.tasks.compress import compress
    from gangsaw.tasks.sources.raw import open_raw
    from gangsaw.tasks.verify import verify

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
    assert message.endswith("finished batches are kept, run again with --resume")
    assert int(resumed) > 5
    assert problems == "()"


def test_a_read_only_target_is_told(tmp_path: Path) -> None:
    script = """
    import sys
    from pathlib import Path
    from gangsaw.codecs.core.errors import JobFailed
    from gangsaw.tasks.compress import compress
    from gangsaw.tasks.sources.raw import open_raw

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
    """Run a script with a file system of its own at `folder`/small; return the lines it prints."""
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


def test_the_default_codec_follows_the_content(tmp_path: Path) -> None:
    image = raw_source(tmp_path).arrays[0]
    assert choose_codec(image) == Ccsds123()
    assert choose_codec(replace(image, dims=("y", "x", "band"))) == Ccsds123(axes="yxz")
    assert choose_codec(replace(image, dims=("y", "band", "x"))) == Ccsds123(axes="yzx")
    assert choose_codec(replace(image, dtype_str="<f4")) == ZstdCodec(level=3)
    assert choose_codec(replace(image, dtype_str="<u8")) == ZstdCodec(level=3)
    assert image_axes(("y", "x")) == "zyx"


def test_default_chunks_are_equal_and_of_bounded_size(tmp_path: Path) -> None:
    image = raw_source(tmp_path).arrays[0]
    assert default_chunks(image) == SHAPE
    assert default_chunks(replace(image, shape=(224, 512, 614))) == (224, 171, 307)
    bip = replace(image, shape=(512, 614, 224), dims=("y", "x", "band"))
    assert default_chunks(bip) == (171, 307, 224)
    assert default_chunks(replace(image, shape=(3, 10**4, 10**4))) == (3, 1667, 3334)
