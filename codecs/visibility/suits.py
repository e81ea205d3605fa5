"""What the visibility codec answers of itself: it is for complex samples, and for what is real
where a user says so or a sample gets shorter; and it knows the arrays that go with visibilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.suits import (
    Answers,
    ArrayFacts,
    Extents,
    Grade,
    Option,
    Picture,
    Refusal,
)

if TYPE_CHECKING:
    from gangsaw.codecs.core.arrays import NumpyArray

# of real floats, how much shorter a sample has to get than by any plain codec of Zarr's, which
# every reader has; arrays below so many bytes, as coordinates, are not tried
GAIN, LEAST_BYTES = 0.95, 1 << 16
CUBE = 3  # axes from which on any floats are tried; with fewer those that may be integers
# of visibilities: as many times as a block has, and channels and baselines in equal shares
TIMES, CHANNELS, ROWS = 256, 256, 16


class _Answers(Answers):
    options = (Option("effort", "fast or dense.", "dense"),)

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        from gangsaw.codecs.visibility.params import component_count

        try:
            component_count(array.dtype)
        except BadParams:
            takes = (
                "codes float16, 32 and 64 and complex64 and 128: store others with another codec"
            )
            return Refusal(f"holds {array.dtype.name} samples", takes)
        return None

    def suits(self, array: ArrayFacts) -> Grade:
        if array.dtype.kind != "c":
            return Grade.PROVEN if _gains(array) else Grade.ON_REQUEST
        return Grade.MADE_FOR if _is_interferometric(array.dims) else Grade.GENERAL

    def is_aside(self, array: ArrayFacts) -> bool:
        """Real floats are taken for data only where nothing is complex: weights are no signal."""
        has_complex = any(other.dtype.kind == "c" for other in (array, *array.others))
        return array.dtype.kind != "c" and (array.dtype.kind != "f" or has_complex)

    def companion(self, array: ArrayFacts) -> Mapping[str, object] | None:
        """Return Zstandard after a shuffle: of bits for flags, of which a byte holds one."""
        if not _is_interferometric(array.dims):
            return None
        size = array.dtype.itemsize
        shuffle = "bitshuffle" if size == 1 else "shuffle"
        settings = {"typesize": size, "cname": "zstd", "clevel": 5, "shuffle": shuffle}
        return {"name": "blosc", "configuration": {**settings, "blocksize": 0}}

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        if array.dtype.kind != "c" and not _is_interferometric(array.dims):
            return None
        pairs = zip(array.dims, array.shape, strict=True)
        return {i: _tile(dim.lower(), extent) for i, (dim, extent) in enumerate(pairs)}

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, object]:
        return {"axes": _axes(array)}

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        first = {"axes"} if params["predictor"] != usual["predictor"] else {"effort", "axes"}
        return {k: v for k, v in params.items() if k in first or usual[k] != v}

    def picture(self, params: Mapping[str, object], dims: tuple[str, ...]) -> Picture:
        """Return that of the blocks over time and frequency, where the axes are known."""
        letters = str(params["axes"])
        if {"t", "f"} <= set(letters) and len(letters) == len(dims):
            return Picture((letters.index("t"), letters.index("f")))
        return super().picture(params, dims)


ANSWERS = _Answers()


def _is_interferometric(dims: Iterable[str]) -> bool:
    from gangsaw.codecs.visibility.axes import is_interferometric

    return is_interferometric(dims)


def _axes(array: ArrayFacts) -> str:
    """Return letters by the names of axes; in cubes of other real floats those of the last two.

    Predictions go along these alone, the best ones along the last.
    """
    from gangsaw.codecs.visibility.axes import visibility_axes

    rank = len(array.shape)
    is_plain = array.dtype.kind == "f" and not _is_interferometric(array.dims)
    return "b" * (rank - 2) + "ft" if is_plain and rank >= CUBE else visibility_axes(array.dims)


def _gains(array: ArrayFacts) -> bool:
    """Whether a sample of real floats gets shorter than by what any reader has."""
    if array.dtype.kind != "f" or array.sample is None or array.general_bytes is None:
        return False
    if _is_interferometric(array.dims):  # weights and the like: see `companion`
        return False
    if math.prod(array.shape) * array.dtype.itemsize < LEAST_BYTES:
        return False
    sample = array.sample()
    if not _may_gain(sample):
        return False
    from gangsaw.codecs.visibility.codec import Visibility

    codec = Visibility(axes=_axes(array))
    return len(codec.encode_chunk(sample)) <= GAIN * array.general_bytes()


def _may_gain(sample: NumpyArray) -> bool:
    """Whether a trial is worth its time: kernels are compiled for it."""
    from gangsaw.codecs.visibility.integers.sample import sampled_words, signs_of

    return sample.ndim >= CUBE or signs_of(sampled_words(sample)).any


def _tile(dim: str, extent: int) -> int:
    from gangsaw.codecs.visibility.axes import FREQUENCIES, SHORT

    if dim in SHORT:
        return max(1, extent)
    return TIMES if dim == "time" else CHANNELS if dim in FREQUENCIES else ROWS
