"""Two jobs at one target: one of them is refused, whatever they write and wherever they run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from helpers.hang import wait_until
from helpers.s3 import Bucket
from helpers.streams import Given
from helpers.two_jobs import Outcome, begun, ended, run_two

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.state import lease as leases
from gangsaw.tasks.store.state.lease import LeaseLost, lease_of

DATA = """
import numpy as np, xarray as xr, gangsaw
data = xr.Dataset({{f"v{{number}}": (("b", "y", "x"), np.full((4, 50, 60), number, "u2"))}})
def job(on_progress):
    {call}
"""
CALLS = {
    "new": "gangsaw.compress(data, {target!r}, on_progress=on_progress)",
    "overwrite": "gangsaw.compress(data, {target!r}, overwrite=True, on_progress=on_progress)",
    "resume": "gangsaw.compress(data, {target!r}, resume=True, on_progress=on_progress)",
    "zip": "gangsaw.compress(data, {target!r} + '.zip', on_progress=on_progress)",
}
REFUSED = r"^BadParams: {target}: process \d+ on .* is writing there \(heard of \d+ s ago\)"


def cube(number: int) -> xr.Dataset:
    values = np.full((4, 50, 60), number, "u2")
    return xr.Dataset({f"v{number}": (("b", "y", "x"), values)})


def code_of(kind: str, target: object) -> str:
    return DATA.format(call=CALLS[kind].format(target=str(target)))


def check_one(outcomes: list[Outcome], target: object) -> int:
    """Check that one job was refused; return the number of the other."""
    (won,) = [one.number for one in outcomes if not one.error]
    (lost,) = [one.error for one in outcomes if one.error]
    assert re.search(REFUSED.format(target=re.escape(str(target))), lost), lost
    assert "--" not in lost
    return won


@pytest.mark.quick(cases=2)
@pytest.mark.parametrize("kind", CALLS)
def test_one_of_two_stores_is_written(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "two.zarr"
    if kind in ("overwrite", "resume"):
        gangsaw.compress(cube(3), target)
    if kind == "resume":
        shutil.rmtree(target)
    outcomes = run_two(code_of(kind, target), tmp_path)
    store = target.with_name("two.zarr.zip") if kind == "zip" else target
    won = check_one(outcomes, store)
    assert list(gangsaw.open(store).data_vars) == [f"v{won}"]
    assert gangsaw.verify(store).ok
    assert not list(tmp_path.glob(".*"))
    if kind != "zip":
        assert [path.name for path in target.iterdir() if path.is_dir()] == [f"v{won}"]


def test_two_spellings_name_one_target(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "other").symlink_to(tmp_path / "real")
    for spelling in ("other/two.zarr", "real/../real/two.zarr", "real/two.zarr"):
        place = open_prefix(tmp_path / spelling, writable=True)
        assert lease_of(place) == lease_of(open_prefix(tmp_path / "real" / "two.zarr"))


EXPORT = """
import gangsaw
def job(on_progress):
    where = {store!r}.format(number)
    gangsaw.decompress(where, {target!r}, accept_loss=True, on_progress=on_progress)
    on_progress(None)
"""


@pytest.mark.full
@pytest.mark.parametrize("name", ["two.hdr", "two.nc"])
def test_one_of_two_files_is_written(tmp_path: Path, name: str) -> None:
    for number in (1, 2):
        gangsaw.compress(cube(number), tmp_path / f"{number}.zarr")
    target = tmp_path / name
    code = EXPORT.format(store=str(tmp_path / "{}.zarr"), target=str(target))
    won, lost = sorted(run_two(code, tmp_path), key=lambda one: one.error)
    assert won.error == ""
    assert re.search(r"^BadParams: \S*two\.\S+: process \d+ on .* is writing there", lost.error)
    gangsaw.compress(target, tmp_path / "back.zarr")
    (array,) = gangsaw.open(tmp_path / "back.zarr").data_vars.values()
    assert np.array_equal(np.unique(array), [won.number])


def test_one_of_two_jobs_writes_a_prefix_of_s3(
    bucket: Bucket, address: str, tmp_path: Path
) -> None:
    bucket.faults(ms=20)  # what both see at first is the same
    outcomes = run_two(code_of("new", address), tmp_path, bucket.environment)
    won = check_one(outcomes, address)
    opened = gangsaw.open(address, storage_options=bucket.options)
    assert list(opened.data_vars) == [f"v{won}"]
    assert gangsaw.verify(address, storage_options=bucket.options).extra == ()


CONTAINER = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")


@pytest.fixture
def container() -> tuple[str, ...]:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is missing: apt-get install util-linux")
    made = subprocess.run([*CONTAINER, "true"], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"this system makes no PID namespaces: {made.stderr.strip()}")
    return CONTAINER


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("kind", ["overwrite", "resume"])
def test_containers_of_one_host_name_exclude_each_other(
    container: tuple[str, ...], tmp_path: Path, kind: str
) -> None:
    """In each of them the first process has the number 1; there is no other one's number."""
    target = tmp_path / "two.zarr"
    if kind == "overwrite":
        gangsaw.compress(cube(3), target)
    code = code_of(kind, target)
    (tmp_path / "go").touch()
    with begun(code, 1, tmp_path, within=container) as first:
        wait_until((tmp_path / "at-work-1").exists)
        with begun(code, 2, tmp_path, within=container) as second:
            lost = ended(second).error
        assert re.search("process 1 on .*, in another container, is writing there", lost), lost
        with pytest.raises(BadParams, match="in another container, is writing there"):
            gangsaw.compress(cube(2), target, overwrite=True)
        assert ended(first) == Outcome(1, "")
    assert list(gangsaw.open(target).data_vars) == ["v1"]
    assert gangsaw.verify(target).ok


def lose(place: Prefix) -> None:
    """Let another job take the lease of a target."""
    home, key = lease_of(place)
    home.put(key, leases.Holder.of_this_process().pack())


def array_job(target: object, on_progress: Callable[[object], None], **how: Any) -> None:
    gangsaw.compress(cube(1), target, on_progress=on_progress, **how)


def stream_job(target: object, on_progress: Callable[[object], None], **how: Any) -> None:
    parts = ({"v1": np.arange(60, dtype="u2").reshape(12, 5)},)
    gangsaw.compress(
        Given(parts), target, codec="zstd", chunks=(4, 5), on_progress=on_progress, **how
    )


@pytest.mark.quick(cases=4)
@pytest.mark.parametrize("run", [array_job, stream_job])
@pytest.mark.parametrize("kind", ["new", "overwrite"])
def test_a_job_that_lost_its_target_changes_nothing(
    tmp_path: Path, kind: str, run: Callable[..., None]
) -> None:
    target = tmp_path / "a.zarr"
    if kind == "overwrite":
        gangsaw.compress(cube(3), target)
    seen: list[set[Path]] = []

    def on_progress(_: object) -> None:
        if not seen:
            lose(open_prefix(target))
            seen.append(set(tmp_path.rglob("*")))

    with pytest.raises(LeaseLost, match="took this target over") as lost:
        run(target, on_progress, overwrite=kind == "overwrite")
    assert "--" not in str(lost.value)
    assert not {path for path in seen[0] if not path.exists()}
    assert not list(tmp_path.rglob("history*"))[kind == "overwrite" :]
    if kind == "overwrite":
        assert list(gangsaw.open(target).data_vars) == ["v3"]
        assert gangsaw.verify(target).ok
    else:
        assert not (target / "v1" / ".gangsaw" / "manifest").exists()


def test_an_export_that_lost_its_target_writes_nothing(tmp_path: Path) -> None:
    gangsaw.compress(cube(1), tmp_path / "a.zarr")
    target = tmp_path / "a.nc"
    target.write_bytes(b"of another job")
    with pytest.raises(LeaseLost):
        gangsaw.decompress(
            tmp_path / "a.zarr",
            target,
            overwrite=True,
            on_progress=lambda _: lose(open_prefix(target)),
        )
    assert target.read_bytes() == b"of another job"


def test_a_folder_that_nobody_may_write_next_to_has_its_lease_inside(tmp_path: Path) -> None:
    target = tmp_path / "closed" / "a.zarr"
    target.mkdir(parents=True)
    monkeypatch_access = os.access
    place = open_prefix(target, writable=True)
    beside = lease_of(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            leases.os, "access", lambda p, m: p != target.parent and monkeypatch_access(p, m)
        )
        assert lease_of(place) == (place, leases.LEASE)
        with leases.hold_lease(place):
            patch.undo()
            assert lease_of(place) == beside
            with pytest.raises(BadParams, match="is writing there"), leases.hold_lease(place):
                pytest.fail("two hold it")
    assert not list(target.iterdir())
    assert not list(target.parent.glob(".*"))
