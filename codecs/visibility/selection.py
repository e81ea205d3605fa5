"""Codec selection for visibilities: capabilities of the codec for an array.

The codec is for complex samples. It takes real ones if the user requests it or a sample gets
shorter. It also recognizes the arrays that accompany visibilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.selection import (
    ArrayFacts,
    Capabilities,
    Extents,
    Grade,
    Option,
    Picture,
    Refusal,
)

if TYPE_CHECKING:
    from gangsaw.codecs.core.arrays import NumpyArray

# Real floats: required size ratio to the best plain Zarr codec, which every reader has; least bytes
# of an array to try, which excludes coordinates.
GAIN, LEAST_BYTES = 0.95, 1 << 16
CUBE = 3  # axes from which any floats are tried; with fewer, only possible integers
# chunk extents of visibilities: the times of a block, and channels and baselines in equal shares
TIMES, CHANNELS, ROWS = 256, 256, 16


class _Capabilities(Capabilities):
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

    def grade(self, array: ArrayFacts) -> Grade:
        if array.dtype.kind != "c":
            return Grade.PROVEN if _gains(array) else Grade.ON_REQUEST
        return Grade.MADE_FOR if _is_interferometric(array.dims) else Grade.GENERAL

    def is_aside(self, array: ArrayFacts) -> bool:
        """Return True for real floats next to complex arrays, as weights, and for non-floats."""
        is_complex = array.dtype.kind == "c"
        return not is_complex and (array.dtype.kind != "f" or "c" in array.other_kinds)

    def companion(self, array: ArrayFacts) -> Mapping[str, object] | None:
        """Return Zstandard after a shuffle; a bit shuffle for flags, with one flag per byte."""
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
        """Return the picture of an array for `info --plot`, over time and frequency if known.

        Tables of rows have no axis of time: they are drawn over rows and frequency.
        """
        letters, usual = str(params["axes"]), super().picture(params, dims).axes
        if len(letters) != len(dims) or len(dims) < 2:
            return Picture(usual, kind="visibilities")
        time, frequency = letters.find("t"), letters.find("f")
        if time < 0 and "row" in dims:
            time = dims.index("row")
        if min(time, frequency) < 0:
            return Picture(usual, kind="visibilities")
        if not _is_interferometric(dims) and frequency < time:  # "t" is only the best axis
            return Picture((frequency, time), kind="visibilities")
        return Picture((time, frequency), kind="visibilities")


CAPABILITIES = _Capabilities()


def _is_interferometric(dims: Iterable[str]) -> bool:
    from gangsaw.codecs.visibility.axes import is_interferometric

    return is_interferometric(dims)


def _axes(array: ArrayFacts) -> str:
    """Return axis letters by names; other real cubes get "f" and "t" for their last two axes.

    Predictions use only these axes, the best ones the last.
    """
    from gangsaw.codecs.visibility.axes import visibility_axes

    rank = len(array.shape)
    is_plain = array.dtype.kind == "f" and not _is_interferometric(array.dims)
    return "b" * (rank - 2) + "ft" if is_plain and rank >= CUBE else visibility_axes(array.dims)


def _gains(array: ArrayFacts) -> bool:
    """Return True if a sample of real floats gets shorter than with plain Zarr codecs."""
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
    """Return True if a trial may pay off: it compiles kernels."""
    from gangsaw.codecs.visibility.integers.sample import find_signs, sampled_words

    return sample.ndim >= CUBE or find_signs(sampled_words(sample)).any


def _tile(dim: str, extent: int) -> int:
    from gangsaw.codecs.visibility.axes import FREQUENCIES, SHORT

    if dim in SHORT:
        return max(1, extent)
    return TIMES if dim == "time" else CHANNELS if dim in FREQUENCIES else ROWS
