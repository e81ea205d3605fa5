"""Kind 5, "dense of integers", of gangsaw.visibility in slow plain Python, from its SPEC.md."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from math import floor
from typing import NamedTuple

import numpy as np

from reference import visibility_dense, visibility_dense_encoder
from reference.visibility_dense import LANES, PREDICTORS, Extents, Table

KIND = 5
BITS, QUOTIENT, PALETTE = range(3)
INSTEAD = {3: 1, 4: 1, 5: 4, 6: 5, 7: 2, 8: 7, 9: 8, 10: 1, 11: 2, 12: 1, 13: 3, 14: 3}


class Form(NamedTuple):
    """What precedes the values of a payload; `width` is that of integers, `of_word` of words."""

    kind: int
    width: int
    of_word: int
    base: int
    own: tuple[float, ...]  # shift; factor, divisor; words
    marked: list[int]
    apart: list[int]
    end: int

    def word(self, integer: int) -> int:
        """Return what an integer stands for."""
        number = integer + self.base
        if self.kind == PALETTE:
            values = (self.own * 1024)[:1024]
            return int(values[number % 1024])
        if self.kind == BITS:
            left = self.of_word - int(self.own[0])
            return order(number % (1 << left), left) << int(self.own[0])
        factor, divisor = self.own
        sizes = {32: ("<f", np.float32), 64: ("<d", np.float64)}
        letter, kind = sizes[self.of_word]
        total = np.float64(integer) + np.float64(self.base)
        with np.errstate(all="ignore"):
            value = kind(total * np.float64(factor) / np.float64(divisor))
        return int.from_bytes(struct.pack(letter, value), "little")


def order(word: int, width: int) -> int:
    sign = 1 << width - 1
    return word ^ (sign - 1) if word & sign else word


def read_form(data: bytes, width: int) -> Form:
    _, kind, n_marked, base, n_apart = struct.unpack("<BBBqI", data[:15])
    at, own = 15, ()
    if kind & 3 == BITS:
        own, at = (data[at],), at + 1
    elif kind & 3 == QUOTIENT:
        own, at = struct.unpack("<dd", data[at : at + 16]), at + 16
    counts = [n_marked, n_apart]
    if kind & 3 == PALETTE:
        counts, at = [struct.unpack("<H", data[at : at + 2])[0], *counts], at + 2
    lists = []
    for count in counts:
        end = at + count * width // 8
        lists.append([int(word) for word in np.frombuffer(data[at:end], f"<u{width // 8}")])
        at = end
    *values, marked, apart = lists
    own = tuple(values[0]) if values else own
    return Form(kind & 3, 64 if kind & 4 else 32, width, base, own, marked, apart, at)


def places(extents: Extents) -> Iterator[tuple[int, int, int]]:
    """Rows of the table, and their times and frequencies."""
    for row in range(extents.strips * extents.rows):
        frequency, time = divmod(row % extents.rows, extents.times)
        yield row, time, frequency


def available(code: int, time: int, frequency: int) -> int:
    while not all(back <= time and down <= frequency for _, back, down in PREDICTORS[code]):
        code = INSTEAD.get(code, 1 if time else 2 if frequency else 0)
    return code


def predict(
    table: Table, extents: Extents, code: int, place: tuple[int, int, int], lane: int
) -> int:
    row, time, frequency = place
    total = sum(
        int(2 * weight) * table[row - back - down * extents.times][lane]
        for weight, back, down in PREDICTORS[available(code, time, frequency)]
    )
    return signed(total, extents.width) >> 1


def signed(number: int, width: int) -> int:
    return (number + (1 << width - 1)) % (1 << width) - (1 << width - 1)


def decode(data: bytes, extents: Extents) -> Table:
    """Return the table (strips x rows, 32) of words of a payload."""
    form = read_form(data, extents.width)
    of_integers = extents._replace(width=form.width)
    plain = bytes([visibility_dense.KIND]) + data[form.end :]
    head, _ = visibility_dense.read_head(plain, of_integers)
    assert len(set(head.predictors)) == 1
    values = visibility_dense.decode(plain, of_integers, has_integers=True)
    integers = [[0] * LANES for _ in values]
    words = [[0] * LANES for _ in values]
    apart = iter(form.apart)
    for place in places(of_integers):
        row = place[0]
        for lane in range(min(LANES, extents.series - row // extents.rows * LANES)):
            value = signed(values[row][lane], form.width)
            if value < 0:
                number = value + (1 << form.width - 1)
                words[row][lane] = form.marked[number] if number < 2 else next(apart)
                integers[row][lane] = integers[row - 1][lane] if row else 0
                continue
            d = -(value + 1) // 2 if value % 2 else value // 2
            guess = predict(integers, of_integers, head.predictors[0], place, lane)
            integers[row][lane] = signed(guess + d, form.width)
            words[row][lane] = form.word(integers[row][lane])
    assert next(apart, None) is None
    return words


def encode_as(data: bytes, table: Table, extents: Extents) -> bytes:
    """Return the payload of words; what is free to choose is as in a payload of them.

    So is which integer stands for a word.
    """
    form = read_form(data, extents.width)
    of_integers = extents._replace(width=form.width)
    plain = bytes([visibility_dense.KIND]) + data[form.end :]
    head, _ = visibility_dense.read_head(plain, of_integers)
    values = [[0] * LANES for _ in table]
    integers = [[0] * LANES for _ in table]
    known = integers_of(form, data, extents)
    apart = []
    for place in places(of_integers):
        row = place[0]
        for lane in range(min(LANES, extents.series - row // extents.rows * LANES)):
            word = table[row][lane]
            if word in known:
                integers[row][lane] = known[word]
                guess = predict(integers, of_integers, head.predictors[0], place, lane)
                d = signed(known[word] - guess, form.width)
                values[row][lane] = 2 * d if d >= 0 else -2 * d - 1
                continue
            integers[row][lane] = integers[row - 1][lane] if row else 0
            least = 1 << form.width - 1
            is_marked = word in form.marked
            values[row][lane] = least + form.marked.index(word) if is_marked else 2 * least - 1
            apart += [] if is_marked else [word]
    assert apart == form.apart
    head = head._replace(has_integers=True)
    rest = visibility_dense_encoder.encode(values, of_integers, head)
    return data[: form.end] + rest[1:]


def integers_of(form: Form, data: bytes, extents: Extents) -> dict[int, int]:
    """Return the integer that stands for each word that is none of the odd ones."""
    if form.kind == PALETTE:
        return {int(word): number - form.base for number, word in enumerate(form.own)}
    odd, words = {*form.marked, *form.apart}, {w for row in decode(data, extents) for w in row}
    out = {}
    for word in words - odd:
        if form.kind == BITS:
            left, shift = form.of_word - int(form.own[0]), int(form.own[0])
            out[word] = signed(order(word >> shift, left), left) - form.base
        else:
            kind = np.float32 if form.of_word == 32 else np.float64
            value = np.array([word], f"u{form.of_word // 8}").view(kind)[0]
            nearest = floor(float(value) * (form.own[1] / form.own[0]) + 0.5)
            out[word] = nearest - form.base
        assert form.word(out[word]) == word
    return out
