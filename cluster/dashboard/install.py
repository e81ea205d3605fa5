"""Installation of the plugin on a client's scheduler, and the address of its page."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

from distributed.protocol.pickle import dumps

from gangsaw.cluster.dashboard.jobs import TOPIC
from gangsaw.cluster.dashboard.plugin import NAME, Dashboard

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["TOPIC", "install", "page_of"]
log = logging.getLogger(__name__)

INSTALL_SECONDS = 10.0  # time limit for an answer: a scheduler that hangs shows nothing
_asked: WeakSet[Client] = WeakSet()  # clients of schedulers with the plugin, or that refused it


def install(client: Client) -> None:
    """Install the dashboard plugin on a client's scheduler.

    A scheduler without gangsaw, or one that refuses plugins, is ignored.
    """
    if client in _asked:
        return
    _asked.add(client)
    plugin = Dashboard()
    try:
        client.sync(
            client.scheduler.register_scheduler_plugin,
            plugin=dumps(plugin),
            name=plugin.name,
            idempotent=plugin.idempotent,
            callback_timeout=INSTALL_SECONDS,
        )
    except Exception as error:
        log.debug("the scheduler shows no jobs: %s", error)


def page_of(client: Client) -> str:
    """Return the address of the page of jobs; "" if the scheduler has none."""
    with suppress(Exception):
        link = str(client.dashboard_link or "")
        if link.endswith("/status"):
            return f"{link.removesuffix('/status')}/{NAME}"
    return ""
