"""Wait policy of a job without a worker: it waits as long as its cluster is queued for one."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import JobFailed

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

AGAIN_SECONDS = 60.0  # between two log lines about the wait


class WaitPolicy:
    """Timer that limits how long a job waits without a worker, and logs the reason of the wait.

    A cluster of a batch system has two texts. `queued` describes the requests in the queue and
    their reasons, "" for none. `failure` is the reason why no worker will come. Other clusters
    have neither.
    """

    def __init__(self, client: Client, seconds: float) -> None:
        self.client, self.seconds = client, seconds
        self.since: float | None = None  # start of the wait outside a queue; None before
        self.logged = -math.inf  # time.monotonic() of the last line about the queue

    def end(self) -> None:
        """Reset the timer, since there is a worker."""
        self.since, self.logged = None, -math.inf

    def check(self, missing: str) -> None:
        """Return if the job should go on waiting; raise JobFailed if no worker came in time.

        `missing` names the missing workers, such as "no worker".
        """
        now, cluster = time.monotonic(), self.client.cluster
        where = self.client.scheduler.address
        if failure := getattr(cluster, "failure", ""):
            raise JobFailed(failure)
        if queued := getattr(cluster, "queued", ""):
            self.since = now
            if now - self.logged >= AGAIN_SECONDS:
                log.warning("%s at %s: waiting for %s", missing, where, queued)
                self.logged = now
        elif self.since is None:
            self.since = now
            log.warning("%s at %s: waiting up to %g s for one", missing, where, self.seconds)
        elif now - self.since > self.seconds:
            raise JobFailed(f"{missing} for {self.seconds:g} s: start one")
