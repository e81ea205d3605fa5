// Decoder of dense blocks: all blocks of a batch in one launch, a thread block for each.

#include "step.cuh"

constexpr unsigned LOWEST = 1u << 16, HALF = 0xFFFF;  // of rans.py

// Where a lane is read: its state, its next word, behind its last one.
struct Reader {
    unsigned x;
    Place at, end;
};

__device__ __forceinline__ Reader begin_states(const Block& block) {
    const Place at = block.begins[this_lane()], end = block.ends[this_lane()];
    return {unsigned(block.words[at]) << 16 | block.words[at + 1], at + 2, end};
}

// Read the next base; at its end the last word is read again.
__device__ __forceinline__ unsigned take_bases(const Lane& lane, const Half* words, Reader& reader) {
    const unsigned slot = reader.x & HALF;
    unsigned base = 0, first = 0, own = unsigned(lane.frequency[0]);
    for (int next = 1; next < 4; ++next) {
        if (slot < first + own) break;
        first += own;
        own = unsigned(lane.frequency[next]);
        base = unsigned(next);
    }
    reader.x = own * (reader.x >> 16) + slot - first;
    if (reader.x < LOWEST) {
        reader.x = reader.x << 16 | words[min(reader.at, reader.end - 1)];
        ++reader.at;
    }
    return base;
}

// Fill the bases of blocks; set broken[number] where lanes do not end as an encoder ends them.
extern "C" __global__ void __launch_bounds__(MOST_LANES)
    decode_block(const Block* blocks, const short* rows, const Half* powers, const int* direct,
                 const Row* hashed, const Byte* direct_class, const Byte* hashed_class,
                 unsigned* broken) {
    __shared__ Tables tables;
    const Block block = blocks[blockIdx.x];
    const Shape& shape = block.shape;
    const Logs logs = {rows, powers, direct, hashed, direct_class, hashed_class};
    const bool has_lane = this_lane() < shape.lanes;
    new_tables(tables);
    Lane lane = new_lane();
    Reader reader = {LOWEST, 0, 0};
    if (has_lane) reader = begin_states(block);
    __syncthreads();
    for (Place now = 0; now < shape.steps; ++now) {
        const bool there = is_there(shape, now);
        unsigned base = 0;
        if (there) {
            predict_bases(block, tables, logs, lane, int(now));
            base = take_bases(lane, block.words, reader);
            block.codes[this_lane() * shape.stride + now] = Byte(base);
        }
        learn_bases(block, tables, lane, base, int(now), there);
    }
    const bool is_whole = reader.x == LOWEST && reader.at == reader.end;
    const bool all_whole = __syncthreads_and(is_whole);
    if (threadIdx.x == 0) broken[block.number] = !all_whole;
}
