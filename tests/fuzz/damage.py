"""Seeded damage to bytes: what flipped disks, broken transfers and hostile hands do."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Octets: TypeAlias = npt.NDArray[np.uint8]
Rng: TypeAlias = np.random.Generator

# where comparisons, signs and sizes go wrong
EDGES = [0, 1, -1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
EDGES += [1 << 33, (1 << 63) - 1, -(1 << 63)]
NUMBERS = [
    b"0",
    b"-1",
    b"1e400",
    b"nan",
    b"99999999999999999999",
    b"4294967296",
    b"",
    b"2147483647",
]
HEAD = 64  # bytes at the front, which say how to read all the others


def damaged(data: Octets, rng: Rng) -> Octets:
    """Return a changed copy: one kind of damage, seldom two."""
    for _ in range(1 if rng.random() < 0.8 else 2):
        data = KINDS[rng.integers(len(KINDS))](data, rng)
    return data


def _place(data: Octets, rng: Rng) -> int:
    """Anywhere, half of the time in the head."""
    reach = min(HEAD, data.size) if rng.random() < 0.5 else data.size
    return int(rng.integers(reach)) if reach else 0


def _flip(data: Octets, rng: Rng) -> Octets:
    out = data.copy()
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        if out.size:
            out[_place(out, rng)] ^= 1 << rng.integers(8)
    return out


def _overwrite(data: Octets, rng: Rng) -> Octets:
    """A number at an edge of its type, of any width and byte order."""
    out, width = data.copy(), int(rng.choice([1, 2, 4, 8]))
    value = (int(rng.choice(EDGES)) & ((1 << 8 * width) - 1)).to_bytes(
        width, "little" if rng.random() < 0.5 else "big"
    )
    at = _place(out, rng)
    out[at : at + width] = np.frombuffer(value, np.uint8)[: out.size - at]
    return out


def _noise(data: Octets, rng: Rng) -> Octets:
    out, at = data.copy(), _place(data, rng)
    part = out[at : at + int(rng.integers(1, 40))]
    part[:] = rng.integers(0, 256, part.size)
    return out


def _fill(data: Octets, rng: Rng) -> Octets:
    out, at = data.copy(), _place(data, rng)
    out[at : at + int(rng.integers(1, 200))] = rng.choice([0, 255])
    return out


def _cut(data: Octets, rng: Rng) -> Octets:
    return data[: int(rng.integers(0, data.size + 1))].copy()


def _remove(data: Octets, rng: Rng) -> Octets:
    at = _place(data, rng)
    return np.concatenate([data[:at], data[at + int(rng.integers(1, 20)) :]])


def _insert(data: Octets, rng: Rng) -> Octets:
    at = _place(data, rng)
    more = rng.integers(0, 256, int(rng.integers(1, 20))).astype(np.uint8)
    return np.concatenate([data[:at], more, data[at:]])


def _repeat(data: Octets, rng: Rng) -> Octets:
    begin, at = _place(data, rng), _place(data, rng)
    return np.concatenate([data[:at], data[begin : begin + int(rng.integers(1, 60))], data[at:]])


KINDS = (_flip, _flip, _overwrite, _overwrite, _noise, _fill, _cut, _remove, _insert, _repeat)


def damaged_text(data: Octets, rng: Rng) -> Octets:
    """The same for text: mostly a number becomes another one, or a line is gone or twice there."""
    what = rng.integers(4)
    if what == 0:
        return damaged(data, rng)
    if what == 1:
        return _another_number(data, rng)
    lines = data.tobytes().split(b"\n")
    at = int(rng.integers(len(lines)))
    lines[at : at + 1] = [] if what == 2 else [lines[at]] * 2
    return np.frombuffer(b"\n".join(lines), np.uint8)


def _another_number(data: Octets, rng: Rng) -> Octets:
    is_digit = (data >= ord("0")) & (data <= ord("9"))
    begins = np.flatnonzero(is_digit & ~np.append(False, is_digit[:-1]))
    if not begins.size:
        return damaged(data, rng)
    begin = int(begins[rng.integers(begins.size)])
    end = begin + int(np.append(np.flatnonzero(~is_digit[begin:]), data.size - begin)[0])
    value = NUMBERS[rng.integers(len(NUMBERS))]
    return np.concatenate([data[:begin], np.frombuffer(value, np.uint8), data[end:]])


def damaged_json(value: object, rng: Rng) -> object:
    """Return a JSON value of which one member, at any depth, is something else or is gone."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = list(value)[rng.integers(len(value))]
        if rng.random() < 0.1:
            return {name: own for name, own in value.items() if name != key}
        return {**value, key: damaged_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = int(rng.integers(len(value)))
        return [*value[:at], damaged_json(value[at], rng), *value[at + 1 :]]
    return OTHERS[rng.integers(len(OTHERS))]


OTHERS: list[object] = [
    None,
    True,
    0,
    1,
    -1,
    7,
    1 << 31,
    1 << 40,
    1 << 64,
    0.5,
    1e400,
    "",
    "x",
    "é",
]
OTHERS += ["uint16", "9" * 400, [], [[]], [0], [-1], [1 << 40], ["x"], {}, {"name": "x"}]
OTHERS += [{"name": "bytes", "configuration": 3}, [1, "2", None]]
