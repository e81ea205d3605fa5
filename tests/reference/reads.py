"""The codec gangsaw.reads in slow plain Python, from its SPEC.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reference import reads_name, reads_offset, reads_quality, reads_sequence
from reference.reads_parts import Block

KINDS: dict[str, Any] = {
    "sequence": reads_sequence,
    "quality": reads_quality,
    "name": reads_name,
}
HEAD = 17


def recode_block(
    data: bytes, parameters: dict[str, Any], shape: Sequence[int], dtype: Any
) -> tuple[Any, bytes]:
    """Decode one block, and encode it again: the suite over every codec asks.

    What is free to choose (stored or coded, trees, frequencies) is as the payload has it.
    """
    if parameters["kind"] == "offset":
        lane = parameters["lane"] or min(1 << 12, parameters["block"] or 1 << 12)
        items, again = reads_offset.recode(data, shape[0], lane)
        return np.array(items, np.uint64), again
    n_bytes = shape[0] * dtype.itemsize
    mode, used = data[0], int.from_bytes(data[1:9], "little")
    n_lines = int.from_bytes(data[9:HEAD], "little")
    assert used <= n_bytes
    if mode & 3 == 0:
        text, body = data[HEAD:], data[HEAD:]
    else:
        assert mode & 3 == 1
        lane = parameters["lane"] or min(1 << 16, parameters["block"] or 1 << 16)
        block = Block(used, n_lines, bool(mode & 4), mode >> 3, lane, n_bytes, parameters["pairs"])
        text, body = KINDS[parameters["kind"]].recode(data[HEAD:], block)
    assert len(text) == used
    assert text[-1:] != b"\0"
    values = np.frombuffer(text + bytes(n_bytes - used), dtype.newbyteorder("<"))
    return values, head_of(text, mode) + body


def head_of(text: bytes, mode: int) -> bytes:
    """Return what lane 0 begins with."""
    is_open = bool(text) and text[-1:] != b"\n"
    n_lines = text.count(b"\n") + is_open
    mode = mode & ~4 | (4 if is_open else 0)
    return bytes([mode]) + len(text).to_bytes(8, "little") + n_lines.to_bytes(8, "little")
