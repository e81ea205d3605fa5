"""Every kernel compiles for real devices, and keeps within their registers."""

from __future__ import annotations

import pytest
from emulator import compile_kernels
from emulator.compile_kernels import ARCHITECTURES, MAX_SPILL_BYTES, Variant, compiled, variants

pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings and nvidia-cuda-nvrtc are absent")

PACKAGES = compile_kernels.packages()
VARIANTS = [variant for package in PACKAGES for variant in variants(package)]

SPILLS = r"""
extern "C" __global__ void __launch_bounds__(1024, 2) crowded(const int* x, int* y) {
  int kept[96];
  #pragma unroll
  for (int i = 0; i < 96; ++i) kept[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 96; ++i) y[(95 - i) * 1024 + threadIdx.x] = kept[i] * kept[(i * 7) % 96];
}
"""


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_kernels_compile_and_do_not_spill(variant: Variant, architecture: str) -> None:
    taken = compile_kernels.report(variant, architecture)
    assert taken
    assert not [kernel for kernel in taken if kernel.spills > MAX_SPILL_BYTES]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_source_is_compiled(package: str) -> None:
    assert sorted({one.file for one in variants(package)}) == compile_kernels.sources(package)


def test_spills_are_seen() -> None:
    (kernel,) = compiled(SPILLS, ("-std=c++17",), "sm_90")
    assert kernel.name == "crowded"
    assert kernel.spills > MAX_SPILL_BYTES


def test_what_is_no_cuda_is_refused() -> None:
    with pytest.raises(compile_kernels.CompileError, match="undefined"):
        compiled('extern "C" __global__ void f() { no(); }', (), "sm_90")
