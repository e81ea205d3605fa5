"""Words of blocks for the tests of the visibility codec: any bits, and such that compress."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.params import PACKINGS, PREDICTORS, RESIDUALS, Params

DTYPES = ("f2", "f4", "f8", "c8", "c16")
Words = npt.NDArray[Any]


def empty_table(block: npt.NDArray[Any]) -> Words:
    """Return an uninitialised table of lanes for a block, in the machine's byte order."""
    lanes = Lanes.of_block(block)
    return np.empty(lanes.shape, f"u{block.itemsize // lanes.n_components}")


def slow_words(block: npt.NDArray[Any]) -> Words:
    """(component, rest, frequency, time) of a block (time, frequency, ...), in plain NumPy."""
    plain = np.ascontiguousarray(block.astype(block.dtype.newbyteorder("=")))
    components = 2 if block.dtype.kind == "c" else 1
    n_times, n_frequencies, *_ = block.shape
    words = plain.view(f"u{plain.itemsize // components}")
    return np.ascontiguousarray(
        words.reshape(n_times, n_frequencies, -1, components).transpose(3, 2, 1, 0)
    )


def random_words(rng: np.random.Generator, shape: tuple[int, ...], bits: int) -> Words:
    """Words whose neighbours are sometimes alike, with as many low bits as any word draws."""
    steps = rng.integers(0, 1 << 62, shape, np.uint64)
    lengths = rng.choice(np.arange(1, 63, dtype=np.uint64), shape)
    words = np.cumsum(steps >> lengths, axis=-1, dtype=np.uint64)
    top = rng.integers(0, 4, shape, np.uint64) << np.uint64(bits - 2)
    return np.where(rng.random(shape) < 0.5, words, words ^ top).astype(f"u{bits // 8}")


def constructions() -> list[Params]:
    return [
        Params(predictor=predictor, residual=residual, packing=packing, window=3)
        for predictor in PREDICTORS
        for residual in RESIDUALS
        for packing in PACKINGS
    ]


def name(params: Params) -> str:
    return f"{params.predictor}-{params.residual}-{params.packing}"


@st.composite
def any_words(draw: st.DrawFn) -> Words:
    """A few words of any bits; extents of 1 are likely, and so are words that are alike."""
    bits = draw(st.sampled_from([16, 32, 64]))
    shape = draw(st.tuples(*[st.integers(1, n) for n in (2, 3, 4, 7)]))
    words = st.integers(0, (1 << bits) - 1) | st.sampled_from([0, 1, (1 << bits) - 1, 1 << 15])
    pool = draw(st.lists(words, min_size=1, max_size=6))
    size = int(np.prod(shape))
    chosen = draw(st.lists(st.sampled_from(pool) | words, min_size=size, max_size=size))
    return np.array(chosen, f"u{bits // 8}").reshape(shape)


def block_of(words: Any) -> Any:
    """The block (time, frequency, rest) of floats, with components as numbers, of such words."""
    components, rest, n_frequencies, n_times = words.shape
    flat = words.reshape(components * rest, n_frequencies, n_times)
    return np.ascontiguousarray(flat.transpose(2, 1, 0)).view(f"f{words.itemsize}")
