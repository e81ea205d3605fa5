"""Reports of a job to its scheduler, as events that nobody waits for."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from gangsaw.cluster.dashboard.install import TOPIC, install
from gangsaw.tasks.engine.report.counters import JobCounters, Message

if TYPE_CHECKING:
    from distributed import Client

END_SECONDS = 2  # time limit of the last message: the client may close after it


def report_to_scheduler(counters: JobCounters, client: Client) -> None:
    """Send a job's counters to the scheduler of its first client from now on."""
    if not counters.is_reported:
        install(client)
        counters.send_with(_Events(client).send)


class _Events:
    """Sender of a client's events to the scheduler, in order: concurrent ones may change places."""

    def __init__(self, client: Client) -> None:
        self.client, self.turn = client, asyncio.Lock()

    def send(self, message: Message, is_last: bool) -> None:
        """Send a message; wait only for the last one."""
        whole = {**message, "client": self.client.id}
        with suppress(Exception):  # client closed or scheduler lost: the job raises that
            if is_last:
                self.client.sync(self._log, whole, callback_timeout=END_SECONDS)
            else:
                self.client.loop.add_callback(self._log, whole)

    async def _log(self, message: Message) -> None:
        with suppress(Exception):
            async with self.turn:
                await self.client.scheduler.log_event(topic=TOPIC, msg=message)
