"""GPU coding of blocks of kind 3, `dense`: kernels sample and code, the CPU's functions choose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.visibility.dense.choice.gpu_choose import choose
from gangsaw.codecs.visibility.dense.coding.gpu_batch import BlockBatch
from gangsaw.codecs.visibility.dense.coding.gpu_decode import decode_blocks
from gangsaw.codecs.visibility.dense.coding.gpu_encode import BatchWriter
from gangsaw.codecs.visibility.dense.model.head import KIND

__all__ = ["decode_blocks", "encode_blocks"]


def encode_blocks(
    sources: Sequence[DeviceArray], kind: int = KIND, raw: Sequence[int] | None = None
) -> list[Payload | None]:
    """Encode CuPy blocks; return each payload in host memory, None if raw is not longer.

    Parameters
    ----------
    sources : (time, frequency, ...) of one dtype that `has_kernel`
    kind : first byte of the payloads
    raw : raw bytes of each block, if these differ from `source.nbytes`
    """
    if not sources:
        return []
    batch = BlockBatch(sources)
    choices = choose(batch)
    sizes = [source.nbytes for source in sources] if raw is None else raw
    return BatchWriter(batch, kind, np.array(sizes, np.int64)).write(choices)
