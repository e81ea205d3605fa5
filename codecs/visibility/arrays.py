"""Array type aliases shared by the files of this folder."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray

Words: TypeAlias = NumpyArray  # bit patterns of floats, as unsigned or signed integers
Table: TypeAlias = "npt.NDArray[np.int64]"  # rows of a table read by GPU kernels
