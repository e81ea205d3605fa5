"""The transform of gangsaw.bwt from its definition, in slow plain Python: sorted rotations."""

from __future__ import annotations

SENTINEL = -1  # below all bytes
MOST_ROWS, UNIT, LEAST = 64, 64, 256


def spacing(n: int) -> int:
    """The least odd multiple of UNIT that leaves MOST_ROWS at most, but of LEAST at the least."""
    multiple = LEAST + 1
    while multiple * UNIT * MOST_ROWS < n:
        multiple += 2
    return multiple * UNIT


def transformed(block: bytes) -> tuple[bytes, list[int]]:
    """The last column of the sorted rotations without the sentinel, and rows of some rotations."""
    text = [*block, SENTINEL]
    order = sorted(range(len(text)), key=lambda i: text[i:] + text[:i])
    last = [text[i - 1] for i in order]
    rows = [order.index(i) for i in range(0, len(block), spacing(len(block)))]
    return bytes(byte for byte in last if byte != SENTINEL), rows


def inverted(bwt: bytes, rows: list[int]) -> bytes:
    """The block whose transform this is: the last column, sorted, is the first one."""
    if not bwt:
        return b""
    last = [*bwt[: rows[0]], SENTINEL, *bwt[rows[0] :]]
    order = sorted(range(len(last)), key=lambda row: (last[row], row))
    block, row = [], rows[0]
    for i in range(len(bwt)):
        if i % spacing(len(bwt)) == 0:
            assert row == rows[i // spacing(len(bwt))]
        block.append(last[order[row]])
        row = order[row]
    assert row == 0
    return bytes(block)
