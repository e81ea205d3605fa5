"""What a worker answers before it gets work: which gangsaw it has, and which paths it sees."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict, cast

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.memory import Worker

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0  # one that does not answer may be compiling; the late are found otherwise
NAMED = 3  # workers in a message


class Answer(TypedDict):
    """What a process has.

    Attributes
    ----------
    version : of gangsaw; "" where it is not installed
    seen : of each path that was asked for its bytes, -1 of a folder, None where it is not there
    """

    version: str
    seen: list[int | None]


def answer(paths: Sequence[str]) -> Answer:
    """Return what this process has. Its text is sent to workers: it needs nothing but Python."""
    from importlib import metadata, util
    from pathlib import Path

    def size(path: Path) -> int | None:
        if path.is_dir():
            return -1
        return path.stat().st_size if path.exists() else None

    has = util.find_spec("gangsaw") is not None
    return {
        "version": metadata.version("gangsaw") if has else "",
        "seen": [size(Path(path)) for path in paths],
    }


@dataclass
class Handshake:
    """The workers that were asked, and what keeps some of them from the job.

    Attributes
    ----------
    paths : that the job reads and writes, and this process sees
    left_out : by address, what is wrong with a worker
    """

    client: Client
    paths: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _silent: set[str] = field(default_factory=set)

    def admitted(self, workers: Mapping[str, Worker]) -> dict[str, Worker]:
        """Return those workers that can do the job; ask the new ones, and say who is left out.

        Raises
        ------
        JobFailed : there are workers, but none can do it
        """
        new = {address: w for address, w in workers.items() if address not in self._asked}
        if new:
            self._asked |= new.keys()
            self.left_out |= self._wrong(new)
        found = {address: w for address, w in workers.items() if address not in self.left_out}
        if workers and not found:
            reasons = [f"{a} {self.left_out[a]}" for a in list(workers)[:NAMED]]
            raise JobFailed(
                f"none of the {len(workers)} workers can do this job: {'; '.join(reasons)}"
            )
        for address in self.left_out.keys() & new.keys():
            name = _named(address, new[address])
            log.warning("worker %s is left out: it %s", name, self.left_out[address])
        return found

    @property
    def is_complete(self) -> bool:
        """Whether all workers that were asked have answered."""
        return not self._silent

    def ask_again(self) -> None:
        """Let `admitted` ask those once more that did not answer in time."""
        self._asked -= self._silent
        self._silent.clear()

    def _wrong(self, workers: Mapping[str, Worker]) -> dict[str, str]:
        here = answer(self.paths)
        answers = _answers(self.client, list(workers), self.paths)
        self._silent |= workers.keys() - answers.keys()
        pairs = ((address, self._why(here, there)) for address, there in answers.items())
        return {address: why for address, why in pairs if why}

    def _why(self, here: Answer, there: Answer | Exception) -> str:
        """Return what is wrong with a worker that answered; "" is nothing."""
        if isinstance(there, Exception):
            return f"does not understand this Dask: {type(there).__name__}: {there}"
        wanted = f"install gangsaw {here['version']} there"
        if not there["version"]:
            return f"has no gangsaw: {wanted}"
        if there["version"] != here["version"]:
            return f"has gangsaw {there['version']}: {wanted}"
        for path, own, other in zip(self.paths, here["seen"], there["seen"], strict=True):
            if own != other:
                return f"does not see {path} as this process does: share its folder with it"
        return ""


def _answers(
    client: Client, addresses: Sequence[str], paths: Sequence[str]
) -> dict[str, Answer | Exception]:
    """Return what the workers answer, of those that do in time, and do not die before."""

    # as text: a function would be code of this Python, or need gangsaw to be unpickled
    text = f"from __future__ import annotations\n{inspect.getsource(answer)}"
    call = f"(exec({text!r}, space := {{}}), space['answer'])[1]({list(paths)!r})"

    async def ask(address: str) -> dict[str, object]:
        found = await client._run(eval, call, {}, workers=[address], on_error="return")
        return cast("dict[str, object]", found)

    async def ask_all() -> dict[str, object]:
        asked = [asyncio.ensure_future(ask(address)) for address in addresses]
        done, late = await asyncio.wait(asked, timeout=ANSWER_SECONDS)
        for future in late:
            future.cancel()
        good = [future.result() for future in done if future.exception() is None]
        pairs = (item for one in good for item in one.items())
        return {a: found for a, found in pairs if not isinstance(found, OSError)}  # it was lost

    if not addresses:
        return {}
    return cast("dict[str, Answer | Exception]", client.sync(ask_all))


def _named(address: str, worker: Worker) -> str:
    name = worker.get("name", address)
    return address if name == address else f"{address} ({name})"


def workers_of(client: Client, seconds: float | None = None) -> dict[str, Worker]:
    """Return all workers by address, as the scheduler describes them.

    Raises
    ------
    TimeoutError : it does not answer within so many seconds
    OSError, RuntimeError, ValueError : the client is closed
    """
    # the default of some versions is the first five; others know no such number
    knows = "n_workers" in inspect.signature(client.scheduler_info).parameters
    every = {"n_workers": -1} if knows else {}
    if client.scheduler is None:
        raise ValueError("the client is closed")
    try:
        found = client.sync(client.scheduler.identity, **every, callback_timeout=seconds)
    except TimeoutError:
        raise
    except OSError:  # a scheduler that is gone cancels the futures, too
        found = client.scheduler_info(n_workers=-1)
    return dict(found["workers"])
