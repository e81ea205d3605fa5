"""The host emulation of CUDA: right where kernels are right, and it finds what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.host_module import HostModule, schedule

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
