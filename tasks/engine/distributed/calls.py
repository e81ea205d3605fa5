"""Serialisation of a call as bytes, so that a failed import on a worker is an error of its task.

Dask unpickles the function and the arguments of a task in the loop that receives its messages. A
worker without gangsaw, or with another version, dies there before it can report it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from distributed.protocol.pickle import dumps

Buffers = list[npt.NDArray[np.uint8]]


class _Call:
    """Function call that runs while it is unpickled, and is replaced by its result."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return self.work, ()


def pack_call(work: Callable[[], object]) -> tuple[bytes, Buffers]:
    """Pickle a call, so that `distributed.protocol.pickle.loads` of the two results executes it.

    The buffers are views of the samples in the call, not copies.
    """
    found: list[pickle.PickleBuffer] = []
    data: bytes = dumps(_Call(work), buffer_callback=found.append)
    return data, [np.frombuffer(buffer.raw(), np.uint8) for buffer in found]
