"""The kind "dense" of gangsaw.visibility in slow plain Python, from its SPEC.md."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

LANES = 32
KIND = 3
MANTISSA = {16: 10, 32: 23, 64: 52}
NO_GRID, ABSOLUTE, RELATIVE = range(3)
NEAR, WIDE, SLOW, SLOWER, LEVEL = range(5)
RATES = {SLOW: np.float32(1 / 4), SLOWER: np.float32(1 / 16), LEVEL: np.float32(1 / 4)}
CONTEXTS = 7
SOME_ZERO, ALL_ZERO, ALONE = 4, 5, 6
PLANE, ZERO, MINUS_ZERO, COMMONEST, ESCAPE, NEAR_GRID, N_SYMBOLS = 52, 104, 105, 106, 107, 108, 220
LARGEST = 55
# (weight, steps back in time, in frequency)
PREDICTORS = [
    [],
    [(1, 1, 0)],
    [(1, 0, 1)],
    [(1, 1, 0), (1, 0, 1), (-1, 1, 1)],
    [(2, 1, 0), (-1, 2, 0)],
    [(3, 1, 0), (-3, 2, 0), (1, 3, 0)],
    [(4, 1, 0), (-6, 2, 0), (4, 3, 0), (-1, 4, 0)],
    [(2, 0, 1), (-1, 0, 2)],
    [(3, 0, 1), (-3, 0, 2), (1, 0, 3)],
    [(4, 0, 1), (-6, 0, 2), (4, 0, 3), (-1, 0, 4)],
    [(0.5, 1, 0), (0.5, 2, 0)],
    [(0.5, 0, 1), (0.5, 0, 2)],
    [(0.5, 1, 0), (0.5, 0, 1)],
    [(2, 1, 0), (-1, 2, 0), (1, 0, 1), (-2, 1, 1), (1, 2, 1)],
    [(2, 0, 1), (-1, 0, 2), (1, 1, 0), (-2, 1, 1), (1, 1, 2)],
]

Table = list[list[int]]
Size = np.float32
Place = tuple[int, int, int]  # strip, row, lane


class Extents(NamedTuple):
    """Of a table of lanes: times and frequencies of a strip, series in all, bits of a word."""

    times: int
    frequencies: int
    series: int
    width: int

    @property
    def rows(self) -> int:
        return self.times * self.frequencies

    @property
    def strips(self) -> int:
        return -(-self.series // LANES)


class Head(NamedTuple):
    """What a payload says of all values."""

    means: int
    grid: int
    value: int
    has_near_grid: bool
    starts: tuple[int, int]
    commonest: int | None
    predictors: list[int]
    n_bytes: int
    has_integers: bool = False  # of kind 5: values have no sign, and are no words


class Bits:
    """Bits, the least significant of the first octet first."""

    def __init__(self, data: bytes) -> None:
        self.number, self.size, self.at = int.from_bytes(data, "little"), len(data), 0

    def take(self, count: int) -> int:
        self.at += count
        assert self.at <= 8 * self.size
        return self.number >> (self.at - count) & ((1 << count) - 1)

    @property
    def octets(self) -> int:
        return -(-self.at // 8)


class Symbols:
    """Symbols by asymmetric numeral systems: a state for each lane, one stream for all."""

    def __init__(self, tables: list[list[int]], states: bytes, stream: bytes) -> None:
        self.tables = tables
        self.states = list(struct.unpack("<32I", states))
        self.stream = list(struct.unpack(f"<{len(stream) // 2}H", stream))
        self.at = 0

    def pull(self, lane: int, context: int) -> int:
        table, state = self.tables[context], self.states[lane]
        assert sum(table) == 4096, "a table that is not there"
        slot, symbol, first = state % 4096, 0, 0
        while slot >= first + table[symbol]:
            first += table[symbol]
            symbol += 1
        state = table[symbol] * (state // 4096) + slot - first
        if state < 1 << 16:
            state = state << 16 | self.stream[self.at]
            self.at += 1
        self.states[lane] = state
        return symbol


class Block:
    """What the values of a table say of those after them."""

    def __init__(self, head: Head, extents: Extents) -> None:
        self.head, self.extents, self.width = head, extents, extents.width
        self.mantissa = MANTISSA[self.width]
        self.infinity = (1 << self.width - 1 - self.mantissa) - 1  # exponent of what is not finite
        self.means = [Size(0)] * LANES

    def predictor(self, strip: int, lane: int) -> int:
        return self.head.predictors[strip * LANES + lane]

    def is_residual(self, strip: int, lane: int) -> bool:
        return self.head.has_integers or self.predictor(strip, lane) > 0

    def used(self, strip: int) -> range:
        """Lanes in use."""
        return range(min(LANES, self.extents.series - strip * LANES))

    def walk(self, code: Callable[[Place, int, int, bool], tuple[int, int]]) -> Table:
        """Return the values of all strips, words and residuals.

        code takes a place, the exponent and the context that are expected there, and whether
        there are residuals; it returns value and symbol.
        """
        out = []
        for strip in range(self.extents.strips):
            for lane in self.used(strip) if strip else ():
                if self.is_residual(strip, lane) != self.is_residual(strip - 1, lane):
                    self.means[lane] = Size(0)
            out += self.strip(strip, code)
        return out

    def strip(self, strip: int, code: Callable[[Place, int, int, bool], tuple[int, int]]) -> Table:
        values = [[0] * LANES for _ in range(self.extents.rows)]
        sizes = [[Size(0)] * LANES for _ in values]
        for row in range(self.extents.rows):
            for lane in self.used(strip):
                is_residual = self.is_residual(strip, lane)
                around, context = self.scale(self.look_around(sizes, row, lane), is_residual)
                value, symbol = code((strip, row, lane), around, context, is_residual)
                values[row][lane] = value
                if symbol not in (MINUS_ZERO, COMMONEST):
                    sizes[row][lane] = self.size(value, is_residual)
        return values

    def size(self, word: int, is_residual: bool) -> Size:
        if is_residual:
            magnitude = min(word, (1 << self.width) - word)
            if not magnitude:
                return Size(0)
            exponent = magnitude.bit_length() - 1
            code, fraction, count = exponent + 127, magnitude - (1 << exponent), exponent
        else:
            exponent, fraction, count = self.split(word)
            if exponent in (0, self.infinity):
                return Size(0)
            code = min(max(exponent - self.infinity // 2 + 127, 1), 254)
        return as_float(code << 23 | fraction << 64 >> count + 64 - 23, 32)

    def split(self, word: int) -> tuple[int, int, int]:
        """Exponent and fraction of a float, and the bits of that."""
        exponent = word >> self.mantissa & self.infinity
        return exponent, word & (1 << self.mantissa) - 1, self.mantissa

    def look_around(self, sizes: list[list[Size]], row: int, lane: int) -> tuple[Size, int, int]:
        """Mean of the sizes around, 0 where there is none; zeros that are near; all that are."""
        if self.head.means >= SLOW:
            return self.follow(sizes, row, lane)
        f, t = divmod(row, self.extents.times)
        places = [(2, 1, 0), (2, 0, 1)]
        places += [(1, 2, 0), (1, 0, 2), (1, 1, 1), (1, -1, 1)] if self.head.means == WIDE else []
        total, weights, near = Size(0), Size(0), []
        for i, (weight, back, down) in enumerate(places):
            if down <= f and 0 <= t - back < self.extents.times:
                size = sizes[(f - down) * self.extents.times + t - back][lane]
                total = total + Size(weight) * size
                weights += Size(weight if size > 0 else 0)
                near += [size] if i < 2 else []
        mean = total / weights if weights > 0 else Size(0)
        return mean, sum(size == 0 for size in near), len(near)

    def follow(self, sizes: list[list[Size]], row: int, lane: int) -> tuple[Size, int, int]:
        if row == 0:
            return self.means[lane], 0, 0
        size, mean = sizes[row - 1][lane], self.means[lane]
        if size > 0:
            mean = mean + (size - mean) * RATES[self.head.means] if mean > 0 else size
        self.means[lane] = mean
        return mean, int(size == 0), 1

    def scale(self, around: tuple[Size, int, int], is_residual: bool) -> tuple[int, int]:
        """Exponent and context of a value."""
        mean, zeros, near = around
        bias = 0 if is_residual else self.infinity // 2
        first = CONTEXTS if is_residual else 0
        if not mean > 0:
            return self.head.starts[is_residual] + bias, first + (ALL_ZERO if zeros else ALONE)
        bits = struct.unpack("<I", struct.pack("<f", mean))[0]
        exponent, context = (bits >> 23) - 127, bits >> 21 & 3
        if self.head.means == LEVEL:
            start = self.head.starts[is_residual]
            exponent, context = start, min(max(exponent - start + 2, 0), 3)
        if zeros:
            context = ALL_ZERO if zeros == near else SOME_ZERO
        return exponent + bias, first + context

    def grid_bits(self, exponent: int, is_residual: bool) -> int:
        """Bits of the fraction of a value on the grid."""
        if is_residual:
            return exponent
        if self.head.grid == ABSOLUTE:
            return min(max(exponent - self.head.value, 0), self.mantissa)
        return self.mantissa - (self.head.value if self.head.grid == RELATIVE else 0)

    def prediction(self, table: Table, strip: int, row: int, lane: int) -> int:
        """Return the integer that a residual counts from."""
        f, t = divmod(row, self.extents.times)
        total = 0.0
        for weight, back, down in PREDICTORS[self.predictor(strip, lane)]:
            if back <= t and down <= f:
                there = strip * self.extents.rows + row - down * self.extents.times - back
                value = as_float(table[there][lane], self.width)
                total += weight * (float(value) if np.isfinite(value) else 0.0)
        rounded = (np.float32 if self.width == 32 else np.float64)(total)
        letter = "<f" if self.width == 32 else "<d"
        bits = int.from_bytes(struct.pack(letter, rounded), "little")
        return self.order(bits) if np.isfinite(rounded) else 0

    def predicted(self) -> Iterator[Place]:
        """Places of residuals of floats in the order of rows."""
        for strip in range(0 if self.head.has_integers else self.extents.strips):
            lanes = [lane for lane in self.used(strip) if self.predictor(strip, lane)]
            yield from ((strip, row, lane) for row in range(self.extents.rows) for lane in lanes)

    def order(self, word: int) -> int:
        """Return the integer that orders floats as two's complement; its own inverse."""
        sign = 1 << self.width - 1
        return word ^ (sign - 1) if word & sign else word


class Decoder(Block):
    """One payload."""

    def __init__(self, data: bytes, extents: Extents, has_integers: bool = False) -> None:
        head, at = read_head(data, extents)
        super().__init__(head._replace(has_integers=has_integers), extents)
        tables = Bits(data[at:])
        n_symbols = N_SYMBOLS if head.has_near_grid else NEAR_GRID
        frequencies = [read_table(tables, n_symbols) for _ in range(2 * CONTEXTS)]
        at += tables.octets
        self.bits = Bits(data[at + 128 : at + 128 + head.n_bytes])
        stream = data[at + 128 + head.n_bytes :]
        self.symbols = Symbols(frequencies, data[at : at + 128], stream)

    def table(self) -> Table:
        out = self.walk(self.take)
        assert self.symbols.at == len(self.symbols.stream)
        assert self.symbols.states == [1 << 16] * LANES
        assert self.bits.octets == self.bits.size
        for strip, row, lane in self.predicted():
            at = strip * self.extents.rows + row
            total = out[at][lane] + self.prediction(out, strip, row, lane)
            out[at][lane] = self.order(total % (1 << self.width))
        return out

    def take(self, place: Place, around: int, context: int, is_residual: bool) -> tuple[int, int]:
        symbol = self.symbols.pull(place[2], context)
        return self.value(symbol, around, is_residual), symbol

    def value(self, symbol: int, around: int, is_residual: bool) -> int:
        """Word or residual of a symbol, modulo 2^w."""
        if symbol >= NEAR_GRID:
            return self.near_grid(symbol - NEAR_GRID, around, is_residual)
        if symbol >= ZERO:
            return self.special(symbol, is_residual)
        octave, told, first = read_symbol(symbol % PLANE)
        exponent = around + octave
        count = exponent if is_residual else self.mantissa
        limit = min(LARGEST, self.width - 1) if is_residual else self.infinity
        assert 0 <= exponent <= limit
        full = self.mantissa if symbol >= PLANE else self.grid_bits(exponent, is_residual)
        left = max(full - told, 0)
        sign = self.bits.take(int(not self.head.has_integers))
        number = first << left | self.bits.take(left)
        fraction = number << count >> told + left
        return self.join(sign, exponent, fraction, is_residual)

    def near_grid(self, index: int, around: int, is_residual: bool) -> int:
        exponent, length = around + 3 - index // 8, index % 8 + 1
        full = self.grid_bits(exponent, is_residual)
        assert not is_residual
        assert 0 <= exponent <= self.infinity
        assert full + length < self.mantissa
        sign = self.bits.take(1)
        fraction = self.bits.take(full) << self.mantissa - full
        is_below = self.bits.take(1)
        units = 1 << length - 1 | self.bits.take(length - 1)
        word = self.join(sign, exponent, fraction, is_residual)
        return (word - units if is_below else word + units) % (1 << self.width)

    def special(self, symbol: int, is_residual: bool) -> int:
        if symbol != ESCAPE:
            return {ZERO: 0, MINUS_ZERO: 1 << self.width - 1}.get(symbol, self.head.commonest or 0)
        sign, exponent = self.bits.take(1), self.bits.take(11)
        assert exponent <= (self.width - 1 if is_residual else self.infinity)
        count = exponent if is_residual else self.mantissa
        upper = self.bits.take(min(count, 32))
        lower = self.bits.take(max(count - 32, 0))
        return self.join(sign, exponent, upper << max(count - 32, 0) | lower, is_residual)

    def join(self, sign: int, exponent: int, fraction: int, is_residual: bool) -> int:
        if is_residual:
            magnitude = 1 << exponent | fraction
            return (-magnitude if sign else magnitude) % (1 << self.width)
        return sign << self.width - 1 | exponent << self.mantissa | fraction


def decode(data: bytes, extents: Extents, has_integers: bool = False) -> Table:
    """Return the table (strips x rows, 32) of a payload of kind 3, of kind 5 the values in it."""
    with np.errstate(all="ignore"):
        return Decoder(data, extents, has_integers).table()


def as_float(word: int, width: int) -> np.floating:
    octets = word.to_bytes(width // 8, "little")
    return np.frombuffer(octets, f"<f{width // 8}")[0]


def read_symbol(symbol: int) -> tuple[int, int, int]:
    """Octave, bits of the fraction that are told, these bits."""
    if symbol < 24:
        return 4 - symbol // 4, 2, symbol % 4
    if symbol < 28:
        return -2 - (symbol - 24) // 2, 1, symbol % 2
    return 24 - symbol, 0, 0


def read_head(data: bytes, extents: Extents) -> tuple[Head, int]:
    """Return the head and where the tables begin."""
    kind, means, grid, value, first, second, n_used, n_bytes = struct.unpack("<BBBhhhBI", data[:14])
    assert kind == KIND
    at, commonest = 14, None
    if grid & 4:
        commonest = int.from_bytes(data[at : at + extents.width // 8], "little")
        at += extents.width // 8
    used = data[at : at + n_used]
    index = Bits(data[at + n_used :])
    width = (n_used - 1).bit_length()
    predictors = [used[index.take(width)] for _ in range(extents.series)]
    chosen = means, grid & 3, value, bool(grid & 8), (first, second)
    head = Head(*chosen, commonest, predictors, n_bytes)
    return head, at + n_used + index.octets


def read_table(bits: Bits, n_symbols: int) -> list[int]:
    """Return the frequencies of all symbols."""
    if not bits.take(1):
        return [0] * n_symbols
    return [bits.take(12) + 1 if bits.take(1) else 0 for _ in range(n_symbols)]
