// Threads of control in one host thread that hand over to each other: one fiber is one CUDA thread.
#pragma once
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulation {

constexpr long STACK_BYTES = 64 * 1024;  // kernels keep registers and small arrays there

struct Fiber {
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
  char* stack = nullptr;
};

// An overflow stops the process and corrupts nothing.
inline long guard_bytes() { return sysconf(_SC_PAGESIZE); }

inline char* stack_of(void* stacks, unsigned number) {
  return static_cast<char*>(stacks) + number * (guard_bytes() + STACK_BYTES) + guard_bytes();
}

// Two mappings a stack: a system has some 65,000 for a process, so that all compiled sources share
// the stacks. Null where there is no memory.
inline void* allocate_stacks(unsigned n) {
  void* stacks = mmap(nullptr, n * (guard_bytes() + STACK_BYTES), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) return nullptr;
  for (unsigned number = 0; number < n; ++number) {
    char* guard = stack_of(stacks, number) - guard_bytes();
    if (mprotect(guard, guard_bytes(), PROT_NONE)) return nullptr;
  }
  return stacks;
}

#if defined(__x86_64__)

extern "C" void emulation_switch(void** save, void* load);

inline void start(Fiber& fiber, void (*entry)()) {
  void** top = reinterpret_cast<void**>(fiber.stack + STACK_BYTES);
  *--top = nullptr;  // the return address of entry(), which never returns
  *--top = reinterpret_cast<void*>(entry);
  for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
  fiber.stack_pointer = top;
}

inline void hand_over(Fiber& from, Fiber& to) {
  emulation_switch(&from.stack_pointer, to.stack_pointer);
}

#else

inline void start(Fiber& fiber, void (*entry)()) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = STACK_BYTES;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, entry, 0);
}

inline void hand_over(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }

#endif

}  // namespace emulation
