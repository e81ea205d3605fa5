"""Types of arrays that files of this folder share."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray

Words: TypeAlias = NumpyArray  # bits of floats, unsigned or as signed integers
Table: TypeAlias = "npt.NDArray[np.int64]"  # rows that kernels on a GPU read
