"""Memory that ends, or begins, at a page without access: it is used again for every case."""

from __future__ import annotations

import numpy as np
from helpers.fenced_memory import fenced

from fuzz.damage import Octets


class Fence:
    """Places for bytes of which none may be read before the first or behind the last."""

    def __init__(self, capacity: int) -> None:
        self._behind = fenced(np.zeros(capacity, np.uint8), at_end=True)
        self._before = fenced(np.zeros(capacity, np.uint8), at_end=False)

    def hold(self, data: Octets, at_end: bool) -> Octets:
        """Return the bytes flush with the page behind them, or with the one before them."""
        if data.size > self._behind.size:
            return fenced(data, at_end)
        memory = self._behind if at_end else self._before
        place = memory[memory.size - data.size :] if at_end else memory[: data.size]
        place[:] = data
        return place
