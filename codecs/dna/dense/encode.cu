// Encoder of dense blocks: all blocks of a batch in one launch, a thread block for each.

#include "step.cuh"

constexpr unsigned LOWEST = 1u << 16, HALF = 0xFFFF;  // of rans.py

// Where a base begins among the frequencies, and from bit 0 on how many it has.
__device__ __forceinline__ unsigned note_bases(const Lane& lane, unsigned base) {
    unsigned first = 0, own = 0;
#pragma unroll
    for (unsigned other = 0; other < 4; ++other) {
        first += other < base ? unsigned(lane.frequency[other]) : 0;
        own = other == base ? unsigned(lane.frequency[other]) : own;
    }
    return first << 16 | own;
}

// Write a lane, the last step first, so that it ends at its end.
__device__ __forceinline__ void write_lane_words(const Block& block) {
    const Shape& shape = block.shape;
    Half* at = block.words + block.ends[this_lane()];
    unsigned x = LOWEST;
    for (Place now = shape.steps - 1; now >= 0; --now) {
        if (!is_there(shape, now)) continue;
        const unsigned slot = block.slots[now * shape.lanes + this_lane()];
        const unsigned frequency = slot & HALF;
        if (x >> 16 >= frequency) {
            *--at = Half(x & HALF);
            x >>= 16;
        }
        const unsigned quotient = x / frequency;
        x = (quotient << 16) + x - quotient * frequency + (slot >> 16);
    }
    *--at = Half(x & HALF);
    *--at = Half(x >> 16);
    block.begins[this_lane()] = at - block.words;
}

extern "C" __global__ void __launch_bounds__(MOST_LANES)
    model_block(const Block* blocks, const short* rows, const Half* powers, const int* direct,
                const Row* hashed, const Byte* direct_class, const Byte* hashed_class) {
    __shared__ Tables tables;
    const Block block = blocks[blockIdx.x];
    const Shape& shape = block.shape;
    const Logs logs = {rows, powers, direct, hashed, direct_class, hashed_class};
    new_tables(tables);
    Lane lane = new_lane();
    __syncthreads();
    for (Place now = 0; now < shape.steps; ++now) {
        const bool there = is_there(shape, now);
        unsigned base = 0;
        if (there) {
            predict_bases(block, tables, logs, lane, int(now));
            base = block.codes[this_lane() * shape.stride + now];
            block.slots[now * shape.lanes + this_lane()] = note_bases(lane, base);
        }
        learn_bases(block, tables, lane, base, int(now), there);
    }
    if (this_lane() < shape.lanes) write_lane_words(block);
}
