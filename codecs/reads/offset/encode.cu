// Encoder of offsets (SPEC.md, Offsets): all blocks of a batch in a launch of each kernel.

#include "windows/windows.cuh"

using Item = unsigned long long;

constexpr int PLAIN = 192, PLAIN_BITS = 8;  // of coding.py

struct Block {
    const Item* items;
    Place n, lane;
    Item centre;
};

// A lane that is written backwards: its state, and where it begins so far.
struct Tail {
    Byte* at;
    unsigned x;
};

// A lane that moves to its place among the others.
struct Move {
    Place from, to, size;
};

// The number that stands for one with a sign: 0, -1, 1, -2 are 0, 1, 2, 3.
__device__ __forceinline__ Item to_zigzag(Item change) {
    return change << 1 ^ -(change >> 63);
}

// The symbol of a number and how many raw bits follow it.
__device__ __forceinline__ int to_offset_symbol(Item value, int& bits) {
    bits = value < PLAIN ? 0 : bit_length(value) - 1;
    return value < PLAIN ? int(value) : PLAIN + bits + 1 - PLAIN_BITS;
}

// The items of a window.
__device__ __forceinline__ Place items_of(const Block& block, const Window& window) {
    return min(block.lane, block.n - window.number * block.lane);
}

// Count the symbols of all windows into (n_blocks, 256), which are 0 before.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    count_offset_symbols(const Block* blocks, const Window* windows, int n, unsigned* counts) {
    const int i = this_window();
    if (i >= n) return;
    const Block block = blocks[windows[i].block];
    const Item* const items = block.items + windows[i].number * block.lane;
    unsigned* const own = counts + windows[i].block * SYMBOLS;
    const Place end = items_of(block, windows[i]);
    for (Place k = 1; k < end; ++k) {
        int bits;
        const Item value = to_zigzag(items[k] - items[k - 1] - block.centre);
        atomicAdd(&own[to_offset_symbol(value, bits)], 1u);
    }
}

// Put a symbol of a frequency, of which `start` is the first slot, before what there is.
__device__ __forceinline__ void put(Tail& lane, unsigned frequency, unsigned start) {
    if (lane.x >> (32 - PRECISION) >= frequency) {
        lane.at -= 2;
        lane.at[0] = Byte(lane.x);
        lane.at[1] = Byte(lane.x >> 8);
        lane.x >>= 16;
    }
    const unsigned quotient = lane.x / frequency;
    lane.x = (quotient << PRECISION) + start + lane.x - quotient * frequency;
}

// Put the lowest bits of a value: a reader gets the high ones first, PRECISION at a time.
__device__ __forceinline__ void put_raw(Tail& lane, int bits, Item value) {
    for (int at = 0; at < bits;) {
        const int part = at == 0 && bits % PRECISION ? bits % PRECISION : PRECISION;
        const int shift = PRECISION - part;
        put(lane, 1u << shift, unsigned(value >> at & ((1u << part) - 1)) << shift);
        at += part;
    }
}

// Write the state that a lane begins with; return its bytes.
__device__ __forceinline__ Place finish(Tail& lane, const Byte* end) {
    lane.at -= STATE_BYTES;
    for (int k = 0; k < STATE_BYTES; ++k) lane.at[k] = Byte(lane.x >> 8 * k);
    return end - lane.at;
}

// Write each window so that it ends at the end of its room in `out`; fill (n,) sizes.
//
// entries : (n_blocks, 256) of each symbol: its frequency, and from bit 16 on its first slot
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    encode_lanes(const Block* blocks, const Window* windows, int n, const unsigned* entries,
                 Byte* out, Place* sizes) {
    const int i = this_window();
    if (i >= n) return;
    const Block block = blocks[windows[i].block];
    const Item* const items = block.items + windows[i].number * block.lane;
    const unsigned* const own = entries + windows[i].block * SYMBOLS;
    Tail lane = {out + windows[i].end, LOWEST};
    for (Place k = items_of(block, windows[i]) - 1; k > 0; --k) {
        int bits;
        const Item value = to_zigzag(items[k] - items[k - 1] - block.centre);
        const unsigned entry = own[to_offset_symbol(value, bits)];
        put_raw(lane, bits, value);
        put(lane, entry & 0xFFFF, entry >> 16);
    }
    put_raw(lane, 64, items[0]);
    sizes[i] = finish(lane, out + windows[i].end);
}

// Move lanes side by side, a thread block for each.
extern "C" __global__ void __launch_bounds__(THREADS)
    join_lanes(const Move* moves, const Byte* lanes, Byte* out) {
    const Move move = moves[blockIdx.x];
    for (Place i = threadIdx.x; i < move.size; i += THREADS)
        out[move.to + i] = lanes[move.from + i];
}
