"""How long a job goes on without a worker: as long as its cluster waits in a queue for one."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import JobFailed

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

AGAIN_SECONDS = 60.0  # between two lines that say what is waited for


class Patience:
    """Counts the time without a worker, and says what is waited for.

    A cluster that a batch system runs has two texts: `queued`, what waits there and why, "" for
    nothing; and `failure`, why no worker will come. Other clusters have neither.
    """

    def __init__(self, client: Client, seconds: float) -> None:
        self.client, self.seconds = client, seconds
        self.since: float | None = None  # nothing has waited in a queue
        self.said = -math.inf  # what waits there

    def end(self) -> None:
        """There is a worker."""
        self.since, self.said = None, -math.inf

    def ask(self, missing: str) -> None:
        """Return where it is worth waiting; raise JobFailed where no worker came in time.

        `missing` says what there is none of, such as "no worker".
        """
        now, cluster = time.monotonic(), self.client.cluster
        where = self.client.scheduler.address
        if failure := getattr(cluster, "failure", ""):
            raise JobFailed(failure)
        if queued := getattr(cluster, "queued", ""):
            self.since = now
            if now - self.said >= AGAIN_SECONDS:
                log.warning("%s at %s: waiting for %s", missing, where, queued)
                self.said = now
        elif self.since is None:
            self.since = now
            log.warning("%s at %s: waiting up to %g s for one", missing, where, self.seconds)
        elif now - self.since > self.seconds:
            raise JobFailed(f"{missing} for {self.seconds:g} s: start one")
