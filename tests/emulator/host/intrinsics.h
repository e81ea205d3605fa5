// Arithmetic that CUDA names: bits, products, casts, smallest and largest.
#pragma once
#include "runtime.h"

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long reversed = 0;
  for (int bit = 0; bit < 64; ++bit) reversed |= (x >> bit & 1) << (63 - bit);
  return reversed;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }

// PTX prmt: each selector nibble names a byte of b:a; its high bit asks for the byte's sign.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i) & 15;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7))) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) {
  return static_cast<int>(static_cast<long long>(a << 8 >> 8) * (b << 8 >> 8));
}
inline unsigned __sad(int a, int b, unsigned sum) {
  const long long difference = static_cast<long long>(a) - b;
  return sum + static_cast<unsigned>(difference < 0 ? -difference : difference);
}

#define EMULATED_CAST(name, From, To) \
  inline To name(From value) { return emulation::from_word<To>(emulation::to_word(value)); }
EMULATED_CAST(__float_as_int, float, int)
EMULATED_CAST(__float_as_uint, float, unsigned)
EMULATED_CAST(__int_as_float, int, float)
EMULATED_CAST(__uint_as_float, unsigned, float)
EMULATED_CAST(__double_as_longlong, double, long long)
EMULATED_CAST(__longlong_as_double, long long, double)

// min and max convert mixed arguments as an arithmetic operator does.
template <class A, class B>
constexpr auto min(A a, B b) -> decltype(a + b) {
  const decltype(a + b) x = a, y = b;
  return y < x ? y : x;
}
template <class A, class B>
constexpr auto max(A a, B b) -> decltype(a + b) {
  const decltype(a + b) x = a, y = b;
  return x < y ? y : x;
}
constexpr int abs(int x) { return x < 0 ? -x : x; }
constexpr long abs(long x) { return x < 0 ? -x : x; }
constexpr long long abs(long long x) { return x < 0 ? -x : x; }
constexpr long long llabs(long long x) { return abs(x); }
inline float fabsf(float x) { return __builtin_fabsf(x); }
inline double fabs(double x) { return __builtin_fabs(x); }

// Rounded to the nearest; the compiler is told to contract nothing.
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

#define EMULATED_LOAD(name) \
  template <class T>        \
  inline T name(const T* address) { return *address; }
EMULATED_LOAD(__ldg)
EMULATED_LOAD(__ldcs)
EMULATED_LOAD(__ldcg)
EMULATED_LOAD(__ldca)
#define EMULATED_STORE(name) \
  template <class T>         \
  inline void name(T* address, T value) { *address = value; }
EMULATED_STORE(__stcs)
EMULATED_STORE(__stcg)
EMULATED_STORE(__stwt)

inline long long clock64() { return 0; }
inline void* memcpy(void* to, const void* from, size_t n) { return __builtin_memcpy(to, from, n); }
inline void* memset(void* to, int byte, size_t n) { return __builtin_memset(to, byte, n); }
