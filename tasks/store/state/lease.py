"""The lease of a target: who writes to it now, so that a second job is told.

An object with host, process and time, written anew every RENEW_SECONDS. It counts as abandoned
STALE_SECONDS after it was last written, by the clock of the store, and at once where its process is
dead and was of this host. It lies below an array, for the reason that the journal does.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.store.partial import is_alive
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.journal import FOLDER

log = logging.getLogger(__name__)

LEASE = f"{FOLDER}/lease"
RENEW_SECONDS = 30.0
STALE_SECONDS = 120.0


@dataclass(frozen=True)
class Holder:
    """The process that writes to a target.

    Attributes
    ----------
    host, boot : name of the machine, and what tells its starts apart; "" where unknown
    process, started : number, and when it began in ticks since the boot; 0 where unknown
    token : of this job alone
    seconds : since 1970, by the clock of the host, when the lease was written
    """

    host: str
    boot: str
    process: int
    started: int
    token: str
    seconds: float

    @classmethod
    def me(cls) -> Holder:
        """Return a new job of this process."""
        process = os.getpid()
        token = uuid.uuid4().hex
        return cls(socket.gethostname(), _boot(), process, _started(process), token, time.time())

    @property
    def is_dead(self) -> bool:
        """Whether it is of this host, and is no more."""
        if self.host != socket.gethostname():
            return False
        is_other = self.boot != _boot() or _started(self.process) != self.started
        return is_other or not is_alive(self.process)

    def pack(self) -> bytes:
        """Return the bytes of the lease, written now."""
        return json.dumps(asdict(replace(self, seconds=time.time()))).encode()


class Lease:
    """A lease that this process holds.

    Attributes
    ----------
    place : of the array that it lies below
    holder : this job
    lost : whether another job has taken it
    """

    def __init__(self, place: Place, holder: Holder) -> None:
        self.place, self.holder, self.lost = place, holder, False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="gangsaw-lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise JobFailed where another job has taken the target."""
        if self.lost:
            raise JobFailed(
                f"{self.place}: another job took this target over, since nothing was heard of this "
                f"one for {STALE_SECONDS:g} s"
            )

    def release(self) -> None:
        """Let others write."""
        self._over.set()
        self._thread.join()
        with suppress(OSError):  # it becomes stale by itself
            if not self.lost and self._is_mine():
                self.place.delete(LEASE)

    def _renew(self) -> None:
        while not self._over.wait(RENEW_SECONDS):
            try:
                self.lost = not self._is_mine()
                if self.lost:
                    return
                self.place.put(LEASE, self.holder.pack())
            except Exception as error:  # of any store: the next try may succeed
                log.info("the lease of %s could not be renewed: %s", self.place, error)

    def _is_mine(self) -> bool:
        found = _found(self.place, LEASE)
        return found is not None and found.token == self.holder.token


@contextmanager
def leased(target: Place, name: str) -> Iterator[Lease]:
    """Hold the lease of a target while the context lasts; `name` is an array of the job.

    Raises BadParams where another job holds it, which says who, JobFailed where nobody can write.
    """
    array = target / name
    try:
        lease = Lease(array, _take(array))
    except OSError as error:
        raise JobFailed(f"cannot write to {target}: {error.strerror or error}") from error
    try:
        yield lease
    finally:
        lease.release()


def is_lease(key: str) -> bool:
    """Whether this is the key of a lease, or of what was left of taking one."""
    return f"/{key}".rpartition("/.")[2].startswith("gangsaw/lease")


def _take(array: Place) -> Holder:
    me = Holder.me()
    if array.create(LEASE, me.pack()):
        return me
    stored = array.get(LEASE)
    if stored is None:  # released meanwhile
        return _take(array)
    _refuse_living(array, LEASE)
    # of several that find it abandoned one may take it: who first leaves a mark for this very lease
    mark = f"{LEASE}-{hashlib.sha256(stored.to_bytes()).hexdigest()[:16]}"
    if not array.create(mark, me.pack()):
        _refuse_living(array, mark)
        array.put(mark, me.pack())
    array.put(LEASE, me.pack())
    array.delete(mark)
    return me


def _refuse_living(array: Place, key: str) -> None:
    found = _found(array, key)
    if found is None or found.is_dead:
        return
    age = _age(array, key, found)
    if age <= STALE_SECONDS:
        raise BadParams(
            f"{array}: process {found.process} on {found.host} is writing there (heard of "
            f"{age:.0f} s ago): wait for it, or, where it is dead, until {STALE_SECONDS:g} s have "
            "passed"
        )


def _found(array: Place, key: str) -> Holder | None:
    stored = array.get(key)
    if stored is None:
        return None
    try:
        return Holder(**json.loads(stored.to_bytes()))
    except (TypeError, ValueError):
        return None  # torn, or not ours


def _age(array: Place, key: str, found: Holder) -> float:
    """Return the seconds since a lease was written, by the store's clock where it has one."""
    written = array.modified(key)
    if written is None:
        return time.time() - found.seconds
    probe = f"{LEASE}-{uuid.uuid4().hex[:16]}"
    array.put(probe, b"what time is it?")
    try:
        now = array.modified(probe)
    finally:
        array.delete(probe)
    return (time.time() if now is None else now) - written


def _boot() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else ""


def _started(process: int) -> int:
    """Return when a process began: a number may be given to another one later."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0
