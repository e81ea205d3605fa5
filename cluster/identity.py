"""A scheduler is asked for its description, with a time limit."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from distributed import Client


def identity_of(client: Client, seconds: float) -> Mapping[str, object]:
    """Return the scheduler's description of itself and its workers.

    Raises
    ------
    OSError : the scheduler cannot be reached; TimeoutError where it does not answer in time
    RuntimeError, ValueError : the client is closed
    """
    # the default of some versions is the first five; others know no such number
    knows = "n_workers" in inspect.signature(client.scheduler_info).parameters
    every = {"n_workers": -1} if knows else {}
    if client.scheduler is None:
        raise ValueError("the client is closed")
    found = client.sync(client.scheduler.identity, **every, callback_timeout=seconds)
    return cast("Mapping[str, object]", found)
