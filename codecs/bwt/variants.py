"""What the CUDA sources are specialised by."""

from __future__ import annotations

KERNELS: dict[str, tuple[dict[str, int | str], ...]] = {
    "transform/forward.cu": ({},),
    "transform/inverse.cu": ({},),
}
