"""The kind "quality" of gangsaw.reads, from its SPEC.md."""

from __future__ import annotations

from typing import NamedTuple

from reference.reads_parts import (
    BitReader,
    BitWriter,
    Block,
    LaneReader,
    LaneWriter,
    Table,
    read_tables,
    write_tables,
)

Levels = list[list[list[int]]]  # by level, node and value of the component: the next node


class Model(NamedTuple):
    """What lane 0 says: letters, tree, tables of leaves by number, all tables."""

    letters: bytes
    levels: Levels
    leaves: list[int]
    tables: list[Table]


def recode(body: bytes, block: Block) -> tuple[bytes, bytes]:
    """Return the text of a block, and what follows its head, encoded again."""
    assert block.flags == 0
    model, rest = read_model(body)
    text, again = b"", write_model(model)
    for window in range(-(-block.n_bytes // block.lane)):
        stop = min((window + 1) * block.lane, block.used)
        if len(text) >= stop:
            continue
        lines, rest = read_window(rest, model, len(text) - window * block.lane)
        again += write_window(lines, model, len(text) - window * block.lane)
        text += b"\n".join(lines) + b"\n"
    assert rest == b""
    return text[:-1] if block.is_open else text, again


def sizes_of(n_letters: int) -> list[int]:
    n = max(1, n_letters)
    return [n, 8, 2 * (((n - 1) >> pair_shift(n)) + 1), 8]


def pair_shift(n: int) -> int:
    return 0 if n <= 64 else 1 if n <= 128 else 2


def read_model(body: bytes) -> tuple[Model, bytes]:
    letters = body[1 : 1 + body[0]]
    assert sorted(set(letters) - {10}) == list(letters)
    bits = BitReader(body[1 + body[0] :])
    levels: Levels = []
    n = 1
    for size in sizes_of(len(letters)):
        levels.append([])
        first = 0
        for _ in range(n):
            own, row, value = bits.gamma() - 1, [first] * size, -1
            for k in range(own):
                value += bits.gamma()
                row[value] = first + 1 + k
            levels[-1].append(row)
            first += 1 + own
        n = first
        assert n <= 4096
    leaves: list[int] = []
    for _ in range(n):
        known = max(leaves, default=-1) + 1
        leaves.append(bits.take(known.bit_length()))
        assert leaves[-1] <= known
    tables, rest = read_tables(bits.rest(), 4 + max(leaves) + 1)
    assert all(symbol < len(letters) for table in tables[4:] for symbol in table)
    assert all(tables[4:]) or not letters
    return Model(letters, levels, leaves, tables), rest


def write_model(model: Model) -> bytes:
    bits = BitWriter()
    for level in model.levels:
        for row in level:
            first = min(row)
            own = [value for value, node in enumerate(row) if node != first]
            bits.gamma(len(own) + 1)
            for before, value in zip([-1, *own], own, strict=False):
                bits.gamma(value - before)
    for i, table in enumerate(model.leaves):
        bits.put(table, (max(model.leaves[:i], default=-1) + 1).bit_length())
    head = bytes([len(model.letters)]) + model.letters
    return head + bits.bytes() + write_tables(model.tables)


def table_of(model: Model, before: list[int], length: int, changes: int) -> Table:
    """Return the table of the next value of a line; `changes` sums the differences so far."""
    q1, q2, q3 = ([0, 0, 0, *before])[:-4:-1]
    part = 8 * len(before) // length if length < 1000 else 0
    shift = pair_shift(len(model.letters))
    components = (
        q1,
        part,
        2 * (max(q2, q3) >> shift) + (q2 == q3),
        min(7, (1 + changes).bit_length() - 1),
    )
    node = 0
    for level, component in zip(model.levels, components, strict=True):
        node = level[node][component]
    return model.tables[4 + model.leaves[node]]


def read_window(data: bytes, model: Model, lead: int) -> tuple[list[bytes], bytes]:
    """Return the lines of a window, and what follows its lane."""
    lane, lines = LaneReader(data), list[bytes]()
    assert lane.number(model.tables[0]) == lead
    length = 0
    for _ in range(lane.number(model.tables[0])):
        if not lane.symbol(model.tables[1]):
            length = lane.small(model.tables[2], model.tables[3])
        values: list[int] = []
        changes = 0
        for _ in range(length):
            values.append(lane.symbol(table_of(model, values, length, changes)))
            changes += _change(values)
        lines.append(bytes(model.letters[value] for value in values))
    return lines, lane.end()


def write_window(lines: list[bytes], model: Model, lead: int) -> bytes:
    lane, length = LaneWriter(), 0
    lane.number(model.tables[0], lead)
    lane.number(model.tables[0], len(lines))
    for line in lines:
        lane.symbol(model.tables[1], len(line) == length)
        if len(line) != length:
            lane.small(model.tables[2], model.tables[3], len(line))
        length = len(line)
        values = [model.letters.index(letter) for letter in line]
        changes = 0
        for i, value in enumerate(values):
            lane.symbol(table_of(model, values[:i], length, changes), value)
            changes += _change(values[: i + 1])
    return lane.bytes()


def _change(values: list[int]) -> int:
    """Return the difference of the last two values, 0 for a first one."""
    return abs(values[-1] - values[-2]) if len(values) > 1 else 0
