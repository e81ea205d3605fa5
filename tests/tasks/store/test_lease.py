"""Who writes to a target: one job at a time, and none for ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.job_data import raw_source
from helpers.job_runs import interrupted, job, labelled_source
from zarr.storage import MemoryStore

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.formats.atomic import whole_files, whole_folder
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.store.partial import part_of
from gangsaw.tasks.store.place import Place, open_place
from gangsaw.tasks.store.state import lease as leases
from gangsaw.tasks.store.state.lease import LEASE, Holder, Lease, leased


@pytest.fixture(params=["folder", "memory", "address"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    kinds = {
        "folder": lambda: open_place(tmp_path / "store.zarr", writable=True),
        "memory": lambda: open_place(MemoryStore()),
        "address": lambda: open_place(f"memory://{tmp_path.name}/s.zarr", writable=True),
    }
    return kinds[request.param]() / "data"


def held(place: Place) -> AbstractContextManager[Lease]:
    return leased(Place(place.store), "data")


def put(place: Place, **changes: object) -> Holder:
    """Leave the lease of another job."""
    holder = replace(Holder.me(), **changes)
    place.put(LEASE, json.dumps(vars(holder)).encode())
    return holder


def ended() -> int:
    """Return the number of a process that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_a_second_job_is_told(place: Place) -> None:
    with held(place):
        told = f"process {os.getpid()} on .* is writing there"
        with pytest.raises(BadParams, match=told), held(place):
            pytest.fail("two hold it")
        assert place.has(LEASE)
    assert place.is_empty
    with held(place):
        pass


def test_one_of_many_wins(place: Place) -> None:
    start, won = threading.Barrier(4), []

    def take() -> None:
        start.wait()
        try:
            with held(place):
                won.append(1)
                start.wait()
        except BadParams:
            start.wait()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # in memory nothing can tell two writers apart that look at the same time
    assert won == [1] or (place.folder is None and won)


def test_that_of_a_dead_process_of_this_host_is_taken_at_once(place: Place) -> None:
    for changes in ({"process": ended()}, {"started": 7}, {"boot": "another one"}):
        put(place, **changes)
        with held(place) as lease:
            assert json.loads(_bytes(place))["token"] == lease.holder.token
    assert place.is_empty


def test_that_of_another_host_is_taken_when_it_is_stale(tmp_path: Path) -> None:
    place = open_place(tmp_path / "store.zarr", writable=True) / "data"
    put(place, host="elsewhere", seconds=0.0)  # by its own clock, which may be wrong, long ago
    told = r"on elsewhere is writing there \(heard of \d s ago\)"
    with pytest.raises(BadParams, match=told), held(place):
        pytest.fail("it is held")
    assert place.folder is not None
    then = time.time() - leases.STALE_SECONDS - 10
    os.utime(place.folder / LEASE, (then, then))
    with held(place):
        pass
    assert place.is_empty


def test_a_torn_lease_holds_nobody_up(place: Place) -> None:
    place.put(LEASE, b'{"host":')
    with held(place):
        pass
    assert place.is_empty


def test_it_is_renewed_and_its_loss_noticed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.02)
    with held(place) as lease:
        first = json.loads(_bytes(place))["seconds"]
        _until(lambda: json.loads(_bytes(place))["seconds"] > first)
        lease.check()
        other = put(place, token="of another job")
        _until(lambda: lease.lost)
        with pytest.raises(JobFailed, match="another job took this target over"):
            lease.check()
    assert json.loads(_bytes(place))["token"] == other.token  # it stays


def test_jobs_hold_it(tmp_path: Path) -> None:
    source, target = labelled_source(tmp_path), tmp_path / "a.zarr"
    told = r"a\.zarr/data: process .* is writing there"
    with leased(open_place(target, writable=True), "data"), pytest.raises(BadParams, match=told):
        job(source, target)
    job(source, target)
    assert verify(target).extra == ()
    assert not (target / "data" / LEASE).exists()


def test_a_target_with_nothing_but_a_lease_is_free(tmp_path: Path) -> None:
    target = tmp_path / "a.zarr"
    put(open_place(target, writable=True) / "data", process=ended())
    job(raw_source(tmp_path), target)
    assert verify(target).ok


def test_resume_repeats_what_was_lost(tmp_path: Path) -> None:
    source, target = labelled_source(tmp_path), tmp_path / "a.zarr"
    interrupted(source, target)
    (target / "data" / "c" / "0" / "0" / "1").unlink()
    summary = job(source, target, resume=True)
    assert summary.resumed == 7  # of two rows of four chunks
    assert verify(target, against=source).ok


@pytest.mark.parametrize("name", ["a.img", "a.hdr"])
def test_files_of_killed_exports_are_removed(tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    mine, old = part_of(target), tmp_path / f".{name}.0123abcd.partial"
    dead = Path(str(mine).replace(f"-{os.getpid()}-", f"-{ended()}-"))
    others = tmp_path / f".{name}x.0123abcd.partial", tmp_path / f".{name}.note.partial"
    for path in (mine, dead, old, *others):
        path.write_bytes(b"x")
    for path in (old, *others):
        os.utime(path, (0, 0))
    with whole_files([target], overwrite=False) as (part,):
        part.write_bytes(b"whole")
    assert target.read_bytes() == b"whole"
    assert sorted(tmp_path.iterdir()) == sorted([target, mine, *others])


def test_folders_of_killed_exports_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "a.ms"
    dead = Path(str(part_of(target)).replace(f"-{os.getpid()}-", f"-{ended()}-"))
    (dead / "inner").mkdir(parents=True)
    with whole_folder(target, "table.dat", overwrite=False) as part:
        part.mkdir()
    assert list(tmp_path.iterdir()) == [target]


def _bytes(place: Place) -> bytes:
    found = place.get(LEASE)
    assert found is not None
    return found.to_bytes()


def _until(is_so: object) -> None:
    end = time.monotonic() + 20
    assert callable(is_so)
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)
