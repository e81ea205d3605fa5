"""Its backend, in plain NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from plain_codec.codec import Params


def encode(sources: Sequence[npt.NDArray[Any]], params: Params, output: Output) -> None:
    def one(i: int) -> None:
        payload = params.prefix.encode() + sources[i].tobytes()
        lane_bits = np.full(len(sources[i]), 8 * sources[i][0].nbytes)
        output.give(i, np.frombuffer(payload, np.uint8), None, lane_bits)

    run_blocks(one, len(sources))


def decode(runs: Runs, targets: Sequence[npt.NDArray[Any]], params: Params) -> None:
    prefix = params.prefix.encode()

    def one(i: int) -> None:
        data = runs.take(i).tobytes()
        if not data.startswith(prefix):
            raise CorruptChunk("wrong prefix", block=i)
        body = np.frombuffer(data[len(prefix) :], targets[i].dtype)
        targets[i][...] = body.reshape(targets[i].shape)

    run_blocks(one, len(targets))
