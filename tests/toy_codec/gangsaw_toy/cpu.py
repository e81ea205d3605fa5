"""The toy codec on the CPU, block by block."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding, HostBackend
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw_toy.params import Params

MOST_SAME, MOST_REST = 255, 65535  # of a line: what their fields hold


def encode_block(block: NumpyArray, params: Params, room: Payload) -> Encoded:
    """Return the lines of a block, each after what it shares with the line before."""
    return Encoded((np.frombuffer(_encoded(block.tobytes()), np.uint8),))


def decode_block(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Fill a block; CorruptChunk for lines that do not fill it."""
    block[...] = np.frombuffer(_decoded(bytes(encoded.data), len(block)), np.uint8)


BACKEND = HostBackend.of(BlockCoding(encode_block, decode_block))


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


def _decoded(data: bytes, size: int) -> bytes:
    out, before, at = bytearray(), b"", 0
    while at < len(data):
        head = data[at : at + 3]
        same, n = head[0], int.from_bytes(head[1:], "little")
        at += 3 + n
        if len(head) < 3 or at > len(data) or same > len(before) or len(out) + same + n > size:
            raise CorruptChunk("a line does not fit its block")
        before = before[:same] + data[at - n : at]
        out += before
    if len(out) != size:
        raise CorruptChunk("the lines end before the block does")
    return bytes(out)
