"""Small changes to a correct kernel that packs codewords: the emulation has to notice them."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.host_module import HostModule, KernelFault, schedule

PACK = r"""
// Each thread's number, without its leading zeros, behind those of the threads before; a block
// gives its bits in words of 32, and how many.
extern "C" __global__ void pack(const unsigned* x, unsigned* words, int* n_bits, int capacity) {
  DYN_SHARED(unsigned, buffer);
  __shared__ int sums[4];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const unsigned value = x[blockIdx.x * blockDim.x + t];
  const int length = 32 - __clz(value);
  for (int i = t; i < capacity; i += blockDim.x) buffer[i] = 0;
  int end = length;
  for (int d = 1; d < 32; d <<= 1) {
    const int before = __shfl_up_sync(0xffffffffu, end, d);
    if (lane >= d) end += before;
  }
  if (lane == 31) sums[warp] = end;
  __syncthreads();
  for (int w = 0; w < warp; ++w) end += sums[w];
  const int begin = end - length, shift = 64 - begin % 32 - length;
  const unsigned long long bits = length ? (unsigned long long)value << shift : 0;
  if (bits >> 32) atomicOr(&buffer[begin / 32], (unsigned)(bits >> 32));
  if ((unsigned)bits) atomicOr(&buffer[begin / 32 + 1], (unsigned)bits);
  if (t == 127) n_bits[blockIdx.x] = end;
  __syncthreads();
  for (int i = t; i < capacity; i += blockDim.x) words[blockIdx.x * capacity + i] = buffer[i];
}
"""
MUTANTS = [
    ("sums[warp] = end;\n  __syncthreads();", "sums[warp] = end;"),
    ("= end;\n  __syncthreads();\n  for (int i", "= end;\n  for (int i"),
    ("buffer[i] = 0;", ";"),
    ("lane >= d", "lane > d"),
    ("d < 32", "d < 16"),
    ("lane == 31", "lane == 30"),
    ("w < warp", "w <= warp"),
    ("32 - __clz", "31 - __clz"),
    ("atomicOr(&buffer[begin / 32], (unsigned)(bits >> 32))",
     "buffer[begin / 32] |= (unsigned)(bits >> 32)"),
    ("begin / 32 + 1", "begin / 32 + 2"),
    ("if (t == 127) n_bits", "n_bits"),
    ("blockIdx.x * capacity + i", "i"),
    ("__shfl_up_sync(0xffffffffu", "__shfl_up_sync(0x7fffffffu"),
    ("length ? (unsigned long long)value << shift : 0", "(unsigned long long)value << (shift + 1)"),
    ("i < capacity; i += blockDim.x) words", "i <= capacity; i += blockDim.x) words"),
    ("if (lane >= d) end += before;",
     "if (lane >= d) end += before + 0 * __shfl_sync(0xffffffffu, end, 0);"),
]  # fmt: skip
THREADS, CAPACITY = 128, 129


def expected(x: np.ndarray) -> list[list[int]]:
    """Return the words of each block."""
    rows = []
    for block in x.reshape(-1, THREADS).tolist():
        bits = "".join(f"{value:b}" for value in block if value).ljust(32 * CAPACITY, "0")
        rows.append([int(bits[i : i + 32], 2) for i in range(0, len(bits), 32)])
    return rows


def wrong(source: str) -> bool:
    """Return whether the emulation notices that the kernel is wrong."""
    rng = np.random.default_rng(1)
    x = (rng.integers(0, 2**32, 3 * THREADS) >> rng.integers(0, 33, 3 * THREADS)).astype(np.uint32)
    kernel = HostModule(source).get_function("pack")
    for seed in range(4):
        words, n_bits = np.zeros((3, CAPACITY), np.uint32), np.zeros(3, np.int32)
        args = (x, words, n_bits, np.int32(CAPACITY))
        try:
            with schedule(seed=seed):
                kernel((3,), (THREADS,), args, shared_mem=4 * CAPACITY)
        except KernelFault:
            return True
        if words.tolist() != expected(x):
            return True
    return False


def test_the_kernel_is_right() -> None:
    assert not wrong(PACK)


@pytest.mark.full
@pytest.mark.parametrize(("there", "instead"), MUTANTS)
def test_mutants_are_noticed(there: str, instead: str) -> None:
    assert PACK.count(there) == 1
    assert wrong(PACK.replace(there, instead))
