"""Arrays in device memory that CuPy has no constructor for."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt


def unaligned(cupy: ModuleType, x: npt.NDArray[Any]) -> Any:
    """Return x in device memory, a byte beyond where its items belong."""
    memory = cupy.zeros(x.nbytes + 1, np.uint8)
    memory[1:] = cupy.asarray(np.frombuffer(x.tobytes(), np.uint8))
    return memory[1:].view(x.dtype).reshape(x.shape)
