"""The codec gangsaw.integers in slow plain Python, from its SPEC.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

CONTEXTS, TOTAL, LOWEST, SAME = 16, 4096, 1 << 16, 128
Table = dict[int, int]  # frequencies of symbols


def recode_block(
    data: bytes, parameters: dict[str, Any], shape: Sequence[int], dtype: Any
) -> tuple[Any, bytes]:
    """Decode one block of a store, and encode it again: the suite over every codec asks."""
    n, m = shape
    if data[0] == 0:
        words = np.frombuffer(data[1:], "<u4").reshape(n, m).tolist()
    else:
        words = decode(data, n, m)
    return np.array(words, np.uint64).astype(dtype).reshape(n, m), encode(words)


def symbol_of(value: int, above: int) -> tuple[int, int]:
    """The symbol, and how many raw bits follow it."""
    if value < 16:
        return value, 0
    if value == above:
        return SAME, 0
    b = value.bit_length()
    return 16 + 4 * (b - 5) + (value >> b - 3 & 3), b - 3


def listed(rows: list[list[int]]) -> list[tuple[int, int, int, str]]:
    """Of each integer its column, table, symbol and raw bits, in order of time."""
    found, above = [], [0] * len(rows[0])
    for row in rows:
        left = 0
        for j, value in enumerate(row):
            symbol, more = symbol_of(value, above[j])
            found.append((j, left, symbol, format(value, "032b")[32 - more :][::-1]))
            left = min(symbol, CONTEXTS - 1)
        above = row
    return found


def scaled(counts: Table) -> Table:
    total = sum(counts.values())
    table = {s: max(1, n * TOTAL // total) for s, n in sorted(counts.items())}
    largest = max(table, key=lambda s: (table[s], -s))
    while sum(table.values()) > TOTAL:
        table[largest] -= 1
        for s, f in table.items():
            if f > table[largest]:
                largest = s
    table[largest] += TOTAL - sum(table.values())
    return table


def encode(rows: list[list[int]]) -> bytes:
    m, said = len(rows[0]), listed(rows)
    counts: list[list[Table]] = [[{} for _ in range(CONTEXTS)] for _ in range(m)]
    for j, left, symbol, _ in said:
        counts[j][left][symbol] = counts[j][left].get(symbol, 0) + 1
    tables = [[scaled(one) if one else {} for one in column] for column in counts]
    x, words = LOWEST, list[int]()
    for j, left, symbol, _ in reversed(said):
        table = tables[j][left]
        f, first = table[symbol], sum(n for s, n in table.items() if s < symbol)
        if x >= f << 20:
            words.append(x & 0xFFFF)
            x >>= 16
        x = x // f * TOTAL + first + x % f
    head = bytes([1]) + x.to_bytes(4, "little") + len(words).to_bytes(4, "little")
    stored = b"".join(map(stored_tables, tables))
    body = b"".join(word.to_bytes(2, "little") for word in reversed(words))
    coded = head + stored + body + octets("".join(bits for *_, bits in said))
    plain = b"".join(v.to_bytes(4, "little") for row in rows for v in row)
    return coded if len(coded) <= len(plain) else b"\0" + plain


def stored_tables(column: list[Table]) -> bytes:
    largest = max(s for table in column for s in table)
    text = ""
    for table in column:
        text += "1" if table else "0"
        for s in range(largest + 1 if table else 0):
            text += "1" + format(table[s] - 1, "012b")[::-1] if s in table else "0"
    return bytes([largest]) + octets(text)


def octets(text: str) -> bytes:
    """Bits, the least significant one of a byte first."""
    return bytes(int(text[i : i + 8][::-1], 2) for i in range(0, len(text), 8))


def bits_of(data: bytes) -> str:
    return "".join(format(byte, "08b")[::-1] for byte in data)


def read_tables(data: bytes) -> tuple[list[Table], int]:
    """The tables of a column, and their bytes."""
    largest, text, at = data[0], bits_of(data[1:]), 0
    column: list[Table] = []
    for _ in range(CONTEXTS):
        table: Table = {}
        at += 1
        if text[at - 1] == "1":
            for s in range(largest + 1):
                at += 1
                if text[at - 1] == "1":
                    table[s] = int(text[at : at + 12][::-1], 2) + 1
                    at += 12
            assert sum(table.values()) == TOTAL
        column.append(table)
    return column, 1 + (at + 7) // 8


def decode(data: bytes, n: int, m: int) -> list[list[int]]:
    x, n_words = (int.from_bytes(data[i : i + 4], "little") for i in (1, 5))
    at, tables = 9, list[list[Table]]()
    for _ in range(m):
        column, size = read_tables(data[at:])
        tables.append(column)
        at += size
    words = [int.from_bytes(data[i : i + 2], "little") for i in range(at, at + 2 * n_words, 2)]
    raw, bit = bits_of(data[at + 2 * n_words :]), 0
    rows, above = list[list[int]](), [0] * m
    for _ in range(n):
        row, left = list[int](), 0
        for j in range(m):
            table, first, symbol = tables[j][left], 0, min(tables[j][left])
            while x % TOTAL >= first + table.get(symbol, 0):
                first, symbol = first + table.get(symbol, 0), symbol + 1
            f = table[symbol]
            x = f * (x // TOTAL) + x % TOTAL - first
            if x < LOWEST:
                x = x << 16 | words.pop(0)
            value = above[j] if symbol == SAME else symbol
            if 16 <= symbol < SAME:
                more = (symbol - 16) // 4 + 2
                value = 4 + (symbol - 16) % 4 << more | int(raw[bit : bit + more][::-1], 2)
                bit += more
            row.append(value)
            left = min(symbol, CONTEXTS - 1)
        rows.append(row)
        above = row
    assert not words
    assert x == LOWEST
    return rows
