"""Scheduler plugin that collects the messages of jobs and serves their state."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from distributed import SchedulerPlugin
from distributed.http.utils import RequestHandler

from gangsaw.cluster.dashboard import counters
from gangsaw.cluster.dashboard.figures import figures
from gangsaw.cluster.dashboard.jobs import TOPIC, Jobs

if TYPE_CHECKING:
    from distributed import Scheduler

log = logging.getLogger(__name__)

NAME = "gangsaw"  # of the plugin, of the page and of the scheduler's handler


class Dashboard(SchedulerPlugin):  # type: ignore[misc]
    """Scheduler plugin that collects the events of clients about jobs; one per scheduler."""

    name = NAME
    idempotent = True

    def __init__(self) -> None:
        self.jobs = Jobs()

    async def start(self, scheduler: Scheduler) -> None:
        """Read the events that arrived before the plugin, and serve the state of jobs."""
        self.scheduler = scheduler
        for _, message in scheduler.get_events(TOPIC):
            self.log_event(TOPIC, message)
        scheduler.handlers[NAME] = self.answer
        counters.serve(self.jobs)
        if hasattr(scheduler, "http_application"):
            prefix = _prefix(scheduler)
            _serve_json(self, prefix)
            _serve_page(self, prefix)

    def log_event(self, topic: str, msg: Mapping[str, object]) -> None:
        """Update the state from a client's event."""
        if topic != TOPIC:
            return
        try:
            self.jobs.update(msg)
        except Exception:  # any client may send events
            log.debug("an event without a readable job report: %r", msg, exc_info=True)

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """Mark the running jobs of this client as lost."""
        self.jobs.mark_lost(client)

    def answer(self) -> dict[str, object]:
        """Return the figures of jobs and workers; a handler that clients call on the scheduler."""
        return figures(self.scheduler, self.jobs)


class Figures(RequestHandler):  # type: ignore[misc]
    """HTTP handler that returns the figures of jobs and workers as JSON."""

    def initialize(
        self, dask_server: Scheduler | None = None, plugin: Dashboard | None = None
    ) -> None:
        """Set the plugin whose figures are served."""
        super().initialize(dask_server)
        self.plugin = plugin

    def get(self) -> None:
        """Write the figures as the response."""
        assert self.plugin is not None
        self.set_header("Cache-Control", "no-store")
        self.write(self.plugin.answer())


def _prefix(scheduler: Scheduler) -> str:
    """Return the prefix of all page paths, such as "/proxy", which the scheduler does not store."""
    router = scheduler.http_application.wildcard_router
    patterns = [
        getattr(getattr(rule.matcher, "regex", None), "pattern", "") for rule in router.rules
    ]
    found = next((p for p in patterns if p.endswith("/health$")), "/health$")
    return str(found.removesuffix("/health$"))


def _serve_json(plugin: Dashboard, prefix: str) -> None:
    keywords = {"dask_server": plugin.scheduler, "plugin": plugin}
    route = (rf"{prefix}/gangsaw\.json", Figures, keywords)
    plugin.scheduler.http_application.add_handlers(r".*", [route])


def _serve_page(plugin: Dashboard, prefix: str) -> None:
    """Add the page of jobs to Dask's dashboard and its navigation, if there is one."""
    if "distributed.dashboard.scheduler" not in sys.modules:
        return  # neither Bokeh nor a dashboard
    from gangsaw.cluster.dashboard.page import add_page

    add_page(plugin.scheduler, plugin.jobs, prefix)
