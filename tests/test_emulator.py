"""The host emulation of CUDA: right where kernels are right, and it finds what is wrong."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import emulator
import numpy as np
import pytest
from emulator.host_module import HostModule, KernelFault, schedule
from emulator.memory import Memory, device_array

Result = np.ndarray[tuple[int], np.dtype[np.int32]]

SUM = r"""
template <class T, int WARPS> __device__ T total(T x) {
  __shared__ T parts[WARPS];
  for (int d = 16; d; d >>= 1) x += __shfl_down_sync(0xffffffffu, x, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  T all = 0;
  for (int w = 0; w < WARPS; ++w) all += parts[w];
  return all;
}
extern "C" __global__ void __launch_bounds__(32 * (BLOCK_WARPS))
sum(const int* x, long long* out, int n) {
  DYN_SHARED(int, copy);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  copy[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  const long long all = total<long long, BLOCK_WARPS>(copy[blockDim.x - 1 - threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(out, all);
}
"""


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("checks", [False, True])
def test_a_block_sum(seed: int, checks: bool) -> None:
    x, out = np.arange(-100, 900, dtype=np.int32), np.zeros(1, np.int64)
    kernel = HostModule(SUM, ("-DBLOCK_WARPS=4",)).get_function("sum")
    with schedule(seed=seed, checks=checks):
        kernel((8,), (128,), (x, out, np.int32(x.size)), shared_mem=512)
    assert out[0] == x.sum()


PLANTED = (Path(emulator.__file__).parent / "planted.cu").read_text()
FAULTS = {
    # the one who reads too early may even be the first
    "race": "race in shared memory|uninitialised: reads shared memory",
    "race_in_a_warp": "race in dynamic shared memory|uninitialised: reads dynamic shared memory",
    "race_around_a_vote": "race in shared memory|uninitialised: reads shared memory",
    "race_of_a_loop": r"race in shared memory: this (writes|reads) a byte",
    "race_of_blocks": "race in device memory: .* of another block",
    "deadlock": r"deadlock: 33 of 64 threads wait in __syncthreads .*, 31 of 64 .* __shfl_sync",
    "absent_lanes": "lanes of mask 0xffffffff meet in different operations",
    "foreign_mask": r"__ballot_sync .*: lane \d+ is not in its own mask 0xffff",
    "absent_source": r"reads lane \d+, which takes no part",
    "divided_barrier": "threads of one block meet at different barriers",
    "out_of_bounds": r"reads 4 bytes at offset 256 of an array of 256 bytes(.|\n)*x\[thread",
    "out_of_shared": "writes 4 bytes at offset 256 of 256 bytes of dynamic shared memory",
    "out_of_an_array": "index outside of an array",
    "misaligned": "misaligned: reads 4 bytes",
    "uninitialised": "reads shared memory that no thread of the block wrote",
    "wide_shift": "shift by",
    "overflow": "signed overflow of a sum",
    "endless": "no end in sight",
}


@cache
def planted(*defines: str) -> HostModule:
    return HostModule(PLANTED, defines)


def run(name: str, *defines: str, seed: int = 0, checks: bool = True) -> Result:
    """Run a planted kernel on 1..64 by two warps; race_of_blocks by three blocks."""
    x, y = np.arange(1, 65, dtype=np.int32), np.zeros(64, np.int32)
    grid = (3,) if name == "race_of_blocks" else (1,)
    shared = 256 if "DYN_SHARED" in PLANTED.partition(f" {name}(")[2].partition("}")[0] else 0
    with schedule(seed=seed, checks=checks, steps=1 << 20):
        planted(*defines).get_function(name)(grid, (64,), (x, y), shared_mem=shared)
    return y


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found_and_their_cures_pass(name: str, seed: int) -> None:
    if name != "misaligned":  # its cure reads in bounds for all but the last thread
        run(name, seed=seed)
    with pytest.raises(KernelFault, match=FAULTS[name]):
        run(name, "-DWRONG", seed=seed)


def test_order_dependence_shows() -> None:
    def results(*defines: str) -> set[int]:
        return {int(run("in_order", *defines, seed=seed)[0]) for seed in range(6)}

    assert results() == {1}
    assert len(results("-DWRONG")) > 2


def test_a_device_goes_on_after_a_fault() -> None:
    before = run("race")
    for name in ("race", "deadlock", "endless"):
        with pytest.raises(KernelFault):
            run(name, "-DWRONG")
    np.testing.assert_array_equal(run("race"), before)


def test_what_was_never_written_is_found_until_it_is() -> None:
    kernel = planted().get_function("out_of_bounds")
    empty, out = Memory(256, 0xCD), np.zeros(64, np.int32)
    with pytest.raises(KernelFault, match="reads byte 0 of an array that nobody wrote"):
        kernel((1,), (64,), (empty.bytes.view(np.int32), out))
    kernel((1,), (64,), (np.ones(64, np.int32), empty.bytes.view(np.int32)))
    kernel((1,), (64,), (empty.bytes.view(np.int32), out))
    assert (out == 1).all()


def test_addresses_in_tables_reach_registered_memory_alone() -> None:
    source = """
    extern "C" __global__ void gather(const long long* at, int* y) {
      y[threadIdx.x] = *reinterpret_cast<const int*>(at[threadIdx.x]);
    }"""
    kernel = HostModule(source).get_function("gather")
    known, unknown = device_array(np.arange(32, dtype=np.int32)), np.zeros(32, np.int32)
    out = np.zeros(32, np.int32)
    kernel((1,), (32,), (known.ctypes.data + 4 * np.arange(32), out))
    np.testing.assert_array_equal(out, known)
    with pytest.raises(KernelFault, match="out of bounds: reads 4 bytes"):
        kernel((1,), (32,), (unknown.ctypes.data + 4 * np.arange(32), out))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((np.int32(1),), "takes 2 arguments, got 1"),
        ((np.zeros(4, np.int32), 3), "pass NumPy scalars of the exact type"),
        ((np.zeros(4, np.int32), np.int32(3)), "argument 1 is int32, the kernel takes p8"),
    ],
)
def test_arguments_are_held_against_the_kernel(args: tuple[object, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        planted().get_function("race")((1,), (64,), args)


def test_launches_that_no_device_takes() -> None:
    x = np.zeros(2048, np.int32)
    for block, shared in (((2048,), 0), ((64,), 1 << 20), ((0,), 0)):
        with pytest.raises(KernelFault, match=r"1024 threads|shared memory|at least"):
            planted().get_function("race")((1,), block, (x, x), shared_mem=shared)
