"""What is waited for, told to the user now and then."""

from __future__ import annotations

import logging
import math
import time

AGAIN_SECONDS = 60.0  # between two lines that say the same


class Teller:
    """Lines that are told when they say something new, and again where it takes long."""

    def __init__(self, log: logging.Logger) -> None:
        self.log, self.last, self.since = log, "", -math.inf

    def tell(self, line: str) -> None:
        """Log the line, unless it was the last one and that was not long ago."""
        now = time.monotonic()
        if line != self.last or now - self.since >= AGAIN_SECONDS:
            self.log.warning("%s", line)
            self.last, self.since = line, now
