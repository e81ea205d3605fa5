// What device code sees of the emulation. No standard header: NVRTC has none either.
#pragma once

typedef decltype(sizeof(0)) size_t;
struct uint3 {
  unsigned x, y, z;
};

namespace emulation {

typedef unsigned long long Word;  // holds any value that lanes exchange
constexpr unsigned WARP = 32;
constexpr unsigned MAX_THREADS = 1024;
constexpr unsigned MAX_SHARED = 227 * 1024;  // of one block on sm_90

struct Exchange {
  Word value[WARP];
  unsigned lanes;  // those that deposited a value
};

struct Thread;
extern Thread* current;
extern uint3 thread_index, block_index, block_extent, grid_extent;
extern unsigned char dynamic_shared[MAX_SHARED];

struct Votes {
  unsigned yes, all;
};

[[noreturn]] void fail(const char* format, ...);
unsigned lane();
unsigned lanes_of_warp();  // bits of the lanes that the block has
Votes barrier(const char* operation, int line, bool vote);
const Exchange& exchange(unsigned mask, Word value, const char* operation, int line);
void give_way();  // lets the other threads run
void begin_atomic(void* address, unsigned size);
void end_atomic();

template <class T>
inline Word to_word(T value) {
  static_assert(sizeof(T) <= sizeof(Word), "lanes exchange values of at most 64 bits");
  Word word = 0;
  __builtin_memcpy(&word, &value, sizeof value);
  return word;
}

template <class T>
inline T from_word(Word word) {
  T value;
  __builtin_memcpy(&value, &word, sizeof value);
  return value;
}

}  // namespace emulation
