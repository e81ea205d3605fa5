"""The codec gangsaw.scaled in slow plain Python, from its SPEC.md."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from reference import ccsds123, visibility
from reference.strings import crc32c

PLAIN, FLOATS, SCALED, CONSTANT = range(4)


def recode_block(
    data: bytes, parameters: dict[str, Any], shape: Sequence[int], dtype: Any
) -> tuple[Any, bytes]:
    """Decode one block of a store, and encode it again: the suite over every codec asks."""
    kind, width = data[0], dtype.itemsize
    n = int(np.prod(shape))
    if kind == PLAIN:
        words, tail = words_of(data[1:], width), b""
    elif kind == CONSTANT:
        words, tail = words_of(data[1:], width) * n, b""
    elif kind == FLOATS:
        payload = only_block(data[1:])
        of_floats = parameters["floats"]["configuration"]
        view = visibility_view(shape)
        found, again = visibility.recode_block(payload, of_floats, view, dtype.newbyteorder("<"))
        words, tail = words_of(np.asarray(found).tobytes(), width), framed(again)
    else:
        words, tail = scaled_words(data, parameters, shape, width)
    floats = np.array(words, f"<u{width}").view(f"<f{width}").astype(dtype)
    return floats.reshape(shape), encode(words, parameters, shape, width, kind, tail)


def visibility_view(shape: Sequence[int]) -> tuple[int, ...]:
    """Its blocks of three axes, where no axis has a name: (time, frequency, rest)."""
    return tuple(shape)


def encode(
    words: list[int],
    parameters: dict[str, Any],
    shape: Sequence[int],
    width: int,
    kind: int,
    tail: bytes,
) -> bytes:
    if all(word == words[0] for word in words):
        return bytes([CONSTANT]) + words[0].to_bytes(width, "little")
    integers, apart, n_masks, n_others = integers_of(words, parameters, shape, width)
    is_scaled = n_others * 16 <= len(words)
    raw = b"".join(word.to_bytes(width, "little") for word in words)
    if kind == SCALED:
        assert is_scaled
        values, again = recoded(tail, parameters, shape)
        assert values == integers
        return struct.pack("<BBI", SCALED, n_masks, len(apart)) + apart + again
    if kind == FLOATS:
        return bytes([FLOATS]) + tail
    assert kind == PLAIN
    return bytes([PLAIN]) + raw


def scaled_words(
    data: bytes, parameters: dict[str, Any], shape: Sequence[int], width: int
) -> tuple[list[int], bytes]:
    _, n_masks, size = struct.unpack("<BBI", data[:6])
    apart, inner = data[6 : 6 + size], data[6 + size :]
    integers, _ = recoded(inner, parameters, shape)
    words = [word_of(float_of(k, parameters, width), width) for k in integers]
    if not size:
        assert n_masks == 0
        return words, inner
    at, plane = 0, len(words) // shape[0]
    for _ in range(n_masks):
        value = int.from_bytes(apart[at : at + width], "little")
        at, mask = read_mask(apart, at + width, len(words), plane)
        words = [value if there else word for word, there in zip(words, mask, strict=True)]
    count, at = read_number(apart, at)
    places, before = [], -1
    for _ in range(count):
        gap, at = read_number(apart, at)
        before += gap + 1
        places.append(before)
    for place, value in zip(places, words_of(apart[at:], width), strict=True):
        words[place] = value
    return words, inner


def recoded(inner: bytes, parameters: dict[str, Any], shape: Any) -> tuple[list[int], bytes]:
    samples, again = ccsds123.recode_block(
        inner, parameters["inner"]["configuration"], shape, np.dtype(parameters["integers"])
    )
    return [value for band in samples for value in band], again


def integers_of(
    words: list[int], parameters: dict[str, Any], shape: Sequence[int], width: int
) -> tuple[list[int], bytes, int, int]:
    """Return the integers, what stands apart, how many masks, and how many others."""
    floats = np.array(words, f"<u{width}").view(f"<f{width}")
    found = [
        integer_of(float(x), word, parameters, width) for x, word in zip(floats, words, strict=True)
    ]
    wrong = [i for i, k in enumerate(found) if k is None]
    masks: list[tuple[int, set[int]]] = []
    while len(masks) < 3 and len(wrong) >= 8:
        value = majority([words[i] for i in wrong])
        own = {i for i in wrong if words[i] == value}
        if len(own) < 8 or 2 * len(own) <= len(wrong):
            break
        masks.append((value, own))
        wrong = [i for i in wrong if i not in own]
    integers, last = [], 0
    for k in found:
        last = last if k is None else k
        integers.append(last)
    if not masks and not wrong:
        return integers, b"", 0, 0
    plane, apart = len(words) // shape[0], b""
    for value, own in masks:
        apart += value.to_bytes(width, "little")
        apart += b"".join(map(number, runs_of([i in own for i in range(len(words))], plane)))
    apart += number(len(wrong))
    gaps = (b - a - 1 for a, b in zip([-1, *wrong], wrong, strict=False))
    apart += b"".join(map(number, gaps))
    apart += b"".join(words[i].to_bytes(width, "little") for i in wrong)
    return integers, apart, len(masks), len(wrong)


def integer_of(x: float, word: int, parameters: dict[str, Any], width: int) -> int | None:
    kind = np.float64 if parameters["precision"] == "double" else np.dtype(f"f{width}").type
    scale, offset = float(kind(parameters["scale"])), float(kind(parameters["offset"]))
    factor = 1 / scale if parameters["form"] == "product" else scale
    if not np.isfinite(x):
        return None
    k = round((x - offset) * factor) if abs((x - offset) * factor) < 1e15 else 1 << 60
    info = np.iinfo(parameters["integers"])
    if not info.min <= k <= info.max:
        return None
    return k if word_of(float_of(k, parameters, width), width) == word else None


def float_of(k: int, parameters: dict[str, Any], width: int) -> Any:
    own = np.dtype(f"f{width}").type
    kind = np.float64 if parameters["precision"] == "double" else own
    scale, offset = kind(parameters["scale"]), kind(parameters["offset"])
    with np.errstate(over="ignore"):
        product = kind(k) * scale if parameters["form"] == "product" else kind(k) / scale
        return own(product + offset)


def word_of(x: Any, width: int) -> int:
    return int(np.array(x, f"<f{width}").view(f"<u{width}"))


def majority(values: list[int]) -> int:
    """Boyer and Moore: the one that more than half are, if there is one."""
    value, lead = values[0], 0
    for one in values:
        if lead == 0:
            value = one
        lead += 1 if one == value else -1
    return value


def runs_of(mask: list[bool], plane: int) -> Iterator[int]:
    """Runs of items that are as in the plane before, and that are not, by turns."""
    changed = [m != (i >= plane and mask[i - plane]) for i, m in enumerate(mask)]
    run, was = 0, False
    for one in changed:
        if one != was:
            yield run
            run, was = 0, one
        run += 1
    yield run


def read_mask(data: bytes, at: int, n: int, plane: int) -> tuple[int, list[bool]]:
    mask: list[bool] = []
    bit = False
    while len(mask) < n:
        run, at = read_number(data, at)
        mask += [bit] * run
        bit = not bit
    assert len(mask) == n
    for i in range(plane, n):
        mask[i] ^= mask[i - plane]
    return at, mask


def number(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def read_number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def words_of(data: bytes, width: int) -> list[int]:
    assert len(data) % width == 0
    return [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]


def only_block(frame: bytes) -> bytes:
    """Return the payload of a frame of one block of the codec of floats, which has no lanes."""
    assert frame == framed(frame[36:])
    return frame[36:]


def framed(payload: bytes) -> bytes:
    index = struct.pack("<II", len(payload), crc32c(payload))
    prelude = struct.pack("<4sBBHI", b"GSAW", 1, 1, 2, 1)
    prelude += struct.pack("<I", crc32c(prelude)) + struct.pack("<II", 0, 0)
    return prelude + struct.pack("<I", crc32c(prelude + index)) + index + payload
