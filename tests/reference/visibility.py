"""The codec gangsaw.visibility in slow plain Python, from its SPEC.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, comb, floor, log2
from typing import Any

import numpy as np

from reference import (
    visibility_dense,
    visibility_dense_encoder,
    visibility_fast,
    visibility_integers,
)

PREDICTORS = "none time frequency parallelogram lorenzo lagrange1 lagrange2 lagrange3 mean median"
RESIDUALS = "xor difference"
PACKINGS = "bits bytes"
RAW, CONSTRUCTION, NARROWED = 0, 1, 4

Place = tuple[int, int, int, int]  # component, rest, frequency, time


def recode_block(
    data: bytes, parameters: dict[str, Any], shape: Sequence[int], dtype: Any
) -> tuple[Any, bytes]:
    """Decode one block of a store, and encode it again: the suite over every codec asks.

    shape is that of the block's view, (time, frequency, ...); parameters is the configuration.
    """
    components = 2 if dtype.kind == "c" else 1
    width = 8 * dtype.itemsize // components
    rest = int(np.prod(shape[2:]))
    extents = (components, rest, shape[1], shape[0])
    words = decode(data, extents, width)
    again = encode_as(data, words, extents, width, parameters)
    return to_array(words, extents, width, shape, dtype), again


def to_array(words: list[int], extents: Place, width: int, shape: Any, dtype: Any) -> Any:
    """Put words where their bits belong in an array (time, frequency, ...)."""
    order = np.array(words, f"<u{width // 8}").reshape(extents).transpose(3, 2, 1, 0)
    return np.frombuffer(order.tobytes(), dtype.newbyteorder("<")).reshape(shape)


def to_words(array: Any) -> tuple[list[int], Place, int]:
    """Return the words of an array (time, frequency, ...), their extents and width."""
    components = 2 if array.dtype.kind == "c" else 1
    width = 8 * array.dtype.itemsize // components
    little = array.astype(array.dtype.newbyteorder("<")).tobytes()
    extents = (components, int(np.prod(array.shape[2:])), array.shape[1], array.shape[0])
    flat = np.frombuffer(little, f"<u{width // 8}").reshape(extents[::-1])
    return [int(word) for word in flat.transpose(3, 2, 1, 0).ravel()], extents, width


def encode(words: list[int], extents: Place, width: int, parameters: dict[str, Any]) -> bytes:
    """Return the payload of a block: the configuration's, or raw where that is shorter."""
    plain = bytes([RAW]) + b"".join(word.to_bytes(width // 8, "little") for word in words)
    if parameters["predictor"] != "auto":
        names = ("predictor", "residual", "packing", "window")
        coded = construct(words, extents, width, **{name: parameters[name] for name in names})
    elif parameters["effort"] == "fast":
        coded = visibility_fast.encode(words, extents, width)
    else:
        return plain  # what `dense` chooses is no part of its format
    return min(plain, coded, key=len)


def encode_as(
    data: bytes, words: list[int], extents: Place, width: int, parameters: dict[str, Any]
) -> bytes:
    """As `encode`; what is free to choose in a block of kind 3 is as a payload has it."""
    if data[0] == NARROWED:
        narrow = [narrowed(word) for word in words]
        plain = bytes([visibility_dense.KIND]) + data[1:]
        return data[:1] + encode_as(plain, narrow, extents, 32, parameters)[1:]
    if data[0] not in (visibility_dense.KIND, visibility_integers.KIND):
        return encode(words, extents, width, parameters)
    table = visibility_fast.Lanes(extents).table(words)
    strips = dense_extents(extents, width)
    if data[0] == visibility_integers.KIND:
        return visibility_integers.encode_as(data, table, strips)
    head, _ = visibility_dense.read_head(data, strips)
    return visibility_dense_encoder.encode(table, strips, head)


def narrowed(word: int) -> int:
    """Return the word of 32 bits that stands for that of a double."""
    sign, field, fraction = word >> 63, word >> 52 & 2047, word & (1 << 52) - 1
    exponent = {0: 0, 2047: 255}.get(field, field - 896)
    assert fraction % (1 << 29) == 0
    assert field in (0, 2047) or 0 < exponent < 255
    return sign << 31 | exponent << 23 | fraction >> 29


def widened(word: int) -> int:
    """Return the word of a double that one of 32 bits stands for."""
    exponent = word >> 23 & 255
    field = {0: 0, 255: 2047}.get(exponent, exponent + 896)
    return word >> 31 << 63 | field << 52 | (word & (1 << 23) - 1) << 29


def dense_extents(extents: Place, width: int) -> visibility_dense.Extents:
    """Return the extents of a block's table of lanes."""
    lanes = visibility_fast.Lanes(extents)
    components, rest, frequencies, times = extents
    segments = -(-(times if lanes.folds_time else frequencies) // lanes.piece)
    return visibility_dense.Extents(
        lanes.times, lanes.rows // lanes.times, segments * rest * components, width
    )


def decode(data: bytes, extents: Place, width: int) -> list[int]:
    """Return the words of a payload."""
    if data[0] == RAW:
        step = width // 8
        body = data[1:]
        return [int.from_bytes(body[i : i + step], "little") for i in range(0, len(body), step)]
    if data[0] == visibility_fast.KIND:
        return visibility_fast.decode(data, extents, width)
    if data[0] == visibility_dense.KIND:
        table = visibility_dense.decode(data, dense_extents(extents, width))
        return [table[row][lane] for row, lane in visibility_fast.Lanes(extents).places()]
    if data[0] == visibility_integers.KIND:
        table = visibility_integers.decode(data, dense_extents(extents, width))
        return [table[row][lane] for row, lane in visibility_fast.Lanes(extents).places()]
    if data[0] == NARROWED:
        assert width == 64
        plain = bytes([visibility_dense.KIND]) + data[1:]
        return [widened(word) for word in decode(plain, extents, 32)]
    assert data[0] == CONSTRUCTION
    predictor, window, residual, packing = data[1:5]
    residuals = unpack(data[5:], extents, width, PACKINGS.split()[packing])
    return restore(
        residuals,
        extents,
        width,
        PREDICTORS.split()[predictor],
        RESIDUALS.split()[residual],
        window,
    )


def construct(
    words: list[int],
    extents: Place,
    width: int,
    predictor: str,
    residual: str,
    packing: str,
    window: int,
) -> bytes:
    """Return a block of kind 1."""
    window = window if predictor in ("mean", "median") else 0
    known = dict(zip(places(extents), words, strict=True))
    residuals = [
        to_residual(known[place], predict(known, place, predictor, window, width), residual, width)
        for place in places(extents)
    ]
    codes = (
        PREDICTORS.split().index(predictor),
        window,
        RESIDUALS.split().index(residual),
        PACKINGS.split().index(packing),
    )
    return bytes([CONSTRUCTION, *codes]) + pack(residuals, width, packing)


def restore(
    residuals: list[int], extents: Place, width: int, predictor: str, residual: str, window: int
) -> list[int]:
    """Return the words of residuals."""
    known: dict[Place, int] = {}
    for place, value in zip(places(extents), residuals, strict=True):
        prediction = predict(known, place, predictor, window, width)
        known[place] = from_residual(value, prediction, residual, width)
    return list(known.values())


def places(extents: Place) -> Iterator[Place]:
    """All places in the order of the words."""
    c, r, f, t = (range(extent) for extent in extents)
    return product(c, r, f, t)


def predict(known: dict[Place, int], place: Place, predictor: str, window: int, width: int) -> int:
    """Return the prediction of the word at a place from words before it."""
    c, r, f, t = place

    def at(dr: int, df: int, dt: int) -> int:
        there = (r - dr, f - df, t - dt)
        return known[c, *there] if min(there) >= 0 else 0

    recent = [at(0, 0, dt) for dt in range(1, t + 1)]
    rules: dict[str, Callable[[], int]] = {
        "none": lambda: 0,
        "time": lambda: at(0, 0, 1),
        "frequency": lambda: at(0, 1, 0),
        "parallelogram": lambda: at(0, 0, 1) + at(0, 1, 0) - at(0, 1, 1),
        "lorenzo": lambda: (
            at(0, 0, 1)
            + at(0, 1, 0)
            + at(1, 0, 0)
            - at(0, 1, 1)
            - at(1, 0, 1)
            - at(1, 1, 0)
            + at(1, 1, 1)
        ),
        "lagrange1": lambda: extrapolate(recent[:2]),
        "lagrange2": lambda: extrapolate(recent[:3]),
        "lagrange3": lambda: extrapolate(recent[:4]),
        "mean": lambda: floor(Fraction(sum(recent[:window]), max(1, len(recent[:window])))),
        "median": lambda: lower_median(recent[:window]),
    }
    return rules[predictor]() % (1 << width)


def extrapolate(newest_first: list[int]) -> int:
    """Return the next value of the polynomial through n values."""
    n = len(newest_first)
    return sum((-1) ** i * comb(n, i + 1) * value for i, value in enumerate(newest_first))


def lower_median(values: list[int]) -> int:
    """Return the middle value, or the lower of the two; 0 of none."""
    return sorted(values)[(len(values) - 1) // 2] if values else 0


def to_residual(word: int, prediction: int, residual: str, width: int) -> int:
    if residual == "xor":
        return word ^ prediction
    delta = (word - prediction) % (1 << width)
    return 2 * delta if delta < 1 << (width - 1) else 2 * ((1 << width) - delta) - 1


def from_residual(value: int, prediction: int, residual: str, width: int) -> int:
    if residual == "xor":
        return value ^ prediction
    delta = value // 2 if value % 2 == 0 else -(value + 1) // 2
    return (prediction + delta) % (1 << width)


def pack(residuals: list[int], width: int, packing: str) -> bytes:
    """Counts of leading zero units, then what is left; each filled up to a byte."""
    unit = 1 if packing == "bits" else 8
    field = ceil(log2(width // unit + 1))
    counts = left = ""
    for value in residuals:
        zeros = (width - value.bit_length()) // unit
        counts += format(zeros, f"0{field}b")
        size = width - unit * zeros
        left += format(value, f"0{size}b") if size else ""
    return to_bytes(counts) + to_bytes(left)


def unpack(data: bytes, extents: Place, width: int, packing: str) -> list[int]:
    unit = 1 if packing == "bits" else 8
    field = ceil(log2(width // unit + 1))
    n = int(np.prod(extents))
    bits = "".join(format(octet, "08b") for octet in data)
    at = 8 * ceil(n * field / 8)
    residuals = []
    for i in range(n):
        size = width - unit * int(bits[field * i : field * (i + 1)], 2)
        residuals.append(int(bits[at : at + size] or "0", 2) if size else 0)
        at += size
    assert 8 * ceil(at / 8) == len(bits)
    return residuals


def to_bytes(bits: str) -> bytes:
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
