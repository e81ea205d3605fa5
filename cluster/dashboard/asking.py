"""A scheduler, or its dashboard, is asked for the figures of jobs."""

from __future__ import annotations

import json
from typing import cast
from urllib.error import URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.dashboard.install import install
from gangsaw.cluster.dashboard.plugin import NAME
from gangsaw.cluster.running import start

Figures = dict[str, object]
WEB = ("http", "https")
SECONDS = 10.0  # within which a dashboard has to answer


def ask(config: ClusterConfig) -> Figures:
    """Return the figures that a running scheduler gives; see `figures.figures`.

    Raises
    ------
    ConnectionError
        Nothing answers there, or a scheduler that knows no jobs.
    ValueError
        The address is none.
    """
    if urlsplit(config.scheduler).scheme in WEB:
        return _ask_dashboard(config.scheduler)
    with start(config) as client:
        install(client)  # else one that had no job yet would not know the question
        try:
            found = client.sync(getattr(client.scheduler, NAME), callback_timeout=SECONDS)
        except Exception as error:
            raise ConnectionError(
                f"the scheduler at {client.scheduler.address} tells of no jobs: install this "
                "version of gangsaw there"
            ) from error
        return cast("Figures", found)


def _ask_dashboard(address: str) -> Figures:
    """Return the figures of a dashboard, by the address of any of its pages."""
    parts = urlsplit(address)
    folder = parts.path.rpartition("/")[0]
    url = urlunsplit((parts.scheme, parts.netloc, f"{folder}/{NAME}.json", "", ""))
    try:
        with urlopen(url, timeout=SECONDS) as answer:
            return cast("Figures", json.load(answer))
    except (URLError, TimeoutError, OSError) as error:
        reason = getattr(error, "reason", "") or error
        raise ConnectionError(f"no dashboard of jobs answers at {url}: {reason}") from error
    except ValueError as error:
        raise ConnectionError(f"what answers at {url} tells of no jobs") from error
