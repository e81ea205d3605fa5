"""Types of arrays that files of this folder share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Words: TypeAlias = npt.NDArray[Any]  # bits of floats, unsigned or as signed integers
Table: TypeAlias = npt.NDArray[np.int64]  # rows that kernels on a GPU read
