// Kernels that are wrong in one way each, and next to each the right form: tests plant them.

extern "C" __global__ void race(const int* x, int* y) {
  __shared__ int row[64];
  row[threadIdx.x] = x[threadIdx.x];
#ifndef WRONG
  __syncthreads();
#endif
  y[threadIdx.x] = row[63 - threadIdx.x];
}

// The two warps never meet: what one lane writes the next reads, and __syncwarp() is enough.
extern "C" __global__ void race_in_a_warp(const int* x, int* y) {
  DYN_SHARED(int, row);
  row[threadIdx.x] = x[threadIdx.x];
#ifdef WRONG
  __syncwarp(0xffffu << (threadIdx.x & 16));  // halves wait for themselves alone
#else
  __syncwarp();
#endif
  y[threadIdx.x] = row[threadIdx.x ^ 16];
}

// A vote makes lanes meet, and orders nothing.
extern "C" __global__ void race_around_a_vote(const int* x, int* y) {
  __shared__ int row[64];
  row[threadIdx.x] = x[threadIdx.x];
  const int any = __any_sync(~0u, x[threadIdx.x] > 64);
#ifndef WRONG
  __syncwarp();
#endif
  y[threadIdx.x] = row[threadIdx.x ^ 16] + any;
}

// Reads, then writes: a barrier is missing before the second write.
extern "C" __global__ void race_of_a_loop(const int* x, int* y) {
  __shared__ int shifted[64];
  int own = x[threadIdx.x];
  for (int i = 0; i < 3; ++i) {
    shifted[threadIdx.x] = own;
    __syncthreads();
    own = shifted[(threadIdx.x + 1) % 64];
#ifndef WRONG
    __syncthreads();
#endif
  }
  y[threadIdx.x] = own;
}

extern "C" __global__ void race_of_blocks(const int* x, int* y) {
#ifdef WRONG
  if (threadIdx.x == 0) y[0] += x[blockIdx.x];
#else
  if (threadIdx.x == 0) atomicAdd(y, x[blockIdx.x]);
#endif
}

extern "C" __global__ void deadlock(const int* x, int* y) {
  int own = x[threadIdx.x];
#ifdef WRONG
  if (threadIdx.x <= 32)
#endif
    __syncthreads();
  own += __shfl_sync(0xffffffffu, own, 0);
#ifdef WRONG
  if (threadIdx.x > 32) __syncthreads();
#endif
  y[threadIdx.x] = own;
}

extern "C" __global__ void absent_lanes(const int* x, int* y) {
  const int lane = threadIdx.x % 32;
  int own = x[threadIdx.x];
#ifdef WRONG
  if (lane < 16) own += __shfl_xor_sync(0xffffffffu, own, 1);
  else own += __shfl_xor_sync(0xffff0000u, own, 1);
  __syncwarp();
#else
  own += __shfl_xor_sync(lane < 16 ? 0xffffu : 0xffff0000u, own, 1);
#endif
  y[threadIdx.x] = own;
}

extern "C" __global__ void foreign_mask(const int* x, int* y) {
#ifdef WRONG
  const unsigned mask = 0xffffu;
#else
  const unsigned mask = 0xffffffffu;
#endif
  y[threadIdx.x] = __ballot_sync(mask, x[threadIdx.x] & 1);
}

extern "C" __global__ void absent_source(const int* x, int* y) {
  const int lane = threadIdx.x % 32;
  if (lane >= 16) return;
#ifdef WRONG
  y[threadIdx.x] = __shfl_sync(0xffffu, x[threadIdx.x], lane + 16);
#else
  y[threadIdx.x] = __shfl_sync(0xffffu, x[threadIdx.x], 15 - lane);
#endif
}

extern "C" __global__ void divided_barrier(const int* x, int* y) {
#ifdef WRONG
  if (threadIdx.x & 1) {
    __syncthreads();
  } else {
    __syncthreads();
  }
#else
  __syncthreads();
#endif
  y[threadIdx.x] = x[threadIdx.x];
}

extern "C" __global__ void out_of_bounds(const int* x, int* y) {
#ifdef WRONG
  y[threadIdx.x] = x[threadIdx.x + 1];
#else
  y[threadIdx.x] = x[threadIdx.x];
#endif
}

extern "C" __global__ void out_of_shared(const int* x, int* y) {
  DYN_SHARED(int, row);
#ifdef WRONG
  row[threadIdx.x + 1] = x[threadIdx.x];
#else
  row[threadIdx.x] = x[threadIdx.x];
#endif
  y[threadIdx.x] = 0;
}

extern "C" __global__ void out_of_an_array(const int* x, int* y) {
  int kept[4] = {1, 2, 3, 4};
#ifdef WRONG
  y[threadIdx.x] = kept[x[threadIdx.x] & 7];
#else
  y[threadIdx.x] = kept[x[threadIdx.x] & 3];
#endif
}

extern "C" __global__ void misaligned(const int* x, int* y) {
#ifdef WRONG
  const char* at = reinterpret_cast<const char*>(x) + 2;
#else
  const char* at = reinterpret_cast<const char*>(x) + 4;
#endif
  y[threadIdx.x] = *reinterpret_cast<const int*>(at);
}

extern "C" __global__ void uninitialised(const int* x, int* y) {
  __shared__ int sums[64];
#ifndef WRONG
  sums[threadIdx.x] = 0;
#endif
  atomicAdd(&sums[threadIdx.x], x[threadIdx.x]);
  y[threadIdx.x] = sums[threadIdx.x];
}

extern "C" __global__ void wide_shift(const int* x, int* y) {
#ifdef WRONG
  y[threadIdx.x] = 1u << x[threadIdx.x];
#else
  y[threadIdx.x] = 1u << (x[threadIdx.x] & 31);
#endif
}

extern "C" __global__ void overflow(const int* x, int* y) {
#ifdef WRONG
  y[threadIdx.x] = 0x7fffffff + x[threadIdx.x];
#else
  y[threadIdx.x] = 0x7fffffffu + x[threadIdx.x];
#endif
}

extern "C" __global__ void endless(const int* x, int* y) {
  unsigned state = x[threadIdx.x] | 1;
#ifdef WRONG
  while (state & 1) state += x[1];  // which is even
#endif
  y[threadIdx.x] = state;
}

// Whoever comes first decides: right only where threads run in order.
extern "C" __global__ void in_order(const int* x, int* y) {
  __shared__ int first, count;
  if (threadIdx.x == 0) first = 64, count = 0;
  __syncthreads();
#ifdef WRONG
  if (atomicAdd(&count, 1) == 0) first = threadIdx.x;
#else
  atomicMin(&first, static_cast<int>(threadIdx.x));
#endif
  __syncthreads();
  y[threadIdx.x] = x[first];
}
