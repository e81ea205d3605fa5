"""Blocks for the tests of the kind "dense", and a round trip that holds it to the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from reference import visibility as reference
from reference import visibility_dense, visibility_dense_encoder, visibility_fast

from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.samples import fringes, near_grid, patterns, specials


def integers(shape: tuple[int, ...], dtype: str) -> Any:
    """Whole multiples of one number, zeros of both signs among them."""
    rng = np.random.default_rng(len(shape))
    values = rng.integers(-900, 901, shape) * rng.choice([0.125, 0.0, -0.0], shape)
    return values.astype(dtype)


def ramp(shape: tuple[int, ...], dtype: str) -> Any:
    """Smooth in all axes."""
    place = sum(i * n for i, n in zip(np.indices(shape), (31, 5, 1, 1), strict=False))
    return (1 + place / 4096).astype(dtype)


def noise(shape: tuple[int, ...], dtype: str) -> Any:
    """Gaussian noise, another level in every series."""
    rng = np.random.default_rng(3)
    return (rng.normal(size=shape) * np.exp2(np.arange(shape[-1]) % 20 - 10)).astype(dtype)


def wild(shape: tuple[int, ...], dtype: str) -> Any:
    """Numbers of all sizes that the type has: octaves that no symbol tells."""
    rng = np.random.default_rng(4)
    reach = {2: 12, 4: 120, 8: 1000}[np.dtype(dtype).itemsize // (2 if dtype[0] == "c" else 1)]
    return np.ldexp(rng.normal(size=shape), rng.integers(-reach, reach, shape)).astype(dtype)


def denormals(shape: tuple[int, ...], dtype: str) -> Any:
    kind = np.dtype(dtype)
    bits = np.random.default_rng(5).integers(-300, 300, shape)
    return (bits * float(np.finfo(kind).smallest_subnormal)).astype(kind)


def constant(shape: tuple[int, ...], dtype: str) -> Any:
    return np.full(shape, 1.7, dtype)


def negative_zeros(shape: tuple[int, ...], dtype: str) -> Any:
    return np.full(shape, -0.0, dtype)


PLAIN = [
    fringes, patterns, specials, integers, ramp, noise, wild, denormals, constant, negative_zeros,
    near_grid,
]  # fmt: skip


def mixed(shape: tuple[int, ...], dtype: str) -> Any:
    """Series of all kinds side by side, and some with all kinds one after the other."""
    parts = [make(shape, dtype) for make in PLAIN]
    places = np.arange(int(np.prod(shape))).reshape(shape)
    last = np.arange(shape[-1])
    choice = np.where(last % 3 == 0, places // 7, last) % len(parts)
    out = np.empty(shape, dtype)  # not np.choose: bits of NaNs are to stay
    for i, part in enumerate(parts):
        out[choice == i] = part[choice == i]
    return out


MAKERS = [*PLAIN, mixed]


def as_block(words: Any) -> Any:
    """Floats (time, frequency, rest, component) of words (component, rest, frequency, time)."""
    return words.transpose(3, 2, 1, 0).copy().view(f"f{words.itemsize}")


def extents_of(block: Any) -> visibility_dense.Extents:
    _, extents, width = reference.to_words(block)
    return reference.dense_extents(extents, width)


def round_trip(block: Any) -> visibility_dense.Head:
    """Return what the encoder chose, having compared its payload with the reference both ways."""
    data = dense.encode_dense(block)
    words, extents, width = reference.to_words(block)
    assert reference.decode(data.tobytes(), extents, width) == words
    head, _ = visibility_dense.read_head(data.tobytes(), extents_of(block))
    table = visibility_fast.Lanes(extents).table(words)
    again = visibility_dense_encoder.encode(table, extents_of(block), head)
    assert again == data.tobytes()
    out = np.ones_like(block)
    dense.decode_dense(data, out)
    assert out.tobytes() == block.tobytes()
    return head
