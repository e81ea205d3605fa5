// Checks of every memory access: the compiler's own hooks of -fsanitize=thread and =undefined,
// linked to what stands here instead of to the sanitizers' runtimes.
#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "launch.h"

namespace emulation {
namespace {

struct Access {
  uint32_t block;    // block_number; 0: none yet
  uint32_t barrier;  // barriers its block had passed
  uint32_t clock;    // of its thread
  uint16_t thread;
  bool atomic;
};

// Two readers: a writer is at most one of them, so that it meets another's read.
struct Shadow {
  Access write, first_read, last_read;
};

constexpr uintptr_t PAGE = 4096;
constexpr size_t KEPT_PAGES = 32;  // of 192 KiB each, for the next launch: every library has its own
typedef std::unordered_map<uintptr_t, std::unique_ptr<Shadow[]>> Pages;
Pages pages;
uintptr_t last_page = ~uintptr_t(0);
Shadow* last_shadows;

Shadow& shadow_of(uintptr_t address) {
  if (address / PAGE != last_page) {
    last_page = address / PAGE;
    auto& shadows = pages[last_page];
    if (!shadows) shadows.reset(new Shadow[PAGE]());
    last_shadows = shadows.get();
  }
  return last_shadows[address % PAGE];
}

enum class Place { own, shared_array, dynamic_shared, global };
const char* const NAMES[] = {"local memory", "shared memory", "dynamic shared memory", "device memory"};

bool within(uintptr_t address, size_t size, const void* begin, const void* end) {
  return address >= reinterpret_cast<uintptr_t>(begin) &&
         address + size <= reinterpret_cast<uintptr_t>(end);
}

Place place_of(uintptr_t address, size_t size) {
  const char* stack = current->fiber.stack;
  if (within(address, size, stack, stack + STACK_BYTES)) return Place::own;
  if (within(address, 1, dynamic_shared, dynamic_shared + MAX_SHARED)) return Place::dynamic_shared;
  if (within(address, size, __start_emulated_shared, __stop_emulated_shared)) {
    return Place::shared_array;
  }
  return within(address, size, __ehdr_start, _end) ? Place::own : Place::global;
}

// Another block of the launch may run at any time, but has its own shared memory.
bool happened_before(const Access& access, Place place) {
  const unsigned self = index_of(current);
  if (access.block != block_number) return place != Place::global || access.block < first_block;
  if (access.thread == self || access.barrier < barriers_passed) return true;
  return access.thread / WARP == self / WARP && current->seen[access.thread % WARP] >= access.clock;
}

bool clash(const Access& earlier, Place place) {
  return earlier.block && !(earlier.atomic && in_atomic) && !happened_before(earlier, place);
}

[[noreturn]] void report_race(uintptr_t address, Place place, bool writes, const Access& earlier,
                              bool wrote) {
  fail("race in %s: this %s a byte (at %#zx) that thread %u of %s block %s, with nothing between",
       NAMES[int(place)], writes ? "writes" : "reads",
       place == Place::dynamic_shared ? address - reinterpret_cast<uintptr_t>(dynamic_shared) : address,
       earlier.thread, earlier.block == block_number ? "this" : "another", wrote ? "wrote" : "read");
}

void check_order(uintptr_t address, Place place, bool writes) {
  Shadow& shadow = shadow_of(address);
  if (clash(shadow.write, place)) report_race(address, place, writes, shadow.write, true);
  const auto self = static_cast<uint16_t>(index_of(current));
  const Access now = {block_number, barriers_passed, current->clock, self, in_atomic};
  if (!writes) {
    if (!shadow.first_read.block || happened_before(shadow.first_read, place)) shadow.first_read = now;
    if (shadow.first_read.thread != self) shadow.last_read = now;
    return;
  }
  if (clash(shadow.first_read, place)) report_race(address, place, writes, shadow.first_read, false);
  if (clash(shadow.last_read, place)) report_race(address, place, writes, shadow.last_read, false);
  shadow.write = now;
}

const Allocation* last;  // of this launch: in the next one's table it may lie between two rows

const Allocation* allocation_of(uintptr_t address) {
  if (last && address >= last->begin && address < last->end) return last;
  const Allocation* end = launch->allocations + launch->n_allocations;
  const Allocation* after = std::upper_bound(
      launch->allocations, end, address,
      [](uintptr_t wanted, const Allocation& one) { return wanted < one.begin; });
  return after == launch->allocations ? nullptr : last = after - 1;
}

[[noreturn]] void report_stray(uintptr_t address, size_t size, bool writes) {
  const char* verb = writes ? "writes" : "reads";
  if (address < PAGE) fail("out of bounds: %s %zu bytes at %#zx (null pointer)", verb, size, address);
  const Allocation* before = allocation_of(address);
  if (!before) fail("out of bounds: %s %zu bytes at %#zx, before all arrays", verb, size, address);
  const size_t length = before->end - before->begin;
  fail("out of bounds: %s %zu bytes at offset %zu of an array of %zu bytes", verb, size,
       address - before->begin, length);
}

void check_global(uintptr_t address, size_t size, bool writes) {
  const Allocation* one = allocation_of(address);
  if (!one || address + size > one->end) report_stray(address, size, writes);
  if (!one->written) return;
  uint8_t* written = one->written + (address - one->begin);
  if (!writes || in_atomic) {
    const uint8_t* hole = static_cast<uint8_t*>(memchr(written, 0, size));
    if (hole) fail("uninitialised: reads byte %zu of an array that nobody wrote",
                   size_t(hole - one->written));
  }
  if (writes) memset(written, 1, size);
}

void check_shared(uintptr_t address, size_t size, bool writes, Place place) {
  if (place == Place::dynamic_shared) {
    const size_t offset = address - reinterpret_cast<uintptr_t>(dynamic_shared);
    if (offset + size > launch->shared_bytes) {
      fail("out of bounds: %s %zu bytes at offset %zu of %u bytes of dynamic shared memory",
           writes ? "writes" : "reads", size, offset, launch->shared_bytes);
    }
  }
  if (writes && !in_atomic) return;
  for (size_t i = 0; i < size; ++i) {
    if (shadow_of(address + i).write.block != block_number) {
      fail("uninitialised: reads %s that no thread of the block wrote", NAMES[int(place)]);
    }
  }
}

}  // namespace

void end_checks() {
  last = nullptr;
  if (pages.size() > KEPT_PAGES) {
    pages.clear();
    last_page = ~uintptr_t(0);
  }
}

void access(uintptr_t address, size_t size, bool writes, uintptr_t instruction) {
  if (!launch->steps) return;  // unchecked
  const Place place = place_of(address, size);
  if (place == Place::own) return;
  failed_at = instruction;
  if (place == Place::global) {
    check_global(address, size, writes);
  } else {
    check_shared(address, size, writes, place);
  }
  for (size_t i = 0; i < size; ++i) check_order(address + i, place, writes);
  failed_at = 0;
}

namespace {

void hook(void* at, size_t size, bool writes, bool aligned, void* caller) {
  if (!current || in_atomic) return;
  const auto address = reinterpret_cast<uintptr_t>(at);
  const auto instruction = reinterpret_cast<uintptr_t>(caller) - 1;
  if (aligned && address % size) {
    failed_at = instruction;
    fail("misaligned: %s %zu bytes at %#zx", writes ? "writes" : "reads", size, address);
  }
  access(address, size, writes, instruction);
}

struct SourceLocation {  // what UBSan's data begin with
  const char* file;
  uint32_t line, column;
};

[[noreturn]] void undefined(const void* data, const char* what) {
  fail("undefined: %s at line %u", what, static_cast<const SourceLocation*>(data)->line);
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define HOOKS(size)                                                                           \
  extern "C" void __tsan_read##size(void* at) { hook(at, size, false, true, CALLER); }        \
  extern "C" void __tsan_write##size(void* at) { hook(at, size, true, true, CALLER); }        \
  extern "C" void __tsan_unaligned_read##size(void* at) { hook(at, size, false, false, CALLER); } \
  extern "C" void __tsan_unaligned_write##size(void* at) { hook(at, size, true, false, CALLER); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
extern "C" void __tsan_read_range(void* at, size_t n) { hook(at, n, false, false, CALLER); }
extern "C" void __tsan_write_range(void* at, size_t n) { hook(at, n, true, false, CALLER); }
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}

#define UNDEFINED(name, what) \
  extern "C" void __ubsan_handle_##name(const void* data, ...) { undefined(data, what); }
UNDEFINED(shift_out_of_bounds, "shift by a negative amount, or by the width or more")
UNDEFINED(out_of_bounds, "index outside of an array")
UNDEFINED(divrem_overflow, "division by zero, or its overflow")
UNDEFINED(add_overflow, "signed overflow of a sum")
UNDEFINED(sub_overflow, "signed overflow of a difference")
UNDEFINED(mul_overflow, "signed overflow of a product")
UNDEFINED(negate_overflow, "signed overflow of a negation")
UNDEFINED(missing_return, "end of a function that returns a value")
UNDEFINED(vla_bound_not_positive, "array of no or negative length")
UNDEFINED(load_invalid_value, "bool or enum that is none")

}  // namespace emulation
