"""Zarr arrays of the plain codec, selections of them, and zarr's pipelines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import zarr
from plain_codec.codec import Plain
from zarr.core import codec_pipeline

SHAPE, CHUNK = (24, 20), (12, 10)
PIPELINES = ["BatchedCodecPipeline"]
if tuple(map(int, zarr.__version__.split(".")[:2])) >= (3, 4):
    PIPELINES.append("FusedCodecPipeline")
SELECTIONS: dict[str, Any] = {
    "slice": lambda z: z[3:5, 2:9],
    "integer": lambda z: z[7],
    "scalar": lambda z: z[7, 3],
    "step": lambda z: z[1:23:9, ::7],
    "ellipsis": lambda z: z[..., 4],
    "empty": lambda z: z[5:5],
    "oindex": lambda z: z.oindex[[3, 20], [0, 19]] if is_zarr(z) else z[np.ix_([3, 20], [0, 19])],
    "vindex": lambda z: (z.vindex if is_zarr(z) else z)[[3, 20], [0, 19]],
    "mask": lambda z: z[mask()],
    "rows": lambda z: (z.oindex if is_zarr(z) else z)[np.arange(24) % 5 == 1],
    "all": lambda z: z[:],
}


@contextmanager
def own_pool() -> Iterator[None]:
    """Threads for the fused pipeline that end here: of a read that fails, it leaves the others on.

    In the pool of the process they decoded during the next test, into its notes and its memory.
    """
    with ThreadPoolExecutor(4) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec_pipeline, "_pool", pool, raising=False)
        patch.setattr(codec_pipeline, "_pool_size", os.cpu_count(), raising=False)
        yield


def is_zarr(array: Any) -> bool:
    return isinstance(array, zarr.Array)


def mask() -> npt.NDArray[np.bool_]:
    marked = np.zeros(SHAPE, bool)
    marked[[1, 22, 22], [2, 2, 18]] = True
    return marked


def create(store: Any, data: npt.NDArray[Any], **options: Any) -> zarr.Array[Any]:
    options = {"chunks": CHUNK, "compressors": None, "filters": None, **options}
    options.setdefault("serializer", Plain())
    array = zarr.create_array(store, shape=data.shape, dtype=data.dtype, **options)
    array[...] = data
    return array
