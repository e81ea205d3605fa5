"""Lanes of a Burrows-Wheeler string in plain Python: codecs/bwt/SPEC.md, "Lanes and lists"."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import NamedTuple

MOST_LANES, LANE_BYTES = 16, 1 << 14
TOP = (1 << 32) - 1


class Run(NamedTuple):
    """A run of a lane."""

    symbol: int
    rank: int
    length: int


class Wrong(Exception):
    """Bytes that no encoder writes."""


def lane_count(n: int) -> int:
    lanes = 1
    while 2 * lanes <= min(MOST_LANES, max(1, n // LANE_BYTES)):
        lanes *= 2
    return lanes


def cut(bwt: bytes, *, by_decisions: bool) -> list[bytes]:
    """The bytes of each lane."""
    runs = [(run, 2 * (run.rank.bit_length() + run.length.bit_length()) - 2) for run in whole(bwt)]
    weights = [weight if by_decisions else 1 for _, weight in runs]
    lanes, n = [b""] * lane_count(len(bwt)), lane_count(len(bwt))
    before, total = 0, sum(weights)
    for (run, _), weight in zip(runs, weights, strict=True):
        lane = max(k for k in range(n) if before * n >= k * total)
        lanes[lane] += bytes([run.symbol]) * run.length
        before += weight
    return lanes


def whole(bwt: bytes) -> list[Run]:
    """The runs of a string that is one lane; the last one of a symbol has rank 1."""
    runs = [(symbol, len(list(group))) for symbol, group in groupby(bwt)]
    found, recent = [], list[int]()
    for symbol, length in reversed(runs):
        found.append(Run(symbol, recent.index(symbol) if symbol in recent else 1, length))
        recent = [symbol] + [other for other in recent if other != symbol]
    return found[::-1]


def runs_of(lane: bytes) -> list[Run]:
    symbols = len(set(lane))
    runs = whole(lane)
    last = {run.symbol: i for i, run in enumerate(runs)}
    return [
        run._replace(rank=max(1, symbols - 1)) if last[run.symbol] == i else run
        for i, run in enumerate(runs)
    ]


def first_list(lane: bytes) -> list[int]:
    return list(dict.fromkeys(lane))


def moved(symbols: list[int], rank: int) -> list[int]:
    """The list after its first symbol moved back."""
    rest = symbols[1:]
    return rest[:rank] + symbols[:1] + rest[rank:]


class Encoder:
    """The arithmetic coder of decisions."""

    def __init__(self) -> None:
        self.low, self.high, self.out = 0, TOP, bytearray()
        self.counts: defaultdict[object, list[int]] = defaultdict(lambda: [0, 0])

    def decide(self, node: object, bit: int) -> int:
        """Code a decision; of decoders the bit is not used."""
        zeros, ones = self.counts[node]
        of_one = min(4095, max(1, (2 * ones + 1) * 4096 // (2 * zeros + 2 * ones + 2)))
        middle = self.low + (self.high - self.low) // 4096 * of_one
        bit = self.bit_at(middle, bit)
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        self.counts[node][bit] += 1
        if self.counts[node][bit] > 250:
            self.counts[node] = [count // 2 for count in self.counts[node]]
        while self.low >> 24 == self.high >> 24:
            self.shift()
        return bit

    def bit_at(self, middle: int, bit: int) -> int:
        return bit

    def shift(self) -> None:
        self.out.append(self.high >> 24)
        self.low, self.high = self.low << 8 & TOP, (self.high << 8 & TOP) | 255

    def end(self) -> bytes:
        return bytes(self.out) + self.high.to_bytes(4, "big")


class Decoder(Encoder):
    """Its other side: decisions are what the bytes say."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data, self.at = data, 4
        self.word = int.from_bytes((data + bytes(4))[:4], "big")

    def bit_at(self, middle: int, bit: int) -> int:
        return int(self.word <= middle)

    def shift(self) -> None:
        super().shift()
        octet = self.data[self.at] if self.at < len(self.data) else 0
        self.word, self.at = (self.word << 8 & TOP) | octet, self.at + 1


def number(coder: Encoder, kind: object, widths: int, value: int = 0) -> int:
    """Code a number of at most so many widths."""
    width, w = value.bit_length(), 0
    while w < widths and coder.decide((kind, w), int(w < width)):
        w += 1
    prefix = min(w, 1)
    for i in range(w - 2, -1, -1):
        prefix = 2 * prefix + coder.decide((kind, w, prefix), value >> i & 1)
    return prefix


def lists(coder: Encoder, n_lanes: int, known: list[list[int]] | None = None) -> list[list[int]]:
    """Code lists: those that are known, else what a decoder finds."""
    left, found = list(range(256)), []
    for lane in range(n_lanes):
        size = number(coder, 0, 9, len(known[lane]) if known else 0)
        if size > 256:
            raise Wrong("size of a list")
        width = 0
        for i in range(size):
            kind = (1 if lane == 0 else 10) + width
            place = left.index(known[lane][i]) - i if known else 0
            place = number(coder, kind, 8, place)
            if i + place > 255:
                raise Wrong("place in a list")
            left.insert(i, left.pop(i + place))
            width = place.bit_length()
        found.append(left[:size])
    return found


def heads(lanes: list[bytes]) -> bytes:
    coder = Encoder()
    lists(coder, len(lanes), [first_list(lane) for lane in lanes])
    return b"".join(len(lane).to_bytes(3, "little") for lane in lanes[:-1]) + coder.end()


def read_heads(data: bytes, n: int) -> tuple[list[int], list[list[int]], int]:
    """Lengths of lanes, their lists, and the bytes that they take."""
    n_lanes = lane_count(n)
    first = 3 * (n_lanes - 1)
    if len(data) < first:
        raise Wrong("cut off")
    lengths = [int.from_bytes(data[at : at + 3], "little") for at in range(0, first, 3)]
    lengths.append(n - sum(lengths))
    coder = Decoder(data[first:])
    found = lists(coder, n_lanes)
    if lengths[-1] < 0 or first + coder.at > len(data):
        raise Wrong("lengths")
    for length, symbols in zip(lengths, found, strict=True):
        if len(symbols) > length or (length > 0) != (len(symbols) > 0):
            raise Wrong("a list of another size than its lane")
    return lengths, found, first + coder.at
