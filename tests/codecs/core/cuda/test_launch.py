"""What GPU backends share: kernels are compiled once, launches are checked, memory is minded."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gangsaw.codecs.core.cuda import compiling, kernel_files
from gangsaw.codecs.core.cuda import launch as gpu
from gangsaw.codecs.core.errors import CorruptChunk, DeviceError

SCALE = """
extern "C" __global__ void scale(const int* from, int* to, int n, long long factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] * int(factor) + GS_ADD;
}
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "sawn_on_gpu"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "scale.cu").write_text(SCALE)
    (folder / "wrong.cu").write_text("int wrong;\nint wrong;\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sawn_on_gpu", raising=False)
    return "sawn_on_gpu"


def scaled(cupy: Any, package: str, add: int, numbers: Any, *scalars: Any) -> Any:
    out = cupy.zeros(numbers.shape, np.int32)
    kernel = gpu.load_module(package, "scale.cu", {"GS_ADD": add}).get_function("scale")
    gpu.launch(kernel, 2, 64, (numbers, out, *scalars))
    return out.get()


def test_a_kernel_is_specialised_and_launched(cupy: Any, package: str) -> None:
    numbers = cupy.asarray(np.arange(100, dtype=np.int32))
    for add in (1, 2):
        out = scaled(cupy, package, add, numbers, np.int32(100), np.int64(3))
        np.testing.assert_array_equal(out, 3 * np.arange(100) + add)


def test_many_threads_compile_a_kernel_once(cupy: Any, package: str, monkeypatch: Any) -> None:
    made, modules = [], []
    compiled = cupy.RawModule

    def count(**options: Any) -> Any:
        made.append(options)
        return compiled(**options)

    def work() -> None:
        modules.append(gpu.load_module(package, "scale.cu", {"GS_ADD": 5}))

    monkeypatch.setattr(cupy, "RawModule", count)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len({id(module) for module in modules}) == 1


def test_what_another_process_compiled_is_loaded(
    cupy: Any, package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in a fresh process, with no module; no compiler is asked, and the numbers are the same."""
    calls: list[str] = []
    compile_kernel = compiling.compile_kernel

    def count(source: str, options: Sequence[str], architecture: str) -> compiling.Compiled:
        calls.append(architecture)
        return compile_kernel(source, options, architecture)

    monkeypatch.setattr(compiling, "compile_kernel", count)
    monkeypatch.setattr(kernel_files, "kernel_folder", lambda: tmp_path)
    numbers = cupy.asarray(np.arange(100, dtype=np.int32))
    for add in (1, 1, 2, 2):
        gpu.forget_modules()
        out = scaled(cupy, package, add, numbers, np.int32(100), np.int64(3))
        np.testing.assert_array_equal(out, 3 * np.arange(100) + add)
    assert calls == [f"sm_{cupy.cuda.Device().compute_capability}"] * 2


def test_a_missing_compiler_is_told_in_one_line(
    cupy: Any, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> str:
        raise compiling.CompileError("CUDA's compiler NVRTC cannot be loaded: no libnvrtc.so.13")

    monkeypatch.setattr(compiling, "compiler_version", missing)
    gpu.forget_modules()
    with pytest.raises(DeviceError, match=r"^compiling scale.cu failed: CUDA's compiler NVRTC"):
        gpu.load_module(package, "scale.cu", {"GS_ADD": 1})


@pytest.mark.parametrize(
    ("wrong", "name"),
    [(100, "int"), (1.0, "float"), ([1, 2], "list"), (np.zeros(3, np.int32), "ndarray")],
    ids=["int", "float", "list", "host"],
)
def test_arguments_are_exactly_typed(cupy: Any, package: str, wrong: Any, name: str) -> None:
    numbers = cupy.asarray(np.arange(100, dtype=np.int32))
    with pytest.raises(TypeError, match=f"argument 2 of a kernel is {name}"):
        scaled(cupy, package, 1, numbers, wrong, np.int64(3))


def test_a_source_that_does_not_compile_says_so_in_one_line(cupy: Any, package: str) -> None:
    with pytest.raises(DeviceError, match=r"^compiling wrong.cu failed: .") as caught:
        gpu.load_module(package, "wrong.cu", {})
    assert "\n" not in str(caught.value)


def test_wrong_blocks_are_named() -> None:
    assert gpu.corrupt_blocks(np.zeros(3, np.int32), {}) == {}
    found = gpu.corrupt_blocks(np.array([0, 2, 1]), {1: "first reason", 2: "second reason"})
    assert {block: error.reason for block, error in found.items()} == {
        1: "second reason",
        2: "first reason",
    }


def test_runs_are_halved_until_they_fit(cupy: Any) -> None:
    """By what they promise to need, and by what they need after all."""
    done: list[tuple[int, int]] = []

    def work(run: slice) -> int:
        if run.stop - run.start > 2:
            raise cupy.cuda.memory.OutOfMemoryError(1 << 30, 0)
        done.append((run.start, run.stop))
        return run.start

    free = gpu.free_device_bytes()
    assert free is not None
    room = free // 5  # for a block: five promise to fit, seven do not
    assert gpu.in_runs(work, 7, lambda run: room * (run.stop - run.start)) == [0, 1, 3, 5]
    assert done == [(0, 1), (1, 3), (3, 5), (5, 7)]


def test_a_block_that_does_not_fit_is_an_error_with_numbers(cupy: Any) -> None:
    with pytest.raises(DeviceError, match=r"GPU for block 0: \d+\.0 MiB needed, .* MiB free"):
        gpu.in_runs(lambda run: None, 3, lambda run: 1 << 50)

    def work(run: slice) -> None:
        if run.start <= 2 < run.stop:
            raise cupy.cuda.memory.OutOfMemoryError(12345, 0)

    with pytest.raises(DeviceError, match=r"for block 2: 0\.0 MiB needed at most; Out of memory"):
        gpu.in_runs(work, 3, lambda run: 0)


def test_a_foreign_allocator_is_asked_nothing(cupy: Any) -> None:
    """RMM holds all memory from the start: the device's figure would refuse any work."""
    before = cupy.cuda.get_allocator()
    cupy.cuda.set_allocator(cupy.cuda.MemoryPool().malloc)
    try:
        assert gpu.free_device_bytes() is None
        assert gpu.in_runs(lambda run: run.stop, 3, lambda run: 1 << 50) == [3]
    finally:
        cupy.cuda.set_allocator(before)


def test_a_block_is_counted_from_the_first(cupy: Any) -> None:
    def work(run: slice) -> None:
        if run.stop - run.start > 2:
            raise MemoryError("small device")
        if run.start == 2:
            raise CorruptChunk("wrong", block=1)

    with pytest.raises(CorruptChunk, match="block 3: wrong"):
        gpu.in_runs(work, 4, lambda run: 0)


def test_a_pull_is_a_copy_of_any_shape(cupy: Any) -> None:
    for shape in [(0,), (3,), (2, 0), (4, 5)]:
        array = cupy.asarray(np.arange(np.prod(shape), dtype=np.int64).reshape(shape))
        np.testing.assert_array_equal(gpu.pull(array), array.get())
