"""What workers answer, and what it means that they do not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from gangsaw.tasks.engine.distributed.handshake import Handshake

WORKERS: Any = {"tcp://10.0.0.1:1": {"nthreads": 1, "memory_limit": 0, "name": "a"}}


class Cluster:
    """A client whose worker is lost while it is asked."""

    def sync(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        return asyncio.run(ask())  # type: ignore[arg-type]

    async def _run(self, *_: object, workers: list[str], **__: object) -> dict[str, Exception]:
        return {address: ConnectionAbortedError("Address removed.") for address in workers}


def test_a_worker_that_is_lost_while_it_is_asked_is_no_stranger() -> None:
    handshake = Handshake(Cluster())  # type: ignore[arg-type]
    assert handshake.admit(WORKERS) == WORKERS
    assert not handshake.is_complete
    assert not handshake.left_out
