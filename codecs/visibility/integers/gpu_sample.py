"""Detection of device blocks that may hold integers: the host samples some words."""

from __future__ import annotations

from typing import cast

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.launch import pull
from gangsaw.codecs.visibility.integers.sample import find_signs, native_words, sampled_indices


def may_hold_integers(block: DeviceArray) -> bool:
    """Return True if the host's encoder would try integers for a CuPy block."""
    if block.dtype.kind != "f":
        return False
    some = block[
        cast("tuple[int, ...]", sampled_indices(block.shape))
    ]  # not a loop over single words
    return find_signs(native_words(pull(some))).any
