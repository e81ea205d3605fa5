"""CPU and CUDA name their stages alike; what has no twin is listed with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.twin_exceptions import EXCEPTIONS
from helpers.twins import cpu_functions, cuda_functions, functions_in, without_twin

ROOT = Path(__file__).parents[1]
SHARED = [ROOT / "codecs/core" / name for name in ("numba", "nucleotides", "entropy")]
SOURCE = """
// __device__ int commented_out(int x) { return x; }
struct Row { int i; };
extern "C" __global__ void __launch_bounds__(32, 8)
    kernel(const int* x) {}
template <class T>
__device__ __forceinline__ T* part(T (&a)[3], int (*f)(int)) { return f(a); }
struct Of {
    __device__ Of(int x) : x(x) {}
    __device__ int operator()(int y) const { return x; }
};
"""


def test_functions_are_found_in_any_form() -> None:
    """Kernels with bounds, templates, constructors and operators; no comment."""
    found = {(one.name, one.is_kernel) for one in functions_in(SOURCE)}
    assert found == {("kernel", True), ("part", False), ("Of", False), ("operator()", False)}


def test_only_compiled_functions_are_twins_of_device_functions(tmp_path: Path) -> None:
    """A function of a module that is not compiled is a twin of a kernel alone."""
    (tmp_path / "cpu.py").write_text("@jit\ndef _part(x): pass\n\ndef Of(x): pass\n")
    (tmp_path / "gpu.py").write_text("def kernel(x): pass\n")
    assert cpu_functions([tmp_path], compiled=True) == {"part"}
    assert without_twin(functions_in(SOURCE), [tmp_path]) == {"kernel", "Of", "operator()"}


def test_a_name_for_one_of_two_functions_is_a_twin(tmp_path: Path) -> None:
    """As where the processor decides; the name of anything else is none."""
    choice = "@jit\ndef one(x): pass\n\n@jit\ndef other(x): pass\n\n"
    choice += "part = one if FAST else other\nOf = one if FAST else 3\n"
    (tmp_path / "cpu.py").write_text(choice)
    assert cpu_functions([tmp_path], compiled=True) == {"one", "other", "part"}


@pytest.mark.parametrize("folder", EXCEPTIONS)
def test_every_cuda_function_has_a_twin_or_a_reason(folder: str) -> None:
    """None is listed that is gone or has a twin, none twice."""
    listed = [name for names in EXCEPTIONS[folder].values() for name in names.split()]
    alone = without_twin(cuda_functions(ROOT / folder), [ROOT / folder, *SHARED])
    assert sorted(alone - set(listed)) == [], "no twin and no reason"
    assert sorted(set(listed) - alone) == [], "listed, but gone or with a twin"
    assert len(listed) == len(set(listed))


def test_all_folders_with_cuda_sources_are_looked_at() -> None:
    """A new codec with kernels has a table of its own, if an empty one."""
    sources = {p for top in ("codecs", "tasks") for p in (ROOT / top).rglob("*.cu*")}
    assert sources
    assert not {p for p in sources if not any((ROOT / f) in p.parents for f in EXCEPTIONS)}
