"""A job is told to the scheduler, by events that nobody waits for."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from gangsaw.cluster.dashboard.install import TOPIC, install
from gangsaw.tasks.engine.tally import Message, Tally

if TYPE_CHECKING:
    from distributed import Client

END_SECONDS = 2  # that the last message may take: the client may close after it


def tell(tally: Tally, client: Client) -> None:
    """Let the scheduler of the job's first client hear of it from now on."""
    if not tally.is_told:
        install(client)
        tally.tell(_Events(client).send)


class _Events:
    """Events of a client, one after the other: of those that run side by side one may overtake."""

    def __init__(self, client: Client) -> None:
        self.client, self.turn = client, asyncio.Lock()

    def send(self, message: Message, is_last: bool) -> None:
        """Send a message; wait only for the last one."""
        whole = {**message, "client": self.client.id}
        with suppress(Exception):  # a client that closed, a scheduler that is gone: the job says so
            if is_last:
                self.client.sync(self._log, whole, callback_timeout=END_SECONDS)
            else:
                self.client.loop.add_callback(self._log, whole)

    async def _log(self, message: Message) -> None:
        with suppress(Exception):
            async with self.turn:
                await self.client.scheduler.log_event(topic=TOPIC, msg=message)
