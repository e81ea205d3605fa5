"""Effort dense of the Burrows-Wheeler codec, in plain Python, as codecs/bwt/SPEC.md has it."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from reference.bwt_lanes import Run, Wrong, cut, first_list, heads, moved, read_heads, runs_of

PAGE = Path(__file__).parents[2] / "codecs" / "bwt" / "SPEC.md"
NUMBERS = [int(word) for word in PAGE.read_text().split("### Weights")[1].split("```")[1].split()]
WEIGHTS = [NUMBERS[at : at + 3] for at in range(0, len(NUMBERS), 3)]
BOUNDS = 40, 110, 200, 320, 460, 640, 900
STEPS, LOWEST = 1 << 18, 1 << 16
FULL = 1024, 256, 12
CAP = 23


class Place(NamedTuple):
    """Where a lane stands in a number: its kind, ones so far, and the bits behind them."""

    is_length: bool
    e: int = 0
    bits: tuple[int, ...] | None = None

    def node(self) -> int:
        first = 52 * self.is_length
        if self.bits is None:
            return first + self.e
        d, b = len(self.bits), sum(bit << i for i, bit in enumerate(reversed(self.bits)))
        if self.e <= 3:
            return (76 if self.is_length else 8) + 2**self.e - 2 + 2**d - 1 + b
        if self.is_length:
            return 90 + 3 * (min(self.e, 10) - 4) + 2**d - 1 + b if d < 2 else 111
        return 22 + 7 * (self.e - 4) + 2**d - 1 + b if d < 3 else 50

    def asked(self, v: int) -> int:
        e = v.bit_length() - 1
        return int(e > self.e) if self.bits is None else v >> (e - 1 - len(self.bits)) & 1

    def after(self, bit: int, cap: int) -> Place:
        if self.bits is not None:
            return self._replace(bits=(*self.bits, bit))
        e = self.e + bit
        return self._replace(e=e, bits=None if bit and e < cap else ())

    def value(self) -> int | None:
        """The number, if nothing is left of it."""
        if self.bits is None or len(self.bits) < self.e:
            return None
        return 2**self.e + sum(bit << i for i, bit in enumerate(reversed(self.bits)))


class Lane:
    """A lane that is not at its end."""

    def __init__(self, symbols: list[int], left: int, runs: list[Run] | None) -> None:
        self.list, self.size, self.left, self.runs = symbols, len(symbols), left, runs
        self.S = self.T = self.w = 0
        self.h, self.g = [0] * 256, [0] * 256
        self.weights = [list(weights) for weights in WEIGHTS]
        self.out, self.x = b"", LOWEST
        self.pairs: defaultdict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0])
        self.place, self.rank = Place(False), 1

    def state(self) -> tuple[object, ...]:
        c = self.list[0]
        if self.place.is_length:
            kind = sum(self.rank >= bound for bound in (2, 3, 4, 8, 16))
            return "length", grade(self.T), min(self.g[c], 7), kind
        return "rank", grade(self.S), self.h[c], min(self.w, 2)

    def ends_run(self, m: int) -> None:
        c, r, e = self.list[0], self.rank, m.bit_length() - 1
        self.S += (100 * (min(r, 12) - 1) - self.S) // 4
        self.T += (256 * min(e, 7) - self.T) // 4
        self.w, self.h[c] = e, r.bit_length() - 1
        self.g[c] = min(15, (2 * self.g[c] + (4 * e + 3 if e else 1)) // 4)
        self.out += bytes([c]) * m
        self.left -= m
        self.list = moved(self.list, r)
        if self.runs is not None:
            self.runs = self.runs[1:]


def grade(smoothed: int) -> int:
    return sum(bound <= smoothed for bound in BOUNDS)


@cache
def bits_of(x: int) -> int:
    e = x.bit_length() - 1
    return (e << 23) + ((x - (1 << e)) << 23 >> e)


def stretch(pair: list[int]) -> int:
    return (bits_of(2 * pair[1] + 1) - bits_of(2 * pair[0] + 1)) // 2**15


def squash(z: int) -> int:
    e, f = divmod(-z, 256)
    scale = 1 << 20
    return (
        16383 * scale * 256 // (scale * 256 + (256 + f) * (scale << e if e >= 0 else scale >> -e))
    )


def halved(pair: list[int], full: int) -> None:
    if max(pair) >= full:
        pair[:] = [count // 2 for count in pair]


class Coding:
    """All lanes, step by step: an encoder where their runs are known, else a decoder."""

    def __init__(self, lanes: list[Lane | None], ranked: int, words: list[int]) -> None:
        self.lanes, self.words = lanes, words
        self.has_ranks = ranked >= 3
        self.caps = max(1, (ranked - 1).bit_length() - 1), CAP
        self.shared: defaultdict[object, list[int]] = defaultdict(lambda: [0, 0])
        self.records: list[tuple[int, int, int]] = []
        for lane in self.alive():
            lane.place = Place(not self.has_ranks)

    def alive(self) -> list[Lane]:
        return [lane for lane in self.lanes if lane is not None and lane.left > 0]

    def segment(self) -> None:
        for _ in range(STEPS):
            if not self.alive():
                break
            self.step()

    def step(self) -> None:
        counted = []
        for number, lane in enumerate(self.lanes):
            if lane is None or lane.left <= 0:
                continue
            c, node, key = lane.list[0], lane.place.node(), (lane.state(), lane.place.node())
            pairs = [self.shared[key], lane.pairs[c, node, 0], lane.pairs[c, node, 1]]
            s, weights = [stretch(pair) for pair in pairs], lane.weights[node]
            z = sum(w * t for w, t in zip(weights, s, strict=True)) >> 14
            p = squash(min(3071, max(-3071, z)))
            bit = self.coded(number, lane, p)
            t = ((bit << 14) - p) // 2
            lane.weights[node] = [
                min(32767, max(-32768, w + (t * each + 2**14) // 2**15))
                for w, each in zip(weights, s, strict=True)
            ]
            for pair, full in zip(pairs[1:], FULL[1:], strict=True):
                pair[bit] += 1
                halved(pair, full)
            counted.append((key, bit))
            self.goes_on(lane, bit)
        for key, bit in counted:
            self.shared[key][bit] += 1
        for key, _ in counted:
            halved(self.shared[key], FULL[0])

    def coded(self, number: int, lane: Lane, p: int) -> int:
        if lane.runs is not None:
            run = lane.runs[0]
            bit = lane.place.asked(run.length if lane.place.is_length else run.rank)
            self.records.append((number, p, bit))
            return bit
        high, q = lane.x >> 14, lane.x % 2**14
        bit = int(q < p)
        lane.x = p * high + q if bit else (2**14 - p) * high + q - p
        if lane.x < LOWEST:
            if not self.words:
                raise Wrong("words are missing")
            lane.x = (lane.x << 16) + self.words.pop(0)
        return bit

    def goes_on(self, lane: Lane, bit: int) -> None:
        lane.place = lane.place.after(bit, self.caps[lane.place.is_length])
        value = lane.place.value()
        if value is None:
            return
        if not lane.place.is_length:
            if value >= lane.size and lane.runs is None:
                raise Wrong("a rank")
            lane.rank, lane.place = value, Place(True)
            return
        if value > lane.left and lane.runs is None:
            raise Wrong("a run")
        lane.ends_run(value)
        lane.place = Place(not self.has_ranks)

    def written(self) -> bytes:
        """The bytes of the records since the last segment."""
        states, words = [LOWEST] * len(self.lanes), list[int]()
        for number, p, bit in reversed(self.records):
            width = p if bit else 2**14 - p
            if states[number] >= width << 18:
                words.append(states[number] & 0xFFFF)
                states[number] >>= 16
            high, low = divmod(states[number], width)
            states[number] = (high << 14) + low + (0 if bit else p)
        self.records = []
        return b"".join(x.to_bytes(4, "little") for x in states) + b"".join(
            word.to_bytes(2, "little") for word in reversed(words)
        )


def encode(bwt: bytes) -> bytes:
    lanes = cut(bwt, by_decisions=True)
    lists = [first_list(lane) for lane in lanes]
    there = [
        Lane(symbols, len(lane), runs_of(lane)) if len(symbols) > 1 else None
        for lane, symbols in zip(lanes, lists, strict=True)
    ]
    coding = Coding(there, max(len(symbols) for symbols in lists), [])
    out = heads(lanes)
    while coding.alive():
        coding.segment()
        out += coding.written()
    return out


def decode(data: bytes, n: int) -> bytes:
    lengths, lists, at = read_heads(data, n)
    there = [
        Lane(symbols, length, None) if len(symbols) > 1 else None
        for length, symbols in zip(lengths, lists, strict=True)
    ]
    if (len(data) - at) % 2:
        raise Wrong("half a word")
    words = [int.from_bytes(data[i : i + 2], "little") for i in range(at, len(data), 2)]
    coding = Coding(there, max(len(symbols) for symbols in lists), words)
    while coding.alive():
        read_states(coding, there)
        coding.segment()
        if any(lane is not None and lane.x != LOWEST for lane in there):
            raise Wrong("states")
    if words:
        raise Wrong("words are left")
    return b"".join(
        lane.out if lane is not None else bytes(symbols) * length
        for lane, symbols, length in zip(there, lists, lengths, strict=True)
    )


def read_states(coding: Coding, there: list[Lane | None]) -> None:
    for lane in there:
        if len(coding.words) < 2:
            raise Wrong("states are missing")
        x = coding.words.pop(0) + (coding.words.pop(0) << 16)
        if x < LOWEST or (lane is None and x != LOWEST):
            raise Wrong("a state")
        if lane is not None:
            lane.x = x
