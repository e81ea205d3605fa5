// What differs between a CUDA compiler and the host emulation of the tests, which brings its own.

#ifndef GANGSAW_EMULATION

// Shared memory whose size the launch states: `name` points to it.
// One type of array under every name: CUDA refuses one extern array declared with two types.
#define DYN_SHARED(T, name)                                          \
  extern __shared__ __align__(16) unsigned char dynamic_shared[];    \
  T* const name = reinterpret_cast<T*>(dynamic_shared)

#endif
