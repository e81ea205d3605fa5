"""The kind "offset" of gangsaw.reads, from its SPEC.md."""

from __future__ import annotations

import itertools

from reference.reads_parts import LaneReader, LaneWriter, Table, read_tables, write_tables

WORD = 1 << 64


def recode(data: bytes, n_items: int, lane: int) -> tuple[list[int], bytes]:
    """Return the items of a block, and its payload, encoded again."""
    if data[0] == 0:
        items = [int.from_bytes(data[i : i + 8], "little") for i in range(1, len(data), 8)]
        assert len(items) == n_items
        return items, b"\0" + b"".join(item.to_bytes(8, "little") for item in items)
    assert data[0] == 1
    usual = int.from_bytes(data[1:9], "little", signed=True)
    (table,), rest = read_tables(data[9:], 1)
    items: list[int] = []
    again = b"\1" + usual.to_bytes(8, "little", signed=True) + write_tables([table])
    for first in range(0, n_items, lane):
        window, rest = read_window(rest, min(lane, n_items - first), usual, table)
        again += write_window(window, usual, table)
        items += window
    assert rest == b""
    assert len(again) < 8 * n_items
    return items, again


def read_window(data: bytes, n: int, usual: int, table: Table) -> tuple[list[int], bytes]:
    lane = LaneReader(data)
    items = [lane.raw(64)]
    while len(items) < n:
        v = lane.symbol(table)
        if v >= 192:
            bits = v - 184
            assert bits <= 64
            v = 1 << bits - 1 | lane.raw(bits - 1)
        d = v // 2 if v % 2 == 0 else -(v + 1) // 2
        items.append((items[-1] + d + usual) % WORD)
    return items, lane.end()


def write_window(items: list[int], usual: int, table: Table) -> bytes:
    lane = LaneWriter()
    lane.raw(items[0], 64)
    for before, item in itertools.pairwise(items):
        d = (item - before - usual) % WORD
        if d >= WORD // 2:
            d -= WORD
        v = 2 * d if d >= 0 else -2 * d - 1
        bits = v.bit_length()
        lane.symbol(table, v if v < 192 else 184 + bits)
        if v >= 192:
            lane.raw(v - (1 << bits - 1), bits - 1)
    return lane.bytes()
