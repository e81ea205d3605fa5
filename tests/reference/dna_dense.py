"""Mode dense of gangsaw.dna in slow plain Python, from codecs/dna/SPEC.md, Dense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import log2
from typing import NamedTuple

LOG = [-2816, *(round(256 * log2(i / 1024)) for i in range(1, 4096))]
POWER = [round(65535 * 2 ** (-i / 256)) for i in range(3072)]
WORDS = 1 << 32


@cache
def count(c: int) -> int:
    return round(256 * log2(c))


def lanes_of(n: int) -> int:
    return max([k for k in (2, 4, 8, 16, 32, 64) if n >= k * 8192], default=1)


class Match(NamedTuple):
    """What a lane follows."""

    lane: int
    step: int
    way: int
    length: int
    misses: tuple[int, ...]  # of the last 16 bases, the latest first


class Found(NamedTuple):
    """What one lane found in part 1 of a step."""

    rows: list[tuple[list[int], list[int]]]  # rows and what they held
    direct: int
    hashed: int
    x: list[list[int]]
    classes: list[int]
    state: int | None
    predicted: int
    f: list[int]


def row_change(p: list[int], y: int, rate: int) -> list[int]:
    return [(65535 - p[s]) >> rate if s == y else -(p[s] >> rate) for s in range(4)]


def more_direct(counts: Sequence[int], y: int) -> tuple[int, ...]:
    halved = [c // 2 for c in counts] if counts[y] == 15 else counts
    return tuple(c + (s == y) for s, c in enumerate(halved))


def more_hashed(slot: tuple[int, ...], check: int, y: int) -> tuple[int, ...]:
    *counts, old = slot
    if old == check:
        return (*(min(3, c + 1) if s == y else min(2, c) for s, c in enumerate(counts)), check)
    if sum(counts) > 2:
        return (*(c // 2 for c in counts), old)
    return (*(int(s == y) for s in range(4)), check)


class Block:
    """All that is learned, and where each lane is.

    In a block of old, form 3, lanes look for matches behind what they entered for the same step.
    """

    def __init__(self, n: int, k: int, is_old: bool = False) -> None:
        self.is_old, self.known = is_old, dict[int, int]()
        b, self.n, self.k, self.steps = n.bit_length(), n, k, -(-n // k)
        self.d, self.s, self.m = min(11, b // 2 + 1), min(22, b + 1), min(20, b + 1)
        self.q = self.steps.bit_length()
        self.g = self.q + k.bit_length() - 1
        self.rows = [[[16384] * 4 for _ in range(size)] for size in (64, 4096)]
        self.direct: dict[int, tuple[int, ...]] = {}
        self.hashed: dict[int, tuple[int, ...]] = {}
        self.entries: dict[int, int] = {}
        self.hits = [49152] * 544
        self.first = [[367002] * 16 for _ in range(5)]
        self.second = [[0] * 16 for _ in range(5)]
        self.last, self.turned, self.before = [0] * k, [WORDS - 1] * k, [0] * k
        self.matches: list[Match | None] = [None] * k
        self.bases: list[list[int]] = [[] for _ in range(k)]

    def active(self, t: int) -> range:
        return range(sum(lane * self.steps + t < self.n for lane in range(self.k)))

    def slot_of(self, word: int) -> tuple[int, int]:
        """Number and check of the hashed counts behind 16 bases."""
        key = word * 0x9E3779B1 % WORDS
        return key >> 32 - self.s, (key >> 24 - self.s) & 255

    def entry_of(self, word: int) -> tuple[int, int]:
        key = word * 0x9E3779B1 % WORDS
        return key >> 32 - self.m, key % (1 << 32 - self.g)

    def place(self, word: int) -> tuple[int, int] | None:
        """Lane and step of the entry of 16 bases."""
        number, check = self.entry_of(word)
        entry = (self.entries if self.is_old else self.known).get(number, 0)
        if not entry or entry >> self.g != check:
            return None
        place = entry % (1 << self.g)
        return place >> self.q, place % (1 << self.q)

    def find_match(self, lane: int, t: int) -> Match | None:
        own = self.bases[lane][::-1][:32]
        place = self.place(self.last[lane])
        if place and place[1] < t:
            others = self.bases[place[0]][: place[1]][::-1]
            length = equal(own, others)
            if length >= 16:
                return Match(*place, 1, length, ())
        place = self.place(self.turned[lane])
        if place and place[1] > 16:
            u = place[1] - 16
            length = equal(own, [3 - base for base in self.bases[place[0]][u:t]])
            if length >= 16:
                return Match(place[0], u - 1, -1, length, ())
        return None

    def find(self, lane: int, t: int) -> Found:
        last = self.last[lane]
        rows = [self.rows[0][last % 64], self.rows[1][last % 4096]]
        x, classes = [[LOG[p >> 4] for p in row] for row in rows], [0, 0]
        direct = last % 4**self.d
        counts = self.direct.get(direct, (0,) * 4)
        x.append([count(2 * c + 1) for c in counts])
        total = sum(counts)
        classes.append(total if total < 8 else 8 + sum(total >= edge for edge in (12, 16, 24)))
        hashed, check = self.slot_of(last)
        *few, old = self.hashed.get(hashed, (0,) * 5)
        few = few if old == check else [0] * 4
        x.append([count(16 * c + 1) for c in few])
        total, most = sum(few), max(few)
        classes.append(total if total == most else 8 + min(7, 2 * (total - most) + (most > 2)))
        state, predicted = self.match_logs(lane, t, x, classes)
        held = [(row, list(row)) for row in rows]
        f = self.mixed(x, classes)
        return Found(held, direct, hashed, x, classes, state, predicted, f)

    def match_logs(
        self, lane: int, t: int, x: list[list[int]], classes: list[int]
    ) -> tuple[int | None, int]:
        x.append([0] * 4)
        if self.matches[lane] is None and t >= 16:
            self.matches[lane] = self.find_match(lane, t)
        match = self.matches[lane]
        if match is None:
            classes.append(0)
            return None, 0
        base = self.bases[match.lane][match.step]
        z = base if match.way > 0 else 3 - base
        c = sum(edge <= match.length for edge in (16, 20, 24, 32, 48, 96, 256))
        w, v = sum(match.misses), int(any(match.misses[:8]))
        state = ((17 * c + w) * 2 + v) * 2 + (match.way > 0)
        p = self.hits[state]
        x[4][z] = LOG[p >> 4] - LOG[(65536 - p) // 3 >> 4]
        classes.append(1 + min(7, w) + ((8 if w < 7 else 7) if c >= 4 else 0))
        return state, z

    def mixed(self, x: list[list[int]], classes: list[int]) -> list[int]:
        w = [(self.first[m][classes[m]] + self.second[m][classes[3]]) >> 6 for m in range(5)]
        d = [sum(w[m] * x[m][s] for m in range(5)) >> 14 for s in range(4)]
        e = [POWER[min(3071, max(d) - one)] for one in d]
        r = (65472 << 14) // sum(e)
        f = [(one * r >> 14) + 16 for one in e]
        f[f.index(max(f))] += 65536 - sum(f)
        return f

    def learn(self, found: list[Found], came: list[int], t: int) -> None:
        """Parts 3 to 5 of a step."""
        rate = 256 + 256 * (20480 // (1024 + t * self.k))
        hits = list(self.hits)
        for lane, (one, y) in enumerate(zip(found, came, strict=True)):
            for (row, held), shift in zip(one.rows, (9, 8), strict=True):
                row[:] = [a + b for a, b in zip(row, row_change(held, y, shift), strict=True)]
            self.learn_weights(one, y, rate)
            if one.state is not None:
                p = hits[one.state]
                is_hit = one.predicted == y
                self.hits[one.state] += (65535 - p) >> 6 if is_hit else -(p >> 6)
                self.matches[lane] = moved(self.matches[lane], is_hit)
        for table in (*self.first, *self.second):
            table[:] = [max(-(1 << 22), min(1 << 22, w)) for w in table]
        self.count(
            [
                (one.direct, one.hashed, self.slot_of(self.last[i])[1])
                for i, one in enumerate(found)
            ],
            [(y, y) for y in came],
        )
        for lane, y in enumerate(came):
            self.before[lane] = self.last[lane] >> 30
            self.last[lane] = (self.last[lane] * 4 + y) % WORDS
            self.turned[lane] = (self.turned[lane] >> 2) + ((3 - y) << 30)
            self.bases[lane].append(y)
        if t >= 16:
            self.learn_turned(len(came))
        if t >= 15:
            self.known = dict(self.entries)
            for lane in range(len(came)):
                number, check = self.entry_of(self.last[lane])
                self.entries[number] = check << self.g | lane << self.q | (t + 1)

    def learn_weights(self, one: Found, y: int, rate: int) -> None:
        error = [((65536 if s == y else 0) - one.f[s]) >> 4 for s in range(4)]
        for m in range(5):
            g = sum(error[s] * one.x[m][s] for s in range(4)) >> 10
            self.first[m][one.classes[m]] += g * rate >> 8
            self.second[m][one.classes[3]] += g * rate >> 8

    def count(self, places: list[tuple[int, int, int]], bases: list[tuple[int, int]]) -> None:
        """Learn counts: all from what there is, then stored in order."""
        new = [
            (
                more_direct(self.direct.get(direct, (0,) * 4), y),
                more_hashed(self.hashed.get(hashed, (0,) * 5), check, z),
            )
            for (direct, hashed, check), (y, z) in zip(places, bases, strict=True)
        ]
        for (direct, hashed, _), (many, few) in zip(places, new, strict=True):
            self.direct[direct], self.hashed[hashed] = many, few

    def learn_turned(self, n: int) -> None:
        for table, order, shift in ((self.rows[0], 3, 9), (self.rows[1], 6, 8)):
            rows = [table[self.turned[lane] >> 32 - 2 * order] for lane in range(n)]
            changes = [
                row_change(row, 3 - (self.last[lane] >> 2 * order) % 4, shift)
                for lane, row in enumerate(rows)
            ]
            for row, change in zip(rows, changes, strict=True):
                row[:] = [a + b for a, b in zip(row, change, strict=True)]
        self.count(
            [
                (self.turned[lane] >> 32 - 2 * self.d, *self.slot_of(self.turned[lane]))
                for lane in range(n)
            ],
            [(3 - (self.last[lane] >> 2 * self.d) % 4, 3 - self.before[lane]) for lane in range(n)],
        )


def equal(some: Sequence[int], others: Sequence[int]) -> int:
    """How many of the first 32 are equal."""
    n = 0
    for one, other in zip(some[:32], others, strict=False):
        if one != other:
            break
        n += 1
    return n


def moved(match: Match | None, is_hit: bool) -> Match | None:
    assert match is not None
    length = match.length // 2 if match.length > 32 else 0
    misses = (int(not is_hit), *match.misses[:15])
    step = match.step + match.way
    if step < 0 or sum(misses) > 8:
        return None
    longer = min(65535, match.length + 1)
    return Match(match.lane, step, match.way, longer if is_hit else length, misses)


def run(
    n: int, k: int, come: Callable[[int, int, list[int]], int], is_old: bool = False
) -> list[int]:
    """Go through a block; `come` tells the base of a lane and step, given its frequencies."""
    block = Block(n, k, is_old)
    for t in range(block.steps):
        found = [block.find(lane, t) for lane in block.active(t)]
        block.learn(found, [come(lane, t, one.f) for lane, one in enumerate(found)], t)
    return [base for lane in block.bases for base in lane]


def encoded(bases: Sequence[int], k: int, is_old: bool = False) -> list[bytes]:
    """The lanes of a block."""
    steps, noted = -(-len(bases) // k), [[] for _ in range(k)]  # type: ignore[var-annotated]

    def come(lane: int, t: int, f: list[int]) -> int:
        y = int(bases[lane * steps + t])
        noted[lane].append((sum(f[:y]), f[y]))
        return y

    run(len(bases), k, come, is_old)
    return [written(slots) for slots in noted]


def written(slots: list[tuple[int, int]]) -> bytes:
    x, words = 65536, []
    for first, f in reversed(slots):
        if x >= f << 16:
            words.append(x % 65536)
            x >>= 16
        x = (x // f << 16) + first + x % f
    return b"".join(word.to_bytes(2, "little") for word in (x >> 16, x % 65536, *words[::-1]))


def decoded(lanes: Sequence[bytes], n: int, is_old: bool = False) -> list[int]:
    """The bases of a block."""
    words = [
        [int.from_bytes(lane[i : i + 2], "little") for i in range(0, len(lane), 2)]
        for lane in lanes
    ]
    states = [some.pop(0) << 16 | some.pop(0) for some in words]

    def come(lane: int, _: int, f: list[int]) -> int:
        v = states[lane] % 65536
        y = next(s for s in range(4) if v < sum(f[: s + 1]))
        x = f[y] * (states[lane] >> 16) + v - sum(f[:y])
        states[lane] = x if x >= 65536 else x << 16 | words[lane].pop(0)
        return y

    bases = run(n, len(lanes), come, is_old)
    assert set(states) == {65536}
    assert not any(words)
    return bases
