"""Who writes to a target: one job at a time, and none for ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.hang import wait_until
from helpers.job_data import raw_source
from helpers.job_runs import interrupted, job, labelled_source
from helpers.streams import Given
from helpers.tcr_runs import Repertoires, records, written
from zarr.storage import MemoryStore

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.visibility import Params
from gangsaw.tasks.append import Appender, Steps
from gangsaw.tasks.formats.exporting.atomic import write_whole_files, write_whole_folder
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.store.holder import Holder
from gangsaw.tasks.store.objects.partial import partial_path
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.processes import is_alive, start_time_of
from gangsaw.tasks.store.state import lease as leases
from gangsaw.tasks.store.state.lease import Lease, LeaseLost, hold_lease, lease_of


@pytest.fixture(params=["folder", "memory", "address"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Prefix:
    kinds = {
        "folder": lambda: open_prefix(tmp_path / "store.zarr", writable=True),
        "memory": lambda: open_prefix(MemoryStore()),
        "address": lambda: open_prefix(f"memory://{tmp_path.name}/s.zarr", writable=True),
    }
    return kinds[request.param]()


def put(place: Prefix, **changes: object) -> Holder:
    """Leave the lease of another job."""
    holder = replace(Holder.of_this_process(), **changes)
    home, key = lease_of(place)
    home.put(key, json.dumps(vars(holder)).encode())
    return holder


def left_by(place: Prefix) -> list[str]:
    """Return what leases left at their place and, of a folder, next to it."""
    home, _ = lease_of(place)
    return sorted(home.walk())


def ended() -> int:
    """Return the number of a process that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_a_second_job_is_told(place: Prefix) -> None:
    with hold_lease(place):
        told = f"process {os.getpid()} on .* is writing there"
        with pytest.raises(BadParams, match=told), hold_lease(place):
            pytest.fail("two hold it")
        home, key = lease_of(place)
        assert home.has(key)
    assert left_by(place) == []
    with hold_lease(place):
        pass


def test_one_of_many_wins(place: Prefix) -> None:
    start, won = threading.Barrier(4), []

    def take() -> None:
        start.wait()
        try:
            with hold_lease(place):
                won.append(1)
                start.wait()
        except BadParams:
            start.wait()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert won == [1]


def test_that_of_a_dead_process_of_this_host_is_taken_at_once(place: Prefix) -> None:
    for changes in ({"process": ended()}, {"started": 7}):
        put(place, **changes)
        with hold_lease(place) as lease:
            assert json.loads(_bytes(place))["token"] == lease.holder.token
    assert left_by(place) == []


def test_that_of_a_zombie_is_taken_at_once(place: Prefix) -> None:
    """Its parent has not waited for it yet: the number is taken, and nothing runs."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    try:
        put(place, process=process.pid, started=start_time_of(process.pid))
        wait_until(lambda: not is_alive(process.pid))
        os.kill(process.pid, 0)  # it has not gone
        with hold_lease(place):
            pass
    finally:
        process.wait()


@pytest.mark.quick(cases=6)
@pytest.mark.parametrize("field", ["namespaces", "boot", "host"])
def test_a_number_of_another_container_says_nothing(place: Prefix, field: str) -> None:
    """No process here has the number, and none with it is that one: it may live."""
    for changes in ({"process": ended()}, {"process": os.getpid(), "started": 7}):
        holder = put(place, **{field: "another one"}, **changes)
        where = {
            "host": "",
            "boot": ", of another machine of that name or before its last boot,",
            "namespaces": ", in another container,",
        }
        told = (
            rf"process {holder.process} on {holder.host}{where[field]} is writing there "
            r"\(heard of \d+ s ago\)"
        )
        with pytest.raises(BadParams, match=told) as refused, hold_lease(place):
            pytest.fail("it is held")
        assert "if it was killed, in " in str(refused.value)


def test_that_of_another_host_is_taken_when_it_is_stale(tmp_path: Path) -> None:
    place = open_prefix(tmp_path / "store.zarr", writable=True)
    put(place, host="elsewhere", seconds=0.0)  # by its own clock, which may be wrong, long ago
    told = r"on elsewhere is writing there \(heard of \d+ s ago\)"
    with pytest.raises(BadParams, match=told), hold_lease(place):
        pytest.fail("it is held")
    home, key = lease_of(place)
    assert home.folder is not None
    then = time.time() - leases.STALE_SECONDS - 10
    os.utime(home.folder / key, (then, then))
    with hold_lease(place):
        pass
    assert left_by(place) == []


def test_a_heartbeat_keeps_it(place: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = put(place, host="elsewhere", seconds=0.0)
    home, key = lease_of(place)
    if home.folder is not None:
        os.utime(home.folder / key, (0, 0))
    home.put(f"{key}-{holder.token[:16]}", holder.pack())
    with pytest.raises(BadParams, match="is writing there"), hold_lease(place):
        pytest.fail("it is held")
    monkeypatch.setattr(leases, "STALE_SECONDS", -1.0)  # now the last one is too old
    with hold_lease(place):
        pass
    assert left_by(place) == []


def test_one_of_many_takes_an_abandoned_one(place: Prefix) -> None:
    for _ in range(5):
        put(place, process=ended())
        test_one_of_many_wins(place)
        assert left_by(place) == []


def test_who_looked_too_long_takes_nothing(place: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its look at an abandoned lease and its mark another job takes the lease."""
    put(place, process=ended())
    create, first = Prefix.create, []

    def late(self: Prefix, key: str, data: bytes) -> bool:
        if "lease-" in key and not first:
            first.append(key)
            monkeypatch.setattr(Prefix, "create", create)
            other.enter_context(hold_lease(place))
        return create(self, key, data)

    monkeypatch.setattr(Prefix, "create", late)
    with (
        ExitStack() as other,
        pytest.raises(BadParams, match="is writing there"),
        hold_lease(place),
    ):
        pytest.fail("two hold it")
    assert first


def test_a_torn_lease_holds_nobody_up(place: Prefix) -> None:
    home, key = lease_of(place)
    home.put(key, b'{"host":')
    with hold_lease(place):
        pass
    assert left_by(place) == []


def test_one_that_is_being_written_is_waited_for(place: Prefix) -> None:
    """Where there are no hard links a lease is empty for a moment."""
    home, key = lease_of(place)
    home.put(key, b"")
    writer = threading.Timer(0.2, lambda: put(place))
    writer.start()
    with pytest.raises(BadParams, match="is writing there"), hold_lease(place):
        pytest.fail("it is held")
    writer.join()


def test_it_is_renewed_and_its_loss_noticed(place: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.02)
    taken = f"process {os.getpid()} on .* took this target over"

    def lose_it() -> None:
        with hold_lease(place) as lease:
            home, key = lease_of(place)
            wait_until(lambda: home.has(f"{key}-{lease.holder.token[:16]}"))
            lease.check()
            put(place, token="of another job")
            wait_until(lambda: lease.lost)
            with pytest.raises(LeaseLost, match=taken):
                lease.check()

    with pytest.raises(LeaseLost, match=taken):
        lose_it()
    assert json.loads(_bytes(place))["token"] == "of another job"  # it stays


def test_a_lost_lease_is_noticed_without_a_heartbeat(place: Prefix) -> None:
    for lose in (lambda: put(place, token="of another job"), lambda: _delete(place)):
        with ExitStack() as stack:
            lease = stack.enter_context(hold_lease(place))
            lease.confirm()
            lose()
            with pytest.raises(LeaseLost, match="took this target over"):
                lease.confirm()
            with pytest.raises(LeaseLost):
                stack.close()
        _delete(place)


def test_a_heartbeat_writes_over_no_lease(place: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that slept between its look and its heartbeat does not take the target back."""
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(Lease, "_is_mine", lambda _: True)
    with hold_lease(place) as lease:
        home, key = lease_of(place)
        put(place, token="of another job")
        before, beat = _bytes(place), f"{key}-{lease.holder.token[:16]}"
        for _ in range(3):
            wait_until(lambda: home.has(beat))
            home.delete(beat)
        assert _bytes(place) == before


def _delete(place: Prefix) -> None:
    home, key = lease_of(place)
    home.delete(key)


def test_jobs_hold_it(tmp_path: Path) -> None:
    source, target = labelled_source(tmp_path), tmp_path / "a.zarr"
    told = r"a\.zarr: process .* is writing there"
    with hold_lease(open_prefix(target, writable=True)):
        for how in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(BadParams, match=told) as refused:
                job(source, target, **how)
            assert "--" not in str(refused.value)
    assert not target.exists()
    job(source, target)
    assert verify(target).extra == ()
    assert not list(tmp_path.glob("**/*lease*"))


DIMS = ("time", "frequency", "baseline", "polarization")
FAST = Params(effort="fast", block=(4, 0, 0))
Begun = Callable[[Path], object]


def streamed(_: Path) -> Begun:
    parts = ({"data": np.arange(60, dtype="u2").reshape(12, 5)},)
    return lambda target: gangsaw.compress(Given(parts), target, codec="zstd", chunks=(4, 5))


def appended(_: Path) -> Begun:
    steps = Steps(dims=DIMS, shape=(3, 2, 2), dtype="c8", params=FAST)
    return lambda target: Appender(target, steps).close()


def counted(folder: Path) -> Begun:
    repertoires = Repertoires((written(folder, "a", records(20)),), ())
    return lambda target: repertoires.count(target, table=folder / "dropped.tsv")


JOBS: dict[str, Callable[[Path], Begun]] = {
    "stream": streamed,
    "append": appended,
    "tcr count": counted,
}


@pytest.mark.parametrize("kind", JOBS)
def test_every_job_holds_it(tmp_path: Path, kind: str) -> None:
    begin, target = JOBS[kind](tmp_path), tmp_path / "a.zarr"
    told = rf"^{target}: process {os.getpid()} on .* is writing there [^\n]*$"
    with hold_lease(open_prefix(target, writable=True)), pytest.raises(BadParams, match=told):
        begin(target)
    assert not target.exists()
    begin(target)
    assert (target / "zarr.json").exists()
    assert not list(tmp_path.rglob("*lease*"))


def test_what_another_job_begins_anew_is_left_alone(tmp_path: Path) -> None:
    source, target = labelled_source(tmp_path), tmp_path / "a.zarr"
    job(source, target)
    interrupted(source, target, overwrite=True)
    beside = tmp_path / ".a.zarr.gangsaw-new"
    before = sorted(beside.rglob("*"))
    with (
        hold_lease(open_prefix(target, writable=True)),
        pytest.raises(BadParams, match="is writing there"),
    ):
        job(source, target, overwrite=True)
    assert sorted(beside.rglob("*")) == before
    job(source, target, overwrite=True)
    assert verify(target, against=source).ok


def test_a_target_with_nothing_but_a_lease_is_free(place: Prefix, tmp_path: Path) -> None:
    put(place, process=ended())
    job(raw_source(tmp_path), place.folder or place.store)
    assert verify(place.folder or place.store).ok
    assert not [key for key in left_by(place) if "lease" in key]


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
    mine, old = partial_path(target), tmp_path / f".{name}.0123abcd.partial"
    dead = Path(str(mine).replace(f"-{os.getpid()}-", f"-{ended()}-"))
    others = tmp_path / f".{name}x.0123abcd.partial", tmp_path / f".{name}.note.partial"
    for path in (mine, dead, old, *others):
        path.write_bytes(b"x")
    for path in (old, *others):
        os.utime(path, (0, 0))
    with write_whole_files([target], overwrite=False) as (part,):
        part.write_bytes(b"whole")
    assert target.read_bytes() == b"whole"
    assert sorted(tmp_path.iterdir()) == sorted([target, mine, *others])


def test_folders_of_killed_exports_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "a.ms"
    dead = Path(str(partial_path(target)).replace(f"-{os.getpid()}-", f"-{ended()}-"))
    (dead / "inner").mkdir(parents=True)
    with write_whole_folder(target, "table.dat", overwrite=False) as part:
        part.mkdir()
    assert list(tmp_path.iterdir()) == [target]


def _bytes(place: Prefix) -> bytes:
    home, key = lease_of(place)
    found = home.get(key)
    assert found is not None
    return found.to_bytes()
