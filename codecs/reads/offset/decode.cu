// Offsets (SPEC.md, Offsets): all blocks of a batch in one launch, a window for each thread.

#include "windows/windows.cuh"

using Item = unsigned long long;

constexpr int PLAIN = 192, PLAIN_BITS = 8;  // of coding.py

struct Block {
    Item* out;
    Place items, lane;
    Item centre;
    Tables tables;
};

// Fill a window; whether the lane is that of such a window.
__device__ __forceinline__ bool read_lane(Lane lane, const Block& block, Item* out, Place items) {
    if (lane.at > lane.stop) return false;
    Item item = get_raw(64, lane);
    out[0] = item;
    for (Place i = 1; i < items; ++i) {
        const int symbol = get(block.tables, 0, lane);
        Item value = symbol;
        if (symbol >= PLAIN) {
            const int bits = symbol - PLAIN + PLAIN_BITS - 1;
            if (bits > 63) return false;
            value = get_raw(bits, lane) | 1ull << bits;
        }
        if (lane.at > lane.stop) return false;
        item += (value >> 1 ^ -(value & 1)) + block.centre;
        out[i] = item;
    }
    return is_whole(lane);
}

// is_right : (n,) of the windows, 0 or 1
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    decode_offsets(const Byte* data, const Block* blocks, const Window* windows, int n,
                   Byte* is_right) {
    const int i = this_window();
    if (i >= n) return;
    const Window window = windows[i];
    const Block block = blocks[window.block];
    const Place first = window.number * block.lane;
    const Lane lane = begin_lane(data, window.begin, window.end);
    is_right[i] = read_lane(lane, block, block.out + first, min(block.lane, block.items - first));
}
