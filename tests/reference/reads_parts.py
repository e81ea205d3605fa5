"""What all kinds of gangsaw.reads share, from its SPEC.md: bits, tables, the entropy coder."""

from __future__ import annotations

from typing import NamedTuple

TOTAL = 4096
Table = dict[int, int]  # frequencies by symbol, ascending; {} where it is missing


class Block(NamedTuple):
    """What the head of a block says, and its parameters."""

    used: int
    n_lines: int
    is_open: bool
    flags: int
    lane: int
    n_bytes: int
    pairs: bool


class BitReader:
    """Bits of bytes, least significant first."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, n: int) -> int:
        """Return the number in the next n bits."""
        value = 0
        for i in range(n):
            value |= (self.data[self.at >> 3] >> (self.at & 7) & 1) << i
            self.at += 1
        return value

    def gamma(self) -> int:
        n = 0
        while not self.take(1):
            n += 1
        return 1 << n | self.take(n)

    def rest(self) -> bytes:
        """Return what follows the byte that the last bit is in; its other bits are zero."""
        while self.at & 7:
            assert self.take(1) == 0
        return self.data[self.at >> 3 :]


class BitWriter:
    """As `BitReader` reads."""

    def __init__(self) -> None:
        self.bits: list[int] = []

    def put(self, value: int, n: int) -> None:
        self.bits += [value >> i & 1 for i in range(n)]

    def gamma(self, value: int) -> None:
        n = value.bit_length() - 1
        self.put(1 << n, n + 1)
        self.put(value - (1 << n), n)

    def bytes(self) -> bytes:
        bits = self.bits + [0] * (-len(self.bits) % 8)
        octets = (bits[i : i + 8] for i in range(0, len(bits), 8))
        return bytes(sum(bit << i for i, bit in enumerate(octet)) for octet in octets)


def read_tables(data: bytes, n: int) -> tuple[list[Table], bytes]:
    """Return n tables, and what follows them."""
    bits = BitReader(data)
    tables: list[Table] = []
    for _ in range(n):
        table: Table = {}
        symbol, left = -1, TOTAL
        count = bits.take(8) + 1 if bits.take(1) else 0
        for i in range(count):
            symbol += bits.gamma()
            table[symbol] = bits.gamma() if i < count - 1 else left
            left -= table[symbol]
            assert symbol < 256
            assert table[symbol] > 0
        tables.append(table)
    return tables, bits.rest()


def write_tables(tables: list[Table]) -> bytes:
    bits = BitWriter()
    for table in tables:
        bits.put(bool(table), 1)
        if table:
            bits.put(len(table) - 1, 8)
        before = -1
        for i, (symbol, frequency) in enumerate(table.items()):
            bits.gamma(symbol - before)
            if i < len(table) - 1:
                bits.gamma(frequency)
            before = symbol
    return bits.bytes()


def span(table: Table, symbol: int) -> tuple[int, int]:
    """Return the first slot of a symbol, and how many it has."""
    return sum(n for other, n in table.items() if other < symbol), table[symbol]


class LaneReader:
    """A lane: one state over words."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 4
        self.x = int.from_bytes(data[:4], "little")
        assert self.x >= 1 << 16

    def slot(self, low: int, frequency: int) -> None:
        self.x = frequency * (self.x >> 12) + self.x % TOTAL - low
        if self.x < 1 << 16:
            self.x = self.x << 16 | int.from_bytes(self.data[self.at : self.at + 2], "little")
            self.at += 2

    def symbol(self, table: Table) -> int:
        s = self.x % TOTAL
        found = next(y for y in reversed(table) if span(table, y)[0] <= s)
        self.slot(*span(table, found))
        return found

    def raw(self, n: int) -> int:
        value = 0
        while n:
            part = min(n, 12)
            bits = self.x % TOTAL >> 12 - part
            self.slot(bits << 12 - part, 1 << 12 - part)
            value, n = value << part | bits, n - part
        return value

    def number(self, table: Table) -> int:
        n = self.symbol(table)
        return 1 << n - 1 | self.raw(n - 1) if n else 0

    def small(self, table: Table, more: Table) -> int:
        value = self.symbol(table)
        return value + self.number(more) if value == 255 else value

    def end(self) -> bytes:
        """Return what follows the lane."""
        assert self.x == 1 << 16
        assert self.at <= len(self.data)
        return self.data[self.at :]


class LaneWriter:
    """As `LaneReader` reads, in the same order."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []

    def symbol(self, table: Table, symbol: int) -> None:
        self.spans.append(span(table, symbol))

    def raw(self, value: int, n: int) -> None:
        while n:
            part = min(n, 12)
            n -= part
            self.spans.append(((value >> n) % (1 << part) << 12 - part, 1 << 12 - part))

    def number(self, table: Table, value: int) -> None:
        n = value.bit_length()
        self.symbol(table, n)
        if n:
            self.raw(value - (1 << n - 1), n - 1)

    def small(self, table: Table, more: Table, value: int) -> None:
        self.symbol(table, min(value, 255))
        if value >= 255:
            self.number(more, value - 255)

    def bytes(self, last: int = 1 << 16) -> bytes:
        """Return the lane; `last` is the state that a reader ends with."""
        x, words = last, []
        for low, frequency in reversed(self.spans):
            if x >= frequency << 20:
                words.append(x & 0xFFFF)
                x >>= 16
            x = (x // frequency << 12) + low + x % frequency
        return x.to_bytes(4, "little") + b"".join(w.to_bytes(2, "little") for w in reversed(words))
