"""What specialises CUDA sources of this domain: nothing does."""

from __future__ import annotations

KERNELS: dict[str, list[dict[str, int | str]]] = {"order/signatures.cu": [{}]}
