"""The toy codec on the CPU, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.container.blocks import Blocks
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw_toy.params import Params

MOST_SAME, MOST_REST = 255, 65535  # of a line: what their fields hold


def encode(sources: Sequence[NDArray[Any]], params: Params) -> Blocks:
    """Return the lines of each block after what they share with the line before."""
    coded = [b""] * len(sources)

    def one(i: int) -> None:
        coded[i] = _encoded(sources[i].tobytes())

    run_blocks(one, len(sources))
    payload = np.frombuffer(b"".join(coded), np.uint8)
    return Blocks.cut(payload, np.array([len(part) for part in coded], np.int64))


def decode(coded: Any, targets: Sequence[NDArray[Any]], params: Params) -> None:
    """Fill the targets; CorruptChunk for lines that do not fill their block."""

    def one(i: int) -> None:
        targets[i][...] = np.frombuffer(_decoded(bytes(coded.parts[i]), i, len(targets[i])), "u1")

    run_blocks(one, len(targets))


def _encoded(block: bytes) -> bytes:
    out, before = bytearray(), b""
    for whole in _lines(block):
        for at in range(0, len(whole), MOST_REST):
            line = whole[at : at + MOST_REST]
            same = _same(line, before)
            out += bytes([same]) + (len(line) - same).to_bytes(2, "little") + line[same:]
            before = line
    return bytes(out)


def _same(line: bytes, before: bytes) -> int:
    """Return how many first bytes two lines share."""
    most = min(len(line), len(before), MOST_SAME)
    return next((i for i in range(most) if line[i] != before[i]), most)


def _lines(block: bytes) -> list[bytes]:
    *lines, rest = block.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])


def _decoded(data: bytes, block: int, size: int) -> bytes:
    out, before, at = bytearray(), b"", 0
    while at < len(data):
        head = data[at : at + 3]
        same, n = head[0], int.from_bytes(head[1:], "little")
        at += 3 + n
        if len(head) < 3 or at > len(data) or same > len(before) or len(out) + same + n > size:
            raise CorruptChunk("a line does not fit its block", block=block)
        before = before[:same] + data[at - n : at]
        out += before
    if len(out) != size:
        raise CorruptChunk("the lines end before the block does", block=block)
    return bytes(out)
