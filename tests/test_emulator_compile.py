"""Every kernel compiles for real devices, keeps within their registers, and keeps denormals."""

from __future__ import annotations

import pytest
from emulator import compile_kernels
from emulator.compile_kernels import (
    ARCHITECTURES,
    MAX_SPILL_BYTES,
    VERBOSE,
    Variant,
    compile_variant,
    taken,
    variants,
)

from gangsaw.codecs.core.cuda import compiling
from gangsaw.codecs.core.cuda.compiling import CompileError, compile_kernel

pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings and nvidia-cuda-nvrtc are absent")

PACKAGES = compile_kernels.packages()
VARIANTS = [variant for package in PACKAGES for variant in variants(package)]
FLUSHED = b".ftz."  # of an instruction that takes denormals for 0

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
FLOATS = r"""
extern "C" __global__ void floats(float* x) { x[0] = x[1] * x[2] + x[3] / sqrtf(x[4]); }
"""


@pytest.mark.quick(cases=1, by=lambda parameters: parameters["variant"].package)
@pytest.mark.parametrize(
    "architecture",
    [pytest.param(name, marks=[pytest.mark.full] * (name != "sm_90")) for name in ARCHITECTURES],
)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_kernels_compile_do_not_spill_and_keep_denormals(
    variant: Variant, architecture: str
) -> None:
    compiled = compile_variant(variant, architecture)
    found = taken(compiled)
    assert found
    assert not [kernel for kernel in found if kernel.spills > MAX_SPILL_BYTES]
    assert b".entry" in compiled.ptx
    assert FLUSHED not in compiled.ptx


@pytest.mark.parametrize("package", PACKAGES)
def test_every_source_is_compiled(package: str) -> None:
    assert sorted({one.file for one in variants(package)}) == compile_kernels.sources(package)


def test_spills_are_seen() -> None:
    (kernel,) = taken(compile_kernel(SPILLS, (VERBOSE,), "sm_90"))
    assert kernel.name == "crowded"
    assert kernel.spills > MAX_SPILL_BYTES


def test_floats_are_those_of_the_cpu() -> None:
    ptx = compile_kernel(FLOATS, (), "sm_90").ptx
    assert FLUSHED not in ptx
    for correct in (b"mul.rn.f32", b"add.rn.f32", b"div.rn.f32", b"sqrt.rn.f32"):
        assert correct in ptx
    assert b"fma" not in ptx


def test_flushed_denormals_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a small kernel, and in that of ours which a wrong option would harm."""
    (variant, *_) = (one for one in VARIANTS if one.file == "dense/coding/encode.cu")
    monkeypatch.setattr(compiling, "FLOATS", ("-ftz=true",))
    assert FLUSHED in compile_kernel(FLOATS, (), "sm_90").ptx
    assert FLUSHED in compile_variant(variant, "sm_90").ptx


@pytest.mark.parametrize("option", ["-ftz=true", "--use_fast_math", "--fmad=true"])
def test_no_caller_changes_floats(option: str) -> None:
    ours, theirs = (compile_kernel(FLOATS, own, "sm_90") for own in ((), (option,)))
    assert theirs.ptx == ours.ptx


def test_what_is_no_cuda_is_refused() -> None:
    with pytest.raises(CompileError, match="undefined"):
        compile_kernel('extern "C" __global__ void f() { no(); }', (), "sm_90")


def test_an_unknown_architecture_is_named() -> None:
    with pytest.raises(CompileError, match="gpu-architecture"):
        compile_kernel(FLOATS, (), "sm_1")
