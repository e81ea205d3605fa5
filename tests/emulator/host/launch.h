// What the scheduler, the checks and the caller of a launch share; device code does not see it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fiber.h"
#include "runtime.h"

namespace emulation {

enum class State { ready, waiting, done };

struct Thread {
  Fiber fiber;
  uint3 index;
  State state;
  const unsigned* generation;  // waiting: until this is no longer `awaited`
  unsigned awaited;
  const char* operation;  // waiting: in this, for the message of a deadlock
  int line;
  unsigned mask;
  unsigned slice;      // basic blocks until a shuffled schedule takes its turn away
  uint64_t steps;      // basic blocks left to it: a thread that uses them up has no end
  uint32_t clock;      // its synchronisations so far
  uint32_t seen[WARP];  // the clock of each lane of its warp that is known to lie before now
};

// Device memory that a launch may touch; `written` has a byte per byte, or is null: all written.
struct Allocation {
  uintptr_t begin, end;
  uint8_t* written;
};

struct Launch {
  void (*kernel)(void**);
  void** arguments;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  int poison;        // byte that fills shared memory before each block
  uint64_t seed;     // 0: in order, 1: in reverse, else shuffled
  uint64_t steps;    // basic blocks a thread may run
  const Allocation* allocations;  // by address
  size_t n_allocations;
  void* stacks;  // of MAX_THREADS fibers
};

extern const Launch* launch;
extern Thread threads[MAX_THREADS];
extern unsigned n_threads;
extern uint32_t block_number;    // counts over all launches
extern uint32_t first_block;     // of this launch
extern uint32_t barriers_passed;  // by this block
extern bool in_atomic;
extern uintptr_t failed_at;  // address of the instruction that failed, 0 where not known

unsigned index_of(const Thread* thread);
void end_checks();
void access(uintptr_t address, size_t size, bool writes, uintptr_t instruction);

// bounds that the linker knows
extern "C" {
extern unsigned char __start_emulated_shared[] __attribute__((weak, visibility("hidden")));
extern unsigned char __stop_emulated_shared[] __attribute__((weak, visibility("hidden")));
extern unsigned char __ehdr_start[] __attribute__((visibility("hidden")));
extern unsigned char _end[] __attribute__((visibility("hidden")));
}

}  // namespace emulation
