"""Queries of a scheduler, or of its dashboard, for the figures of jobs."""

from __future__ import annotations

import json
from typing import cast
from urllib.error import URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.dashboard.install import install
from gangsaw.cluster.dashboard.plugin import NAME
from gangsaw.cluster.launchers.running import start
from gangsaw.cluster.messages import silence

Figures = dict[str, object]
WEB = ("http", "https")
SECONDS = 10.0  # time limit for an answer of a dashboard


def query_scheduler(config: ClusterConfig) -> Figures:
    """Return the figures of a running scheduler: its jobs and workers; see `figures.figures`.

    Raises
    ------
    ConnectionError
        No server answers, or a scheduler without the plugin.
    ValueError
        The address is invalid.
    """
    if urlsplit(config.scheduler).scheme in WEB:
        return _ask_dashboard(config.scheduler)
    with silence(), start(config) as client:
        install(client)  # a scheduler that had no job yet lacks the handler
        try:
            found = client.sync(getattr(client.scheduler, NAME), callback_timeout=SECONDS)
            return _figures(found)  # None without gangsaw
        except Exception as error:
            raise ConnectionError(
                f"the scheduler at {client.scheduler.address} reports no jobs: install this "
                "version of gangsaw there"
            ) from error


def _figures(found: object) -> Figures:
    """Check an answer and return it; raise ValueError without the figures of jobs and workers."""
    if not isinstance(found, dict) or not {"scheduler", "jobs", "workers"} <= found.keys():
        raise ValueError("no figures of jobs and workers")
    return cast("Figures", found)


def _ask_dashboard(address: str) -> Figures:
    """Return the figures from a dashboard's HTTP server, given the address of any of its pages."""
    parts = urlsplit(address)
    folder = parts.path.rpartition("/")[0]
    url = urlunsplit((parts.scheme, parts.netloc, f"{folder}/{NAME}.json", "", ""))
    try:
        with urlopen(url, timeout=SECONDS) as answer:
            return _figures(json.load(answer))
    except (URLError, TimeoutError, OSError) as error:
        reason = getattr(error, "reason", "") or error
        raise ConnectionError(f"no dashboard of jobs answers at {url}: {reason}") from error
    except ValueError as error:
        raise ConnectionError(f"the server at {url} reports no jobs") from error
