// Put before a CUDA source, this lets a C++ compiler take it; after it stand its EMULATED_KERNELs.
#pragma once
#include "language.h"
#include "warp.h"
#include "atomics.h"
#include "intrinsics.h"

namespace emulation {

template <class T> struct Kind { static constexpr char letter = T(-1) < T(0) ? 'i' : 'u'; };
template <> struct Kind<bool> { static constexpr char letter = 'b'; };
template <> struct Kind<float> { static constexpr char letter = 'f'; };
template <> struct Kind<double> { static constexpr char letter = 'f'; };
template <class T> struct Kind<T*> { static constexpr char letter = 'p'; };
template <class T> struct Kind<const T> : Kind<T> {};
template <class T> struct Kind<T* __restrict> { static constexpr char letter = 'p'; };

template <unsigned... I> struct Places {};

// The arguments lie with the caller of the launch: no memory of a device, so not checked.
template <class... A, unsigned... I>
__attribute__((no_sanitize("thread"))) inline void call(void (*kernel)(A...), void** arguments, Places<I...>) {
  kernel(*static_cast<A*>(arguments[I])...);
}

template <class... A>
inline void call(void (*kernel)(A...), void** arguments) {
  call(kernel, arguments, Places<__integer_pack(sizeof...(A))...>());
}

// Parameters as NumPy names their types: kind, then size.
template <class... A>
inline int describe(void (*)(A...), char* kinds, unsigned char* sizes) {
  const char all_kinds[] = {Kind<A>::letter..., 0};
  const unsigned char all_sizes[] = {sizeof(A)..., 0};
  for (unsigned i = 0; i < sizeof...(A); ++i) kinds[i] = all_kinds[i], sizes[i] = all_sizes[i];
  return sizeof...(A);
}

}  // namespace emulation

#define EMULATED_KERNEL(name)                                               \
  extern "C" void run_##name(void** arguments) { emulation::call(name, arguments); } \
  extern "C" int describe_##name(char* kinds, unsigned char* sizes) {       \
    return emulation::describe(name, kinds, sizes);                         \
  }
