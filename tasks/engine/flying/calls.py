"""A call as bytes: where a worker cannot load it, that is an error of the task.

Dask loads the function and the arguments of a task in the loop that takes its messages. A worker
that has no gangsaw, or another one, dies there before it can say so.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from distributed.protocol.pickle import dumps

Buffers = list[npt.NDArray[np.uint8]]


class _Call:
    """When it is unpickled, the work is done, and its result is there instead."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return self.work, ()


def packed(work: Callable[[], object]) -> tuple[bytes, Buffers]:
    """Return what `distributed.protocol.pickle.loads(data, buffers=buffers)` does.

    The buffers are the samples that the work holds, which are not copied.
    """
    found: list[pickle.PickleBuffer] = []
    data: bytes = dumps(_Call(work), buffer_callback=found.append)
    return data, [np.frombuffer(buffer.raw(), np.uint8) for buffer in found]
