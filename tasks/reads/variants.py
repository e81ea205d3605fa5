"""What specialises CUDA sources of this domain."""

from __future__ import annotations

from gangsaw.tasks.reads.order.bins.gpu_signatures import DEFINES

KERNELS = {"order/bins/signatures.cu": [DEFINES]}
