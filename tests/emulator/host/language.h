// The words that CUDA C++ adds to C++, and its built-in variables and vector types.
#pragma once
#include "runtime.h"

#define GANGSAW_EMULATION 1
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)
#define __constant__ static
#define __builtin_assume(condition) ((void)0)
// one section, so that its bounds are known; kernels stand in an unnamed namespace, without which
// the shared variables of templates would be COMDAT and refuse a section
#define __shared__ static __attribute__((section("emulated_shared")))
#define DYN_SHARED(T, name) T* const name = reinterpret_cast<T*>(emulation::dynamic_shared)

#define threadIdx emulation::thread_index
#define blockIdx emulation::block_index
#define blockDim emulation::block_extent
#define gridDim emulation::grid_extent
#define warpSize 32

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

#define EMULATED_VECTORS(T, name)                                                                \
  struct name##1 { T x; };                                                                       \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                             \
  struct name##3 { T x, y, z; };                                                                 \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; };             \
  inline name##1 make_##name##1(T x) { return {x}; }                                             \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                     \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                             \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMULATED_VECTORS(signed char, char)
EMULATED_VECTORS(unsigned char, uchar)
EMULATED_VECTORS(short, short)
EMULATED_VECTORS(unsigned short, ushort)
EMULATED_VECTORS(int, int)
EMULATED_VECTORS(long long, longlong)
EMULATED_VECTORS(unsigned long long, ulonglong)
EMULATED_VECTORS(float, float)
EMULATED_VECTORS(double, double)
struct uint1 { unsigned x; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline uint1 make_uint1(unsigned x) { return {x}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
