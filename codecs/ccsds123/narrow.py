"""Integers of 64 bits: the standard ends at 32 bits, so their blocks are checked and narrowed."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams

MAX_BYTES = 4  # of a coded sample: D is at most 32 bits


def coded_dtype(dtype: Dtype) -> Dtype:
    """Return the dtype of the coded samples: int32 for int64, uint32 for uint64, else `dtype`."""
    is_wide = dtype.kind in "iu" and dtype.itemsize > MAX_BYTES
    return np.dtype(f"{dtype.kind}{MAX_BYTES}") if is_wide else dtype


def narrow_block(block: NumpyArray) -> NumpyArray:
    """Return a block with its coded dtype; raise BadParams for a sample that does not fit.

    block : integers, not empty; returned unchanged if they have the coded dtype
    """
    kind = coded_dtype(block.dtype)
    if kind == block.dtype:
        return block
    limits = np.iinfo(kind.name)
    for sample in (int(block.min()), int(block.max())):
        if not limits.min <= sample <= limits.max:
            raise BadParams(
                f"sample {sample} does not fit in 32 bits ({limits.min}..{limits.max}), to which "
                f"gangsaw.ccsds123 narrows {block.dtype.name}: use --codec auto for this array"
            )
    return block.astype(kind)
