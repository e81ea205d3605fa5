// Atomic operations on shared and global memory.
#pragma once
#include "runtime.h"

namespace emulation {

template <class T, class Next>
inline T atomically(T* address, Next next) {
  begin_atomic(const_cast<void*>(static_cast<const volatile void*>(address)), sizeof(T));
  const T old = *address;
  *address = next(old);
  end_atomic();
  return old;
}

template <class T>
struct Same {
  typedef T type;  // keeps an argument out of deduction: it converts to the type of the address
};

}  // namespace emulation

#define EMULATED_ATOMIC(name, expression)                                         \
  template <class T>                                                              \
  inline T name(T* address, typename emulation::Same<T>::type value) {            \
    return emulation::atomically(address, [=](T old) -> T { return expression; }); \
  }                                                                               \
  template <class T>                                                              \
  inline T name##_block(T* address, typename emulation::Same<T>::type value) {    \
    return name(address, value);                                                  \
  }
EMULATED_ATOMIC(atomicAdd, old + value)
EMULATED_ATOMIC(atomicSub, old - value)
EMULATED_ATOMIC(atomicExch, ((void)old, value))
EMULATED_ATOMIC(atomicMin, old < value ? old : value)
EMULATED_ATOMIC(atomicMax, old > value ? old : value)
EMULATED_ATOMIC(atomicAnd, old & value)
EMULATED_ATOMIC(atomicOr, old | value)
EMULATED_ATOMIC(atomicXor, old ^ value)
EMULATED_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
EMULATED_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)

template <class T>
inline T atomicCAS(T* address, typename emulation::Same<T>::type expected,
                   typename emulation::Same<T>::type value) {
  return emulation::atomically(address, [=](T old) -> T { return old == expected ? value : old; });
}
