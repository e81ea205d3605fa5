"""How a client brings the plugin to its scheduler, and finds what it shows."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

from gangsaw.cluster.dashboard.jobs import TOPIC
from gangsaw.cluster.dashboard.plugin import NAME, Dashboard

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["TOPIC", "install", "page_of"]
log = logging.getLogger(__name__)

_asked: WeakSet[Client] = WeakSet()  # clients whose schedulers have it, or refused it


def install(client: Client) -> None:
    """Let the scheduler show jobs; one that has no gangsaw, or refuses plugins, stays as it is."""
    if client in _asked:
        return
    _asked.add(client)
    try:
        client.register_plugin(Dashboard())
    except Exception as error:
        log.debug("the scheduler shows no jobs: %s", error)


def page_of(client: Client) -> str:
    """Return the address of the page that shows jobs; "" where the scheduler has none."""
    with suppress(Exception):
        link = str(client.dashboard_link or "")
        if link.endswith("/status"):
            return f"{link.removesuffix('/status')}/{NAME}"
    return ""
