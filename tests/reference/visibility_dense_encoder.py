"""Encoder of the kind "dense" of gangsaw.visibility, told what to choose, in slow plain Python."""

from __future__ import annotations

import struct

import numpy as np

from reference.visibility_dense import (
    COMMONEST,
    CONTEXTS,
    ESCAPE,
    KIND,
    LANES,
    LARGEST,
    MINUS_ZERO,
    N_SYMBOLS,
    NEAR_GRID,
    PLANE,
    ZERO,
    Block,
    Extents,
    Head,
    Place,
    Table,
)

TOTAL = 4096


def encode(table: Table, extents: Extents, head: Head) -> bytes:
    """Return the payload of a table; the `n_bytes` of head are not looked at."""
    with np.errstate(all="ignore"):
        return Encoder(table, extents, head).payload()


class Writer:
    """Bits, the least significant of the first octet first."""

    def __init__(self) -> None:
        self.number, self.size = 0, 0

    def put(self, value: int, count: int) -> None:
        assert value >> count == 0
        self.number |= value << self.size
        self.size += count

    def octets(self) -> bytes:
        return self.number.to_bytes(-(-self.size // 8), "little")


class Encoder(Block):
    """One block."""

    def __init__(self, table: Table, extents: Extents, head: Head) -> None:
        super().__init__(head, extents)
        self.values = [list(row) for row in table]
        for strip, row, lane in self.predicted():
            at = strip * extents.rows + row
            difference = self.order(table[at][lane]) - self.prediction(table, strip, row, lane)
            self.values[at][lane] = difference % (1 << self.width)
        self.bits = Writer()
        self.pushed: list[tuple[int, int, int]] = []  # lane, context, symbol

    def payload(self) -> bytes:
        self.walk(self.put)
        n_symbols = N_SYMBOLS if self.head.has_near_grid else NEAR_GRID
        counts = [[0] * n_symbols for _ in range(2 * CONTEXTS)]
        for _, context, symbol in self.pushed:
            counts[context][symbol] += 1
        tables = [normalised(row) for row in counts]
        bits = self.bits.octets()
        return self.head_octets(len(bits)) + table_octets(tables) + push(self.pushed, tables, bits)

    def put(self, place: Place, around: int, context: int, is_residual: bool) -> tuple[int, int]:
        strip, row, lane = place
        value = self.values[strip * self.extents.rows + row][lane]
        symbol = self.symbol(value, around, is_residual)
        self.pushed.append((lane, context, symbol))
        return value, symbol

    def symbol(self, value: int, around: int, is_residual: bool) -> int:
        """Return the symbol of a value, and put its bits."""
        if value == 0:
            return ZERO
        if self.has_words(is_residual) and value == 1 << self.width - 1:
            return MINUS_ZERO
        if self.has_words(is_residual) and value == self.head.commonest:
            return COMMONEST
        sign, exponent, fraction, count = self.parts(value, is_residual)
        octave = exponent - around
        is_odd = self.head.has_integers and sign
        if not -27 <= octave <= 4 or (is_residual and exponent > LARGEST) or is_odd:
            return self.escape(sign, exponent, fraction, count)
        full = self.grid_bits(exponent, is_residual)
        is_off = fraction & (1 << count - full) - 1 != 0
        if is_off and self.head.has_near_grid and exponent < self.infinity:
            symbol = self.near_grid(value, full, around)
            if symbol is not None:
                return symbol
        full = self.mantissa if is_off else full
        told = 2 if octave >= -1 else 1 if octave >= -3 else 0
        left = max(full - told, 0)
        self.bits.put(sign, int(not self.head.has_integers))
        self.bits.put((fraction << told + left >> count) & (1 << left) - 1, left)
        first = fraction << told >> count
        return PLANE * is_off + plain_symbol(octave, first)

    def has_words(self, is_residual: bool) -> bool:
        """Whether there are words with a symbol of their own."""
        return self.head.has_integers or not is_residual

    def near_grid(self, word: int, full: int, around: int) -> int | None:
        """Return the symbol of a word near the grid, and put its bits; None where it is none.

        full : bits of the fraction of a word on the grid
        """
        sign, magnitude = word >> self.width - 1, word & (1 << self.width - 1) - 1
        step = 1 << self.mantissa - full
        rounded = (magnitude + step // 2) // step * step
        exponent, fraction, _ = self.split(rounded)
        units = abs(magnitude - rounded)
        octave, length = exponent - around, units.bit_length()
        full = self.grid_bits(exponent, is_residual=False)
        if not -10 <= octave <= 3 or length > 8 or full + length >= self.mantissa:
            return None
        self.bits.put(sign, 1)
        self.bits.put(fraction >> self.mantissa - full, full)
        self.bits.put(int(magnitude < rounded), 1)
        self.bits.put(units - (1 << length - 1), length - 1)
        return NEAR_GRID + (3 - octave) * 8 + length - 1

    def escape(self, sign: int, exponent: int, fraction: int, count: int) -> int:
        lower = max(count - 32, 0)
        self.bits.put(sign, 1)
        self.bits.put(exponent, 11)
        self.bits.put(fraction >> lower, min(count, 32))
        self.bits.put(fraction & (1 << lower) - 1, lower)
        return ESCAPE

    def parts(self, value: int, is_residual: bool) -> tuple[int, int, int, int]:
        """Sign, exponent, fraction and its bits."""
        sign = value >> self.width - 1
        if not is_residual:
            return sign, *self.split(value)
        magnitude = (1 << self.width) - value if sign else value
        exponent = magnitude.bit_length() - 1
        return sign, exponent, magnitude - (1 << exponent), exponent

    def head_octets(self, n_bytes: int) -> bytes:
        head = self.head
        used = sorted(set(head.predictors))
        grid = head.grid | 4 * (head.commonest is not None) | 8 * head.has_near_grid
        fields = (KIND, head.means, grid, head.value, *head.starts, len(used), n_bytes)
        index = Writer()
        for predictor in head.predictors:
            index.put(used.index(predictor), (len(used) - 1).bit_length())
        commonest = b""
        if head.commonest is not None:
            commonest = head.commonest.to_bytes(self.width // 8, "little")
        return struct.pack("<BBBhhhBI", *fields) + commonest + bytes(used) + index.octets()


def plain_symbol(octave: int, first: int) -> int:
    """Return the symbol of an octave and the bits of the fraction that it tells."""
    if octave >= -1:
        return (4 - octave) * 4 + first
    if octave >= -3:
        return 24 + (-2 - octave) * 2 + first
    return 24 - octave


def normalised(counts: list[int]) -> list[int]:
    """Return frequencies that sum to 4096: how they are chosen is the encoder's."""
    total = sum(counts)
    if not total:
        return counts
    out = [max(1, count * TOTAL // total) if count else 0 for count in counts]
    while sum(out) > TOTAL:
        out[out.index(max(out))] -= 1
    out[out.index(max(out))] += TOTAL - sum(out)
    return out


def table_octets(tables: list[list[int]]) -> bytes:
    out = Writer()
    for table in tables:
        out.put(int(any(table)), 1)
        for frequency in table if any(table) else ():
            out.put(2 * frequency - 1 if frequency else 0, 13 if frequency else 1)
    return out.octets()


def push(pushed: list[tuple[int, int, int]], tables: list[list[int]], bits: bytes) -> bytes:
    """Return states, bits, stream."""
    states, words = [1 << 16] * LANES, []
    for lane, context, symbol in reversed(pushed):
        frequency, first = tables[context][symbol], sum(tables[context][:symbol])
        if states[lane] >= frequency << 20:
            words.append(states[lane] & 0xFFFF)
            states[lane] >>= 16
        whole, rest = divmod(states[lane], frequency)
        states[lane] = whole * TOTAL + rest + first
    stream = struct.pack(f"<{len(words)}H", *reversed(words))
    return struct.pack("<32I", *states) + bits + stream
