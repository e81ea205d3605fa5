// Barriers, votes and shuffles. Every operation waits for the threads that it names.
#pragma once
#include "runtime.h"

#define EMULATED_LINE int line = __builtin_LINE()

inline void __syncthreads(EMULATED_LINE) { emulation::barrier("__syncthreads", line, false); }

inline int __syncthreads_or(int predicate, EMULATED_LINE) {
  return emulation::barrier("__syncthreads_or", line, predicate != 0).yes != 0;
}

inline int __syncthreads_and(int predicate, EMULATED_LINE) {
  const emulation::Votes votes = emulation::barrier("__syncthreads_and", line, predicate != 0);
  return votes.yes == votes.all;
}

inline int __syncthreads_count(int predicate, EMULATED_LINE) {
  return emulation::barrier("__syncthreads_count", line, predicate != 0).yes;
}

inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATED_LINE) {
  emulation::exchange(mask, 0, "__syncwarp", line);
}

// Memory is sequentially consistent here: fences do nothing, and a missing one is not found.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { emulation::give_way(); }

// What alone is certain on a device of independent lanes: this lane is active.
inline unsigned __activemask() { return 1u << emulation::lane(); }

namespace emulation {

template <class T>
inline T shuffled(unsigned mask, T value, int source, const char* operation, int line) {
  const Exchange& all = exchange(mask, to_word(value), operation, line);
  if (!(all.lanes >> source & 1)) {
    fail("%s at line %d: lane %u reads lane %d, which takes no part", operation, line, lane(), source);
  }
  return from_word<T>(all.value[source]);
}

// Lanes of a segment of `width`: `first` is where this lane's begins.
inline int segment(int width) { return static_cast<int>(lane()) & ~(width - 1); }

}  // namespace emulation

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, EMULATED_LINE) {
  const int from = emulation::segment(width) | (source & (width - 1));
  return emulation::shuffled(mask, value, from, "__shfl_sync", line);
}

template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATED_LINE) {
  const int own = emulation::lane(), from = own - static_cast<int>(delta);
  const bool inside = from >= emulation::segment(width);
  return emulation::shuffled(mask, value, inside ? from : own, "__shfl_up_sync", line);
}

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATED_LINE) {
  const int own = emulation::lane(), from = own + static_cast<int>(delta);
  const bool inside = from < emulation::segment(width) + width;
  return emulation::shuffled(mask, value, inside ? from : own, "__shfl_down_sync", line);
}

template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, EMULATED_LINE) {
  const int own = emulation::lane(), from = own ^ bits;
  const bool inside = from < emulation::segment(width) + width;
  return emulation::shuffled(mask, value, inside ? from : own, "__shfl_xor_sync", line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, EMULATED_LINE) {
  const auto& all = emulation::exchange(mask, predicate != 0, "__ballot_sync", line);
  unsigned yes = 0;
  for (unsigned i = 0; i < emulation::WARP; ++i) {
    if (all.lanes >> i & 1 && all.value[i]) yes |= 1u << i;
  }
  return yes;
}

inline int __any_sync(unsigned mask, int predicate, EMULATED_LINE) {
  const auto& all = emulation::exchange(mask, predicate != 0, "__any_sync", line);
  for (unsigned i = 0; i < emulation::WARP; ++i) {
    if (all.lanes >> i & 1 && all.value[i]) return 1;
  }
  return 0;
}

inline int __all_sync(unsigned mask, int predicate, EMULATED_LINE) {
  const auto& all = emulation::exchange(mask, predicate != 0, "__all_sync", line);
  for (unsigned i = 0; i < emulation::WARP; ++i) {
    if (all.lanes >> i & 1 && !all.value[i]) return 0;
  }
  return 1;
}

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, EMULATED_LINE) {
  const emulation::Word own = emulation::to_word(value);
  const auto& all = emulation::exchange(mask, own, "__match_any_sync", line);
  unsigned equal = 0;
  for (unsigned i = 0; i < emulation::WARP; ++i) {
    if (all.lanes >> i & 1 && all.value[i] == own) equal |= 1u << i;
  }
  return equal;
}

#define EMULATED_REDUCTION(name, expression)                                      \
  template <class T>                                                              \
  inline T name(unsigned mask, T value, EMULATED_LINE) {                          \
    const auto& all = emulation::exchange(mask, emulation::to_word(value), #name, line); \
    const unsigned first = __builtin_ctz(all.lanes);                              \
    T a = emulation::from_word<T>(all.value[first]);                              \
    for (unsigned i = first + 1; i < emulation::WARP; ++i) {                      \
      const T b = emulation::from_word<T>(all.value[i]);                          \
      if (all.lanes >> i & 1) a = (expression);                                   \
    }                                                                             \
    return a;                                                                     \
  }
EMULATED_REDUCTION(__reduce_add_sync, a + b)
EMULATED_REDUCTION(__reduce_min_sync, a < b ? a : b)
EMULATED_REDUCTION(__reduce_max_sync, a > b ? a : b)
EMULATED_REDUCTION(__reduce_and_sync, a & b)
EMULATED_REDUCTION(__reduce_or_sync, a | b)
EMULATED_REDUCTION(__reduce_xor_sync, a ^ b)
