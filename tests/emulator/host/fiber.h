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

inline void allocate_stack(Fiber& fiber) {
  const long guard = sysconf(_SC_PAGESIZE);  // an overflow stops the process and corrupts nothing
  void* memory = mmap(nullptr, guard + STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  mprotect(memory, guard, PROT_NONE);
  fiber.stack = static_cast<char*>(memory) + guard;
}

#if defined(__x86_64__)

extern "C" void emulation_switch(void** save, void* load);

inline void start(Fiber& fiber, void (*entry)()) {
  if (!fiber.stack) allocate_stack(fiber);
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
  if (!fiber.stack) allocate_stack(fiber);
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = STACK_BYTES;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, entry, 0);
}

inline void hand_over(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }

#endif

}  // namespace emulation
