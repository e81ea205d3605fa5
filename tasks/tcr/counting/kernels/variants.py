"""Kernel variants that tests compile: usual models, and those that need most registers."""

from __future__ import annotations

from gangsaw.tasks.tcr.counting.kernels.gpu import defines
from gangsaw.tasks.tcr.model import Model

KERNELS = {
    "counting/kernels/gpu.cu": [
        defines(Model(), wide=False),
        defines(Model(strands=2, min_d_end=0), wide=False),
        defines(Model("both", strands=2), wide=True),
        defines(Model("dp1"), wide=False),
        defines(Model(max_p=0, max_n=0), wide=True),
        defines(Model(d_segments=2), wide=False),
        defines(Model(d_segments=2, strands=2, min_d_end=0), wide=True),
    ]
}
