"""Lease of a target: one job at a time writes to it; another job reports the holder and stops.

It is taken before the target is read, by exclusive creation of an object: a file by O_EXCL or a
hard link, an object by a conditional PUT. The lease of a folder or file is next to it, because an
overwriting job replaces the folder; in other stores it is inside, in `.gangsaw`.

The lease names its holder and is never rewritten: a job that was suspended could overwrite the
lease of its successor. Every RENEW_SECONDS the holder writes another object, the heartbeat. A lease
is abandoned when its process has certainly ended, or STALE_SECONDS after the last heartbeat by the
clock of the store. A holder reads its lease again (`Lease.confirm`) before irreversible changes.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from zarr.storage import LocalStore

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.store.holder import Holder
from gangsaw.tasks.store.objects.files import resolve_links
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.journal import FOLDER

log = logging.getLogger(__name__)

LEASE = f"{FOLDER}/lease"
RENEW_SECONDS = 30.0
STALE_SECONDS = 120.0
WHOLE_SECONDS = 1.0  # grace period for an incomplete lease, which its writer may be writing
MOST_TRIES = 200
MOST_FOLDERS = 64  # empty folders in a target that counts as free
NAME_BYTES = 120  # longest target name that its lease contains in clear

_own_leases: ContextVar[tuple[Lease, ...]] = ContextVar("gangsaw_leases", default=())


class LeaseLost(JobFailed):
    """Error: another job took the target over; this job stops, and must not be resumed."""


class Lease:
    """Lease of a target that this process holds, so that no other job writes there.

    Attributes
    ----------
    target : prefix that the job writes to
    home, key : prefix and key of the lease object
    holder : identity of this job
    is_shared : True if jobs that begin in its context use it
    lost : True if another job has taken the target over
    """

    def __init__(self, target: Prefix, holder: Holder, *, is_shared: bool = False) -> None:
        self.target, self.is_shared = target, is_shared
        self.home, self.key = lease_of(target)
        self.holder, self.lost, self._beats = holder, False, False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="gangsaw-lease", daemon=True)

    def begin(self) -> None:
        """Start the heartbeat thread."""
        self._thread.start()

    def check(self) -> None:
        """Raise `LeaseLost` if another job is known to have taken the target over."""
        if self.lost:
            found = _holder(self.home, self.key)
            who = "another job" if found is None else str(found)
            raise LeaseLost(
                f"{self.target}: {who} took this target over, as this job sent no heartbeat for "
                f"{STALE_SECONDS:g} s: this one has stopped; wait until the other ends"
            )

    def confirm(self) -> None:
        """Read the lease again; raise `LeaseLost` if it belongs to another job."""
        if self._thread.ident is not None:  # a dry run has no lease
            self.lost = self.lost or not self._is_mine()
        self.check()

    def release(self) -> None:
        """Release the lease."""
        self._over.set()
        self._thread.join()
        try:
            if self._is_mine():
                self.home.delete(self.key)
            if self._beats:
                self.home.delete(_beat(self.key, self.holder))
        except Exception as error:  # error of any store: the lease becomes stale
            log.info("the lease of %s could not be released: %s", self.target, error)

    def _renew(self) -> None:
        while not self._over.wait(RENEW_SECONDS):
            try:
                self.lost = not self._is_mine()
                if self.lost:
                    return
                self._beats = True
                self.home.put(_beat(self.key, self.holder), self.holder.pack())
            except Exception as error:  # error of any store: the next try may succeed
                log.info("the lease of %s could not be renewed: %s", self.target, error)

    def _is_mine(self) -> bool:
        found = _holder(self.home, self.key)
        return found is not None and found.token == self.holder.token


@contextmanager
def hold_lease(target: Prefix, *, shared: bool = False) -> Iterator[Lease]:
    """Hold the lease of a target within the context; in a dry run, only check its holder.

    Parameters
    ----------
    target : a store, or the path of a file or folder that a job writes
    shared : True if jobs that begin in this context are parts of this one and use its lease

    Raises
    ------
    BadParams : another job holds the lease; the message names its process
    JobFailed : the target cannot be written
    `LeaseLost` : another job took the target over meanwhile
    """
    lease = Lease(target, Holder.of_this_process(), is_shared=shared)
    if (joined := _lease_of_this_process(lease.home, lease.key)) is not None and joined.is_shared:
        yield joined
        return
    if dry_run.is_on():
        refuse_leased(target)
        yield lease
        return
    with ExitStack() as stack:
        try:
            _take(lease, stack)
        except ConnectionError as error:  # its message names the object
            raise ConnectionError(str(error).replace(f"/{lease.key}:", ":", 1)) from error
        except OSError as error:
            raise JobFailed(f"cannot write to {target}: {error.strerror or error}") from error
        _own_leases.set((*_own_leases.get(), lease))
        stack.callback(_leave, lease)
        yield lease
        lease.confirm()


def refuse_leased(target: Prefix) -> None:
    """Raise BadParams if another job holds the lease of a target; the message names its process."""
    for home, key in _possible_leases(target):
        if _lease_of_this_process(home, key) is None and (stored := _whole(home, key)) is not None:
            _refuse_living(home, key, stored, target)


def _lease_of_this_process(home: Prefix, key: str) -> Lease | None:
    return next((one for one in _own_leases.get() if (one.home, one.key) == (home, key)), None)


def _leave(lease: Lease) -> None:
    _own_leases.set(tuple(one for one in _own_leases.get() if one is not lease))


def is_lease(key: str) -> bool:
    """Return True for the store key of a lease, of its heartbeat or of its take-over mark."""
    return f"/{key}".rpartition("/.")[2].startswith("gangsaw/lease")


def is_free(target: Prefix) -> bool:
    """Return True if a target has no objects except leases and empty folders."""
    if target.is_empty:
        return True
    if target.folder is not None and not target.folder.is_dir():
        return False
    if len(target.names()) > MOST_FOLDERS:  # the listing of another program's objects might be long
        return False
    return all(is_lease(key) for key in target.walk())


def lease_of(target: Prefix) -> tuple[Prefix, str]:
    """Return the store prefix and the key under which the lease of a target is stored."""
    return _possible_leases(target)[0]


def _possible_leases(target: Prefix) -> list[tuple[Prefix, str]]:
    """Return prefix and key of a target's lease, then of the lease that another job may have used.

    A mount point cannot be replaced, and its parent folder may be private to this container.
    """
    inside = target, LEASE
    if target.folder is None:
        return [inside]
    folder = resolve_links(target.folder)
    inside = Prefix(LocalStore(folder)), LEASE
    if folder.parent == folder or _is_mount(folder):
        return [inside]
    name = folder.name
    if len(name.encode()) > NAME_BYTES:
        name = hashlib.sha256(name.casefold().encode()).hexdigest()[:32]
    beside = Prefix(LocalStore(folder.parent)), f".{name}.gangsaw-lease"
    is_closed = folder.parent.is_dir() and not os.access(folder.parent, os.W_OK | os.X_OK)
    both = [inside, beside] if is_closed else [beside, inside]
    return both if folder.is_dir() or is_closed else [beside]


def _is_mount(folder: Path) -> bool:
    if os.path.ismount(folder):
        return True
    try:  # only the list of mounts shows a bind mount of the same device
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return False
    named = str(folder).replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011")
    return any(line.split(" ")[4:5] == [named] for line in lines)


def _take(lease: Lease, stack: ExitStack) -> None:
    """Create the object of a lease and register its removal with the stack."""
    folder = lease.home.folder
    if folder is not None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        stack.callback(_remove_empty, missing)
        if lease.key == LEASE:
            stack.callback(_remove_empty, [folder / FOLDER])
    _create(lease.home, lease.key, lease.holder, lease.target)
    lease.begin()
    stack.callback(lease.release)
    for home, key in _possible_leases(lease.target):
        if (home, key) != (lease.home, lease.key) and (stored := _whole(home, key)) is not None:
            _refuse_living(home, key, stored, lease.target)


def _create(home: Prefix, key: str, me: Holder, target: Prefix) -> None:
    """Create a lease or take over an abandoned one; raise BadParams if its holder is alive.

    If several jobs find it abandoned, one takes it over. That job creates a mark for exactly this
    lease, and then still finds the lease unchanged.
    """
    for _ in range(MOST_TRIES):
        if home.create(key, me.pack()):
            return
        if (stored := _whole(home, key)) is None:  # released meanwhile
            time.sleep(0.01)
            continue
        _refuse_living(home, key, stored, target)
        mark = f"{key}-{hashlib.sha256(stored).hexdigest()[:16]}"
        _create(home, mark, me, target)
        try:
            if _read(home, key) != stored:
                continue
            home.put(key, me.pack())
        finally:
            home.delete(mark)
        if (before := Holder.unpack(stored)) is not None:
            home.delete(_beat(key, before))
        return
    raise JobFailed(f"{target}: its lease changes repeatedly: other jobs start there all the time")


def _refuse_living(home: Prefix, key: str, stored: bytes, target: Prefix) -> None:
    """Raise BadParams if the holder in a lease may still be running."""
    found = Holder.unpack(stored)
    if found is None or found.is_dead:
        return
    age = _age(home, key, found)
    if abs(age) > STALE_SECONDS:  # negative age: a clock was set back meanwhile
        return
    later = "" if found.is_comparable else f"; if it was killed, in {STALE_SECONDS - age:.0f} s"
    raise BadParams(
        f"{target}: {found} is writing there (heard of {max(age, 0):.0f} s ago): run this again "
        f"when it has ended{later}"
    )


def _age(home: Prefix, key: str, found: Holder) -> float:
    """Return the seconds since the last heartbeat of a lease, by the store's clock if it has one.

    Parameters
    ----------
    found : holder in the lease
    """
    beat = _beat(key, found)
    written = [seconds for one in (key, beat) if (seconds := home.modified(one)) is not None]
    if not written:
        last = _holder(home, beat) or found
        return time.time() - last.seconds
    return (_store_time(home, key) or time.time()) - max(written)


def _store_time(home: Prefix, key: str) -> float | None:
    """Return the current time by the store's clock in seconds since 1970; None if unknown."""
    if dry_run.is_on():
        return None
    probe = f"{key}-{uuid.uuid4().hex[:16]}"
    home.put(probe, b"what time is it?")
    try:
        return home.modified(probe)
    finally:
        home.delete(probe)


def _beat(key: str, holder: Holder) -> str:
    return f"{key}-{holder.token[:16]}"


def _holder(home: Prefix, key: str) -> Holder | None:
    stored = _read(home, key)
    return None if stored is None else Holder.unpack(stored)


def _whole(home: Prefix, key: str) -> bytes | None:
    """Return the bytes of a lease, or None if absent; wait while it is being written."""
    until = time.monotonic() + WHOLE_SECONDS
    while (stored := _read(home, key)) is not None:
        if Holder.unpack(stored) is not None or time.monotonic() > until:
            return stored
        time.sleep(0.02)
    return None


def _read(home: Prefix, key: str) -> bytes | None:
    stored = home.get(key)
    return None if stored is None else stored.to_bytes()


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # the folder is in use
            folder.rmdir()
