"""Batch of `dense` blocks for the GPU encoder: address tables, kernel launches, copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.visibility.dense.model.gpu_tables import (
    choice_table,
    offsets_of,
    predictor_table,
    size_count,
)
from gangsaw.codecs.visibility.dense.model.head import BlockChoice
from gangsaw.codecs.visibility.dense.model.predict import TERMS
from gangsaw.codecs.visibility.dense.model.scale import NEAR
from gangsaw.codecs.visibility.dense.model.values import MANTISSA
from gangsaw.codecs.visibility.lanes.gpu_table import (
    THREADS,
    block_table,
    dtype_defines,
    word_bytes,
)
from gangsaw.codecs.visibility.lanes.table import Lanes

Result = TypeVar("Result")
PACKAGE = "gangsaw.codecs.visibility.dense"  # package of the CUDA sources
TRIED = 2  # kinds of means that use stored sizes, compared in one launch


class BlockBatch:
    """CuPy blocks (time, frequency, ...) of one dtype, with their tables for kernels.

    Attributes
    ----------
    sources : the blocks
    lanes : layout of each block's words in lanes
    word_bytes, mantissa : bytes of a word, bits of its mantissa
    """

    def __init__(self, sources: Sequence[DeviceArray]) -> None:
        self.sources = sources
        self.table = block_table(sources)
        self.lanes: list[Lanes] = self.table.lanes
        self.word_bytes = word_bytes(sources[0])
        self.mantissa = MANTISSA[self.word_bytes]
        self.first_sizes = offsets_of(TRIED * size_count(NEAR, of) for of in self.lanes)
        self.blocks, self.axes = cupy().asarray(self.table.rows), cupy().asarray(self.table.axes)

    @property
    def word_type(self) -> Dtype:
        """Unsigned dtype of the words."""
        return np.dtype(f"u{self.word_bytes}")

    @cached_property
    def terms(self) -> DeviceArray:
        """Terms of all predictors (`predict.TERMS`) on the device."""
        terms: DeviceArray = cupy().asarray(TERMS.ravel())
        return terms

    def run(
        self, file: str, kernel: str, grid: int, *arguments: object, threads: int = THREADS
    ) -> None:
        """Launch a kernel of a CUDA source file; NumPy arrays are copied to the device first."""
        module = load_module(PACKAGE, file, dtype_defines(self.sources[0]))
        there = [cupy().asarray(one) if isinstance(one, np.ndarray) else one for one in arguments]
        launch(module.get_function(kernel), grid, threads, there)

    def choices(self, choices: Sequence[BlockChoice]) -> npt.NDArray[np.int64]:
        """Return the encoder's choices of all blocks as a table for kernels."""
        return choice_table(choices, self.lanes, self.first_sizes, self.word_bytes)

    def coded(self, choices: Sequence[BlockChoice]) -> tuple[DeviceArray, ...]:
        """Return the device arrays for kernels that code rows: choices, predictors, their terms."""
        tables = self.choices(choices), predictor_table(choices)
        return (*map(cupy().asarray, tables), self.terms)

    @cached_property
    def sizes(self) -> DeviceArray:
        """Device memory for the sizes of earlier values, shared by all kernels that use them.

        A second array would not fit: CuPy's pool would cut smaller arrays from the first one's
        memory.
        """
        sizes: DeviceArray = cupy().empty(self.first_sizes[-1], np.float32)
        return sizes

    def each(self, function: Callable[[int], Result]) -> list[Result]:
        """Return function(i) for every block, computed by several host threads."""
        results: dict[int, Result] = {}

        def keep(i: int) -> None:
            results[i] = function(i)

        run_blocks(keep, len(self.sources))
        return [results[i] for i in range(len(self.sources))]
