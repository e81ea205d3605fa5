"""Its backend, in plain NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.blocks import Blocks
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from plain_codec.codec import Params


def encode(sources: Sequence[npt.NDArray[Any]], params: Params) -> Blocks:
    coded: list[bytes] = [b""] * len(sources)

    def one(i: int) -> None:
        coded[i] = params.prefix.encode() + sources[i].tobytes()

    run_blocks(one, len(sources))
    rows = max(len(source) for source in sources)
    lanes = np.zeros((len(sources), rows), np.int64)
    for i, source in enumerate(sources):
        lanes[i, : len(source)] = 8 * source[0].nbytes
    payload = np.frombuffer(b"".join(coded), np.uint8)
    return Blocks.cut(payload, np.array([len(part) for part in coded], np.int64), lanes)


def decode(coded: Blocks, targets: Sequence[npt.NDArray[Any]], params: Params) -> None:
    ends, prefix = coded.offsets, params.prefix.encode()

    def one(i: int) -> None:
        data = coded.payload[ends[i] : ends[i + 1]].tobytes()
        if not data.startswith(prefix):
            raise CorruptChunk("wrong prefix", block=i)
        body = np.frombuffer(data[len(prefix) :], targets[i].dtype)
        targets[i][...] = body.reshape(targets[i].shape)

    run_blocks(one, len(targets))
