"""Whether a block on a device may hold integers: the host looks at some of its words."""

from __future__ import annotations

from typing import cast

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.launch import pull
from gangsaw.codecs.visibility.integers.sample import native_words, places_in, signs_of


def may_hold_integers(block: DeviceArray) -> bool:
    """Whether the host's encoder would try integers for a CuPy block."""
    if block.dtype.kind != "f":
        return False
    some = block[cast("tuple[int, ...]", places_in(block.shape))]  # of many numbers, not of one
    return signs_of(native_words(pull(some))).any
