"""What specialises CUDA sources of this domain."""

from __future__ import annotations

from gangsaw.tasks.reads.order.gpu_signatures import DEFINES

KERNELS = {"order/signatures.cu": [DEFINES]}
