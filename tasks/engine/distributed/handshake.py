"""Handshake with the workers before a job: check their version of gangsaw and their paths."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast
from weakref import WeakKeyDictionary

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.scheduling.memory import Worker

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0  # a silent worker may be compiling; stragglers are found elsewhere
RECENT_SECONDS = 60.0  # after a change of a file; its size is not compared then
NAMED = 3  # workers in a message


_left_out_named: WeakKeyDictionary[Client, set[str]] = WeakKeyDictionary()  # in messages


class ProcessDescription(TypedDict):
    """Description of a process, by which a client decides if a worker can do a job.

    Attributes
    ----------
    version : version of gangsaw; "" if it is not installed
    code : hash of all sources of gangsaw
    seen : for each requested path its bytes, -1 for a folder, None if it does not exist
    """

    version: str
    code: str
    seen: list[int | None]


def describe_process(paths: Sequence[str]) -> ProcessDescription:
    """Return the description of this process. Workers run its source text, with only Python."""
    import hashlib
    import sys
    from importlib import metadata, util
    from pathlib import Path

    def code() -> str:
        """Return the hash of the installed sources, computed once per process."""
        known = sys.__dict__.setdefault("_gangsaw_code", {})
        if not known:
            files = {}
            for name in ("", ".codecs", ".tasks", ".cluster"):
                spec = util.find_spec(f"gangsaw{name}")
                folder = Path(str(spec and spec.origin)).parent
                for file in folder.rglob("*"):
                    if file.suffix in (".py", ".cu", ".cuh"):
                        where = file.relative_to(folder).as_posix()
                        files[f"{name[1:]}/{where}".lstrip("/")] = file.read_bytes()
            known[""] = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:12]
        return str(known[""])

    def size(path: Path) -> int | None:
        try:  # without the right to enter its folder, exists() raises
            return -1 if path.is_dir() else path.stat().st_size
        except OSError:
            return None

    has = util.find_spec("gangsaw") is not None
    return {
        "version": metadata.version("gangsaw") if has else "",
        "code": code() if has else "",
        "seen": [size(Path(path)) for path in paths],
    }


@dataclass
class Handshake:
    """Check of workers by their descriptions, with the reasons why some cannot do the job.

    Attributes
    ----------
    paths : paths that the job reads and writes, and this process sees
    left_out : reason by worker address, for the workers that cannot do the job
    """

    client: Client
    paths: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    _queried: set[str] = field(default_factory=set)
    _silent: set[str] = field(default_factory=set)

    def admit(self, workers: Mapping[str, Worker]) -> dict[str, Worker]:
        """Return the workers that can do the job; query new ones, and log those that are left out.

        Raises
        ------
        JobFailed : there are workers, but none can do the job
        """
        new = {address: w for address, w in workers.items() if address not in self._queried}
        if new:
            self._queried |= new.keys()
            self.left_out |= self._explain_refusal(new)
        found = {address: w for address, w in workers.items() if address not in self.left_out}
        if workers and not found:
            reasons = [f"{a} {self.left_out[a]}" for a in list(workers)[:NAMED]]
            raise JobFailed(
                f"none of the {len(workers)} workers can do this job: {'; '.join(reasons)}"
            )
        named = _left_out_named.setdefault(self.client, set())  # a command may have many jobs
        for address in (self.left_out.keys() & new.keys()) - named:
            named.add(address)
            name = _named(address, new[address])
            log.warning("worker %s is left out: it %s", name, self.left_out[address])
        return found

    @property
    def is_complete(self) -> bool:
        """True if all workers that were queried have answered."""
        return not self._silent

    def query_again(self) -> None:
        """Let `admit` query the workers again that did not answer in time."""
        self._queried -= self._silent
        self._silent.clear()

    def _explain_refusal(self, workers: Mapping[str, Worker]) -> dict[str, str]:
        here = describe_process(self.paths)
        answers = _query(self.client, list(workers), self.paths)
        self._silent |= workers.keys() - answers.keys()
        pairs = (
            (address, self._explain_difference(here, there)) for address, there in answers.items()
        )
        return {address: why for address, why in pairs if why}

    def _explain_difference(
        self, here: ProcessDescription, there: ProcessDescription | Exception
    ) -> str:
        """Return the reason why a worker cannot do the job; "" if it can.

        Parameters
        ----------
        here, there : descriptions of this process and of the worker, or the worker's error
        """
        if isinstance(there, Exception):
            return f"does not understand this Dask: {type(there).__name__}: {there}"
        wanted = f"install gangsaw {here['version']} there"
        if not there["version"]:
            return f"has no gangsaw: {wanted}"
        if there["version"] != here["version"]:
            return f"has gangsaw {there['version']}: {wanted}"
        if there["code"] != here["code"]:
            pair = f"sources {there['code']}, here {here['code']}"
            return f"has another gangsaw {there['version']} ({pair}): install the same one there"
        for path, own, other in zip(self.paths, here["seen"], there["seen"], strict=True):
            if own != other and not (_is_written(path) and _is_file(own) and _is_file(other)):
                return f"does not see {path} as this process does: share its folder with it"
        return ""


def _is_file(size: int | None) -> bool:
    return size is not None and size >= 0


def _is_written(path: str) -> bool:
    """Return True if a file may have grown between two answers, as journals do."""
    try:
        return time.time() - Path(path).stat().st_mtime < RECENT_SECONDS
    except OSError:
        return True


def _query(
    client: Client, addresses: Sequence[str], paths: Sequence[str]
) -> dict[str, ProcessDescription | Exception]:
    """Query workers; return the descriptions of those that reply in time, or their errors.

    Workers that die before they reply are left out.
    """

    # as text: a pickled function would need the same Python, or gangsaw, on the worker
    text = f"from __future__ import annotations\n{inspect.getsource(describe_process)}"
    call = f"(exec({text!r}, space := {{}}), space['describe_process'])[1]({list(paths)!r})"

    async def ask(address: str) -> dict[str, object]:
        found = await client._run(eval, call, {}, workers=[address], on_error="return")
        return cast("dict[str, object]", found)

    async def ask_all() -> dict[str, object]:
        requests = [asyncio.ensure_future(ask(address)) for address in addresses]
        done, pending = await asyncio.wait(requests, timeout=ANSWER_SECONDS)
        for future in pending:
            future.cancel()
        good = [future.result() for future in done if future.exception() is None]
        pairs = (item for one in good for item in one.items())
        return {a: found for a, found in pairs if not isinstance(found, OSError)}  # worker lost

    if not addresses:
        return {}
    return cast("dict[str, ProcessDescription | Exception]", client.sync(ask_all))


def _named(address: str, worker: Worker) -> str:
    name = worker.get("name", address)
    return address if name == address else f"{address} ({name})"
