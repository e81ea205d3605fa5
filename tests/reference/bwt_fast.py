"""Effort fast of the Burrows-Wheeler codec, from codecs/bwt/SPEC.md, Fast, in plain Python."""

from __future__ import annotations

from typing import NamedTuple

from reference.bwt_lanes import (
    Decoder,
    Encoder,
    Wrong,
    cut,
    heads,
    moved,
    read_heads,
    runs_of,
)

SYMBOLS = 18, 48
BOUNDS = 40, 110, 200, 320, 460, 640, 900
CONTEXTS, MOST_TABLES = 64, 24
TOTAL, LOWEST = 1 << 12, 1 << 16


class Tables(NamedTuple):
    """Of both kinds: the table of each context, and the weights of each table."""

    table_of: list[list[int]]
    weights: list[list[list[int]]]


def symbol_of(v: int) -> tuple[int, int]:
    """The symbol of a number, and how many bits follow."""
    if v < 8:
        return v, 0
    e = v.bit_length() - 1
    return 2 * e + 2 + (v >> e - 1 & 1), e - 1


LEAST = {v: (v, 0) for v in range(8)}  # of a symbol: the least number, and how many bits follow
for _e in range(3, 23):
    for _v in (1 << _e, 3 << _e >> 1):
        LEAST[symbol_of(_v)[0]] = (_v, symbol_of(_v)[1])


class Past:
    """What a lane has said so far."""

    def __init__(self) -> None:
        self.smoothed = 0
        self.habits = dict.fromkeys(range(256), (0, 0))

    def rank_context(self, c: int) -> int:
        return 8 * sum(bound <= self.smoothed for bound in BOUNDS) + self.habits[c][0]

    def length_context(self, c: int, s: int) -> int:
        return 8 * self.habits[c][1] + sum(s >= bound for bound in (1, 2, 3, 7, 10))

    def goes_on(self, c: int, s: int, t: int) -> None:
        x = 100 * s if s < 8 else 900 if s == 8 else 1100
        self.smoothed += (x - self.smoothed) // 4
        self.habits[c] = habit(self.habits[c][0], s), habit(self.habits[c][1], t)


def habit(h: int, symbol: int) -> int:
    o = (1 + LEAST[symbol][0]).bit_length() - 1
    return min(7, (2 * h + 4 * o + 3) // 4 if o else (2 * h + 1) // 4)


def normalised(weights: list[int]) -> list[int]:
    total = sum(weights)
    found = [max(1, w * TOTAL // total) if w else 0 for w in weights]
    largest = found.index(max(found))
    while sum(found) > TOTAL:
        found[largest] -= 1
        if max(found) > found[largest]:
            largest = found.index(max(found))
    found[largest] += TOTAL - sum(found)
    return found


def tree(coder: Encoder, name: object, bits: int, value: int = 0) -> int:
    prefix = 1
    for i in range(bits - 1, -1, -1):
        prefix = 2 * prefix + coder.decide((name, prefix), value >> i & 1)
    return prefix - (1 << bits)


def code_map(coder: Encoder, kind: int, known: list[int] | None = None) -> list[int]:
    found, same = [0], 1
    for i in range(1, CONTEXTS):
        same = coder.decide((kind, "same", same), int(known[i] == known[i - 1]) if known else 0)
        if same:
            found.append(found[-1])
            continue
        table = tree(coder, (kind, "table"), 5, known[i] if known else 0)
        if table > max(found) + 1 or table >= MOST_TABLES or table == found[-1]:
            raise Wrong("table of a context")
        found.append(table)
    return found


def code_weight(coder: Encoder, kind: int, above: int, weight: int = 0) -> int:
    a = tree(coder, (kind, "width", above), 4, weight.bit_length())
    if a > 13:
        raise Wrong("weight")
    if a < 2:
        return a
    bits = min(2, a - 1)
    below = weight >> max(0, a - 1 - bits) & (1 << bits) - 1
    return (1 << bits | tree(coder, (kind, "below", a), bits, below)) << a - 1 - bits


def code_tables(coder: Encoder, known: Tables | None = None) -> Tables:
    found = Tables([], [])
    for kind, n in enumerate(SYMBOLS):
        table_of = code_map(coder, kind, known.table_of[kind] if known else None)
        tables = list[list[int]]()
        for t in range(max(table_of) + 1):
            above = [w.bit_length() for w in tables[-1]] if tables else [14] * n
            given = known.weights[kind][t] if known else [0] * n
            tables.append([code_weight(coder, kind, above[s], given[s]) for s in range(n)])
            if not any(tables[-1]):
                raise Wrong("a table of zeros")
        found.table_of.append(table_of)
        found.weights.append(tables)
    return found


class Slots:
    """Frequencies and first slots of all contexts."""

    def __init__(self, tables: Tables) -> None:
        by_table = [[normalised(w) for w in weights] for weights in tables.weights]
        self.frequencies = [
            [by_table[kind][t] for t in tables.table_of[kind]] for kind in range(len(SYMBOLS))
        ]

    def of_symbol(self, kind: int, context: int, symbol: int) -> tuple[int, int]:
        row = self.frequencies[kind][context]
        return row[symbol], sum(row[:symbol])

    def at(self, kind: int, context: int, slot: int) -> int:
        row = self.frequencies[kind][context]
        return next(s for s in range(len(row)) if sum(row[: s + 1]) > slot)


class Step(NamedTuple):
    """What a state takes: a symbol of n slots from f on; or, without n, k bits of value f."""

    n: int
    f: int
    k: int = 0


def bit_steps(value: int, k: int) -> list[Step]:
    if k > 16:
        return [Step(0, value & 0xFFFF, 16), Step(0, value >> 16, k - 16)]
    return [Step(0, value, k)] if k else []


def steps_of(lane: bytes, slots: Slots) -> list[Step]:
    past, steps = Past(), list[Step]()
    for c, r, m in runs_of(lane):
        (s, s_bits), (t, t_bits) = symbol_of(r - 1), symbol_of(m - 1)
        steps.append(Step(*slots.of_symbol(0, past.rank_context(c), s)))
        steps += bit_steps(r - 1 - LEAST[s][0], s_bits)
        steps.append(Step(*slots.of_symbol(1, past.length_context(c, s), t)))
        steps += bit_steps(m - 1 - LEAST[t][0], t_bits)
        past.goes_on(c, s, t)
    return steps


def words_of(steps: list[Step]) -> bytes:
    x, words = LOWEST, list[int]()
    for n, f, k in reversed(steps):
        if x >= (n << 20 if n else 1 << 32 - k):
            words.append(x & 0xFFFF)
            x >>= 16
        x = x // n * TOTAL + x % n + f if n else x << k | f
    return x.to_bytes(4, "little") + b"".join(w.to_bytes(2, "little") for w in reversed(words))


def encoded(bwt: bytes, tables: Tables) -> bytes:
    """The bytes of a string, whatever their number, by tables that have all its symbols."""
    lanes, coder, slots = cut(bwt, by_decisions=False), Encoder(), Slots(tables)
    words = [words_of(steps_of(lane, slots)) if lane else b"" for lane in lanes]
    sizes = b"".join(len(lane).to_bytes(3, "little") for lane in words[:-1])
    code_tables(coder, tables)
    return heads(lanes) + sizes + coder.end() + b"".join(words)


class State:
    """A lane that is read."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 4 or len(data) % 2:
            raise Wrong("size of a lane")
        self.x, self.data, self.at = int.from_bytes(data[:4], "little"), data, 4

    def refill(self) -> None:
        if self.x < LOWEST:
            if self.at == len(self.data):
                raise Wrong("no word is left")
            self.x = self.x << 16 | int.from_bytes(self.data[self.at : self.at + 2], "little")
            self.at += 2

    def symbol(self, slots: Slots, kind: int, context: int) -> int:
        slot = self.x % TOTAL
        s = slots.at(kind, context, slot)
        n, f = slots.of_symbol(kind, context, s)
        self.x = n * (self.x // TOTAL) + slot - f
        self.refill()
        return s

    def bits(self, k: int) -> int:
        low, above = 0, 0
        if k > 16:
            low, k, above = self.bits(16), k - 16, 16
        value = self.x % (1 << k)
        self.x >>= k
        self.refill()
        return value << above | low

    def number(self, s: int) -> int:
        least, k = LEAST[s]
        return least + (self.bits(k) if k else 0)


def read_lane(data: bytes, length: int, symbols: list[int], slots: Slots) -> bytes:
    state, past, out = State(data), Past(), bytearray()
    order = symbols[:]
    while len(out) < length:
        c = order[0]
        s = state.symbol(slots, 0, past.rank_context(c))
        rank = state.number(s) + 1
        t = state.symbol(slots, 1, past.length_context(c, s))
        m = state.number(t) + 1
        if rank > max(1, len(symbols) - 1) or len(out) + m > length:
            raise Wrong("rank or length")
        out += bytes([c]) * m
        order = moved(order, rank)
        past.goes_on(c, s, t)
    if state.x != LOWEST or state.at != len(data):
        raise Wrong("words are left")
    return bytes(out)


def read_all(data: bytes, n: int) -> tuple[bytes, Tables]:
    lengths, lists, at = read_heads(data, n)
    first = at + 3 * (len(lengths) - 1)
    if len(data) < first:
        raise Wrong("cut off")
    sizes = [int.from_bytes(data[i : i + 3], "little") for i in range(at, first, 3)]
    coder = Decoder(data[first:])
    tables = code_tables(coder)
    at = first + coder.at
    sizes.append(len(data) - at - sum(sizes))
    if sizes[-1] < 0:
        raise Wrong("sizes")
    slots, lanes = Slots(tables), list[bytes]()
    for size, length, symbols in zip(sizes, lengths, lists, strict=True):
        if not length and size:
            raise Wrong("an empty lane has bytes")
        lanes.append(read_lane(data[at : at + size], length, symbols, slots) if length else b"")
        at += size
    return b"".join(lanes), tables


def decoded(data: bytes, n: int) -> bytes:
    """The string of n bytes; Wrong where these are not its bytes."""
    return read_all(data, n)[0]
