"""The plugin of a scheduler that hears of jobs, and shows them."""

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

NAME = "gangsaw"  # of the plugin, of the page and of what a scheduler answers


class Dashboard(SchedulerPlugin):  # type: ignore[misc]
    """Hears of jobs by the events of their clients; a scheduler has one."""

    name = NAME
    idempotent = True

    def __init__(self) -> None:
        self.jobs = Jobs()

    async def start(self, scheduler: Scheduler) -> None:
        """Begin to hear, with what clients told before, and to show it."""
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
        """Take what a client tells."""
        if topic != TOPIC:
            return
        try:
            self.jobs.hear(msg)
        except Exception:  # anybody may send events
            log.debug("an event that tells nothing of a job: %r", msg, exc_info=True)

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """Let what a client ran be lost; one that ended its jobs has none."""
        self.jobs.lose(client)

    def answer(self) -> dict[str, object]:
        """Return the figures, as clients of the scheduler ask for them."""
        return figures(self.scheduler, self.jobs)


class Figures(RequestHandler):  # type: ignore[misc]
    """Serves them as JSON."""

    def initialize(
        self, dask_server: Scheduler | None = None, plugin: Dashboard | None = None
    ) -> None:
        """Take the plugin that knows them."""
        super().initialize(dask_server)
        self.plugin = plugin

    def get(self) -> None:
        """Write them."""
        assert self.plugin is not None
        self.set_header("Cache-Control", "no-store")
        self.write(self.plugin.answer())


def _prefix(scheduler: Scheduler) -> str:
    """Return what stands before all pages, such as "/proxy"; the scheduler does not keep it."""
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
    """Add the page to those that Dask serves, and to their navigation, if it serves any."""
    if "distributed.dashboard.scheduler" not in sys.modules:
        return  # neither Bokeh nor a dashboard
    from gangsaw.cluster.dashboard.page import add_page

    add_page(plugin.scheduler, plugin.jobs, prefix)
