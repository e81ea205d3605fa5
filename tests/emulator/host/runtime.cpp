// The scheduler: runs the threads of one block as fibers, block after block.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "launch.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace emulation {

Thread* current = nullptr;
uint3 thread_index, block_index, block_extent, grid_extent;
alignas(128) unsigned char dynamic_shared[MAX_SHARED];
const Launch* launch;
Thread threads[MAX_THREADS];
unsigned n_threads;
uint32_t block_number, first_block, barriers_passed;
bool in_atomic;
uintptr_t failed_at;

namespace {

struct Group {  // lanes that meet with one mask; results stay until the next but one meeting
  unsigned mask, arrived, unread, generation;
  const char* operation;
  Exchange results[2];
};

struct Warp {
  Group groups[WARP];
  unsigned exited;
};

struct Barrier {
  unsigned arrived, generation;
  const char* operation;
  int line;
  Votes votes[2];
};

Fiber scheduler;
Warp warps[MAX_THREADS / WARP];
Barrier block_barrier;
unsigned live;
bool failed;
char message[1024];
uint64_t random_state;

uint64_t random_number() {  // xorshift64: Marsaglia 2003
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

bool shuffled() { return launch->seed > 1; }
unsigned next_slice() { return shuffled() ? 1 + random_number() % 64 : 0; }

void to_scheduler() {
  Thread* self = current;
  hand_over(self->fiber, scheduler);
}

void wait(const unsigned& generation, const char* operation, int line, unsigned mask) {
  current->state = State::waiting;
  current->generation = &generation;
  current->awaited = generation;
  current->operation = operation;
  current->line = line;
  current->mask = mask;
  to_scheduler();
}

void release_barrier() {
  ++barriers_passed;
  ++block_barrier.generation;
  block_barrier.votes[block_barrier.generation & 1] = {};
  block_barrier.arrived = 0;
}

unsigned warp_of(const Thread* thread) { return index_of(thread) / WARP; }

// All that the lanes of `arrived` knew of each other before, each of them knows after.
void join_clocks(Thread* first, unsigned arrived) {
  uint32_t joined[WARP] = {};
  for (unsigned i = 0; i < WARP; ++i) {
    if (!(arrived >> i & 1)) continue;
    Thread& thread = first[i];
    thread.seen[i] = thread.clock;
    for (unsigned k = 0; k < WARP; ++k) joined[k] = std::max(joined[k], thread.seen[k]);
  }
  for (unsigned i = 0; i < WARP; ++i) {
    if (!(arrived >> i & 1)) continue;
    std::copy(joined, joined + WARP, first[i].seen);
    ++first[i].clock;
  }
}

void release_group(Group& group, unsigned warp) {
  Exchange& results = group.results[group.generation & 1];
  results.lanes = group.arrived;
  // shuffles and votes are no barriers of memory
  if (!strcmp(group.operation, "__syncwarp")) join_clocks(threads + warp * WARP, group.arrived);
  group.unread += __builtin_popcount(group.arrived);
  group.arrived = 0;
  ++group.generation;
}

Group& group_of(Warp& warp, unsigned mask) {
  for (Group& group : warp.groups) {
    if ((group.arrived || group.unread) && group.mask == mask) return group;
  }
  for (Group& group : warp.groups) {
    if (!group.arrived && !group.unread) {
      group.mask = mask;
      return group;
    }
  }
  fail("more masks in one warp than it has lanes");
}

bool complete(const Group& group, const Warp& warp) {
  return group.arrived && (group.mask & ~warp.exited) == group.arrived;
}

// Exited threads count as arrived at every barrier that they are named in.
void leave() {
  const unsigned number = warp_of(current);
  Warp& warp = warps[number];
  current->state = State::done;
  warp.exited |= 1u << lane();
  --live;
  if (live && block_barrier.arrived == live) release_barrier();
  for (Group& group : warp.groups) {
    if (complete(group, warp)) release_group(group, number);
  }
}

void run_thread() {
  launch->kernel(launch->arguments);
  leave();
  to_scheduler();
}

void begin_thread(unsigned number, uint3 index) {
  Thread& thread = threads[number];
  thread.index = index;
  thread.state = State::ready;
  thread.slice = next_slice();
  thread.steps = launch->steps;
  thread.clock = 1;
  std::fill(thread.seen, thread.seen + WARP, 0);
  thread.fiber.stack = stack_of(launch->stacks, number);
  start(thread.fiber, run_thread);
}

void poison_shared_memory() {
  memset(dynamic_shared, launch->poison, std::max(launch->shared_bytes, 1u));
  if (__start_emulated_shared) {
    memset(__start_emulated_shared, launch->poison, __stop_emulated_shared - __start_emulated_shared);
  }
}

void begin_block() {
  ++block_number;
  barriers_passed = 0;
  in_atomic = false;
  live = n_threads;
  block_barrier = {};
  for (unsigned w = 0; w * WARP < n_threads; ++w) {
    for (Group& group : warps[w].groups) group.mask = group.arrived = group.unread = 0;
    const unsigned lanes = n_threads - w * WARP;
    warps[w].exited = lanes >= WARP ? 0 : ~((1u << lanes) - 1);
  }
  poison_shared_memory();
  unsigned number = 0;
  for (unsigned z = 0; z < block_extent.z; ++z) {
    for (unsigned y = 0; y < block_extent.y; ++y) {
      for (unsigned x = 0; x < block_extent.x; ++x) begin_thread(number++, {x, y, z});
    }
  }
}

bool runnable(Thread& thread) {
  if (thread.state == State::waiting && *thread.generation != thread.awaited) {
    thread.state = State::ready;
  }
  return thread.state == State::ready;
}

void report_deadlock() {
  int used = snprintf(message, sizeof message, "deadlock:");
  for (unsigned first = 0; first < n_threads; ++first) {
    const Thread& thread = threads[first];
    if (thread.state != State::waiting) continue;
    const auto alike = [&](const Thread& other) {
      return other.state == State::waiting && other.line == thread.line && other.mask == thread.mask;
    };
    if (std::any_of(threads, threads + first, alike)) continue;
    const auto n = std::count_if(threads + first, threads + n_threads, alike);
    used += snprintf(message + used, sizeof message - used, "%s %td of %u threads wait in %s at line %d (mask %#x)",
                     used > 10 ? "," : "", n, n_threads, thread.operation, thread.line, thread.mask);
    if (used > 800) break;
  }
  failed = true;
}

std::vector<unsigned> in_turn(unsigned n) {
  std::vector<unsigned> turns(n);
  std::iota(turns.begin(), turns.end(), 0);
  if (launch->seed == 1) std::reverse(turns.begin(), turns.end());
  return turns;
}

void shuffle(std::vector<unsigned>& turns) {
  for (size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[random_number() % i]);
}

void run_block(std::vector<unsigned>& turns) {
  begin_block();
  while (live && !failed) {
    bool ran = false;
    if (shuffled()) shuffle(turns);
    for (const unsigned number : turns) {
      Thread& thread = threads[number];
      if (!runnable(thread)) continue;
      ran = true;
      current = &thread;
      thread_index = thread.index;
      hand_over(scheduler, thread.fiber);
      current = nullptr;
      if (failed) return;
    }
    if (!ran) report_deadlock();
  }
}

const char* refusal() {
  const uint64_t size = uint64_t(launch->block[0]) * launch->block[1] * launch->block[2];
  if (size == 0 || launch->grid[0] == 0 || launch->grid[1] == 0 || launch->grid[2] == 0) {
    return "a launch needs at least one thread";
  }
  if (size > MAX_THREADS) return "more than 1024 threads in a block";
  if (launch->grid[1] > 65535 || launch->grid[2] > 65535) return "grid y and z end at 65535";
  if (launch->shared_bytes > MAX_SHARED) return "more shared memory than a block of sm_90 has";
  return nullptr;
}

}  // namespace

unsigned index_of(const Thread* thread) { return thread - threads; }
unsigned lane() { return index_of(current) % WARP; }

unsigned lanes_of_warp() {
  const unsigned lanes = n_threads - warp_of(current) * WARP;
  return lanes >= WARP ? ~0u : (1u << lanes) - 1;
}

void fail(const char* format, ...) {
  if (!failed) {
    va_list values;
    va_start(values, format);
    const int used = vsnprintf(message, sizeof message / 2, format, values);
    va_end(values);
    snprintf(message + used, sizeof message - used, " (block %u,%u,%u thread %u,%u,%u)", block_index.x,
             block_index.y, block_index.z, thread_index.x, thread_index.y, thread_index.z);
    failed = true;
  }
  for (;;) to_scheduler();  // which never comes back: the fiber is abandoned
}

Votes barrier(const char* operation, int line, bool vote) {
  Barrier& all = block_barrier;
  if (!all.arrived) {
    all.line = line;
    all.operation = operation;
  } else if (all.line != line || all.operation != operation) {
    fail("threads of one block meet at different barriers: %s at line %d, %s at line %d",
         all.operation, all.line, operation, line);
  }
  Votes& votes = all.votes[all.generation & 1];
  votes.yes += vote;
  ++votes.all;
  if (++all.arrived == live) {
    release_barrier();
  } else {
    wait(all.generation, operation, line, 0);
  }
  return votes;
}

const Exchange& exchange(unsigned mask, Word value, const char* operation, int line) {
  const unsigned number = warp_of(current), own = 1u << lane();
  if (!(mask & own)) {
    fail("%s at line %d: lane %u is not in its own mask %#x", operation, line, lane(), mask);
  }
  Warp& warp = warps[number];
  Group& group = group_of(warp, mask);
  if (group.arrived && group.operation != operation) {
    fail("lanes of mask %#x meet in different operations: %s, and %s at line %d", mask,
         group.operation, operation, line);
  }
  Exchange& results = group.results[group.generation & 1];
  group.operation = operation;
  group.arrived |= own;
  results.value[lane()] = value;
  if (complete(group, warp)) {
    release_group(group, number);
  } else {
    wait(group.generation, operation, line, mask);
  }
  --group.unread;
  return results;
}

void give_way() { to_scheduler(); }

void begin_atomic(void* address, unsigned size) {
  // whoever spins on a flag must let the others run, in orderly schedules too
  if (shuffled() ? random_number() % 4 == 0 : ++current->slice % 64 == 0) give_way();
  in_atomic = true;
  const auto caller = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  access(reinterpret_cast<uintptr_t>(address), size, true, caller);
}

void end_atomic() { in_atomic = false; }

// Each basic block of checked code begins here.
extern "C" void __sanitizer_cov_trace_pc() {
  if (!current || in_atomic) return;
  if (--current->steps == 0) fail("no end in sight: this thread loops on and on");
  if (shuffled() && --current->slice == 0) {
    current->slice = next_slice();
    give_way();
  }
}

EXPORTED void* emulation_stacks() { return allocate_stacks(MAX_THREADS); }

EXPORTED const char* emulation_run(const Launch* asked) {
  launch = asked;
  if (const char* reason = refusal()) return reason;
  failed = false;
  failed_at = 0;
  random_state = launch->seed * 0x9E3779B97F4A7C15u | 1;
  block_extent = {launch->block[0], launch->block[1], launch->block[2]};
  grid_extent = {launch->grid[0], launch->grid[1], launch->grid[2]};
  n_threads = block_extent.x * block_extent.y * block_extent.z;
  first_block = block_number + 1;
  std::vector<unsigned> blocks = in_turn(grid_extent.x * grid_extent.y * grid_extent.z);
  std::vector<unsigned> turns = in_turn(n_threads);
  if (shuffled()) shuffle(blocks);
  for (const unsigned b : blocks) {
    block_index = {b % grid_extent.x, b / grid_extent.x % grid_extent.y,
                   b / grid_extent.x / grid_extent.y};
    run_block(turns);
    if (failed) break;
  }
  end_checks();
  return failed ? message : nullptr;
}

// Where the code of the failure lies in this library, for addr2line; 0 where not known.
EXPORTED uintptr_t emulation_failed_at() {
  return failed_at ? failed_at - reinterpret_cast<uintptr_t>(__ehdr_start) : 0;
}

}  // namespace emulation
