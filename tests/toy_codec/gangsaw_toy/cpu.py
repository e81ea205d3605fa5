"""The toy codec on the CPU, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw_toy.params import Params

MOST_SAME, MOST_REST = 255, 65535  # of a line: what their fields hold


def encode(blocks: Sequence[NDArray[Any]], params: Params, output: Output) -> None:
    """Put the lines of each block, after what they share with the line before, into the output."""

    def one(i: int) -> None:
        output.give(i, np.frombuffer(_encoded(blocks[i].tobytes()), np.uint8))

    run_blocks(one, len(blocks))


def decode(runs: Runs, blocks: Sequence[NDArray[Any]], params: Params) -> None:
    """Fill the blocks; CorruptChunk for lines that do not fill theirs."""

    def one(i: int) -> None:
        blocks[i][...] = np.frombuffer(_decoded(bytes(runs.take(i)), i, len(blocks[i])), "u1")

    run_blocks(one, len(blocks))


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
