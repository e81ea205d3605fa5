"""What windows of sequences of gangsaw.reads look into, from its SPEC.md."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from reference.reads_parts import (
    BitReader,
    BitWriter,
    LaneReader,
    LaneWriter,
    Table,
    read_tables,
    write_tables,
)

CONTEXTS = {
    "consensus": 4,
    "literal": 4,
    "tail": 3,
    "repeat": 2,
    "same length": 1,
    "length": 1,
    "runs": 1,
    "run gap": 1,
    "run length": 1,
    "run byte": 1,
    "kind": 6,
    "pieces": 1,
    "mapped": 3,
    "piece length": 2,
    "ahead": 1,
    "far ahead": 1,
    "back": 1,
    "strand ahead": 1,
    "hot": 2,
    "near": 3,
    "near high": 3,
    "place high": 2,
    "strand": 6,
    "mismatches": 2,
    "gap": 5,
    "letter": 4,
    "variant": 36,
    "other": 1,
    "rest": 1,
    "lead": 1,
    "lines": 1,
}
FIRST = dict(zip(CONTEXTS, accumulate([0, *CONTEXTS.values()]), strict=False))
N_TABLES = 102
SLICE = 1 << 14


class Column(NamedTuple):
    """A column on some strand: code, class, second code."""

    code: int
    number: int
    second: int


class Model(NamedTuple):
    """What lanes 0 and 1 say."""

    consensus: list[int]
    variable: dict[int, tuple[int, int]]  # class and second code by column
    anchors: list[int]
    tables: list[Table]

    def table(self, name: str, context: int = 0) -> Table:
        assert context < CONTEXTS[name]
        return self.tables[FIRST[name] + context]

    def columns(self, place: int, n: int, strand: int) -> list[Column]:
        """Return n columns from a place on, in reading order."""
        assert 0 <= place <= place + n <= len(self.consensus)
        found = []
        for p in range(place, place + n):
            number, second = self.variable.get(p, (0, 0))
            found.append(Column(self.consensus[p], number, second))
        if strand:
            found = [Column(3 - c.code, c.number, 3 - c.second) for c in reversed(found)]
        return found


def place_bits(n: int) -> int:
    return max(1, n.bit_length())


def read_model(body: bytes) -> tuple[Model, bytes]:
    """Return the model, and what follows lane 1."""
    size = int.from_bytes(body[:8], "little")
    n_columns = int.from_bytes(body[8:16], "little")
    bits, column, variable = BitReader(body[17:]), -1, {}
    for _ in range(n_columns):
        column += bits.gamma()
        variable[column] = (bits.take(2) + 1, bits.take(2))
    anchors = [bits.take(place_bits(size) + 1) for _ in range(body[16])]
    assert anchors == sorted(set(anchors))
    assert sum(CONTEXTS.values()) == N_TABLES
    tables, rest = read_tables(bits.rest(), N_TABLES)
    model = Model([], variable, anchors, tables)
    rest = rest[2 * -(-size // SLICE) :]
    for begin in range(0, size, SLICE):
        lane = LaneReader(rest)
        model.consensus.extend(read_fours(lane, model, "consensus", min(SLICE, size - begin)))
        rest = lane.end()
    return model, rest


def write_model(model: Model) -> bytes:
    bits, before = BitWriter(), -1
    for column, (number, second) in model.variable.items():
        assert second != model.consensus[column]
        bits.gamma(column - before)
        bits.put(number - 1, 2)
        bits.put(second, 2)
        before = column
    size = len(model.consensus)
    for anchor in model.anchors:
        bits.put(anchor, place_bits(size) + 1)
    slices = []
    for begin in range(0, size, SLICE):
        lane = LaneWriter()
        write_fours(lane, model, "consensus", model.consensus[begin : begin + SLICE])
        slices.append(lane.bytes())
    sizes = size.to_bytes(8, "little") + len(model.variable).to_bytes(8, "little")
    head = sizes + bytes([len(model.anchors)]) + bits.bytes() + write_tables(model.tables)
    return head + b"".join(len(s).to_bytes(2, "little") for s in slices) + b"".join(slices)


def read_fours(lane: LaneReader, model: Model, name: str, n: int) -> list[int]:
    """Return a run of n codes."""
    codes: list[int] = []
    while len(codes) < n:
        k = min(4, n - len(codes))
        before = codes[-1] if codes else 0
        table = model.table(name, before) if k == 4 else model.table("tail", k - 1)
        symbol = lane.symbol(table)
        assert symbol < 4**k
        codes += [symbol >> 2 * i & 3 for i in reversed(range(k))]
    return codes


def write_fours(lane: LaneWriter, model: Model, name: str, codes: list[int]) -> None:
    for at in range(0, len(codes), 4):
        own = codes[at : at + 4]
        before = codes[at - 1] if at else 0
        table = model.table(name, before) if len(own) == 4 else model.table("tail", len(own) - 1)
        lane.symbol(table, sum(c << 2 * i for i, c in enumerate(reversed(own))))
