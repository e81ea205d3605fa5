"""Preprocessor definitions of the CUDA sources for reads."""

from __future__ import annotations

from gangsaw.tasks.genomics.reads.order.bins.gpu_signatures import DEFINES

KERNELS = {"order/bins/signatures.cu": [DEFINES]}
