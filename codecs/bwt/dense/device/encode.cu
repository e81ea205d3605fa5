// Encoder of dense blocks (SPEC.md, Dense): all blocks of a batch in one launch, half a warp each.
//
// Of a segment decisions are recorded with their probabilities, then coded backwards. Words take
// the place of records: of a step there are at most as many, and its records have been read.

#include "lanes/device/runs.cuh"
#include "lane_states.cuh"

constexpr int SHIFT = 8, SHIFTS = 31;  // of tables.py
constexpr int DECISION = 15;           // bit of a record, above the probability of 1
constexpr Place TOO_LONG = -1;

// A block, as gpu_encode.py fills it.
struct DenseBlock {
    Tokens tokens;
    Model model;
    const Byte* labels;  // of symbols
    Half* records;       // (steps, LANES), of a segment
    Half* out;           // (most,)
    Place most;          // words that the block may take
};

// A segment's steps, or its words: where they lie in its records.
struct Coded {
    Place first, end;
};

__device__ __forceinline__ void begin_run_at(const RunBlock& runs, const DenseBlock& block,
                                             Lane& lane) {
    const int label = block.labels[runs.symbols[lane.at]];
    const unsigned length = unsigned(length_of(runs, lane.at));
    begin_run(block.tokens, lane, label, runs.ranks[lane.at], length);
}

// Where a lane stands before its first token; one of one symbol is at its end.
__device__ __forceinline__ Lane begin_runs(const RunBlock& runs, const DenseBlock& block) {
    const int k = int(this_lane());
    Lane lane = {AT_END, NOWHERE, 0, LOWEST};
    if (k >= runs.n_lanes) return lane;
    begin_lane(block.model, lane, runs.starts[k], runs.starts[k + 1]);
    if (runs.sizes[k] > 1) begin_run_at(runs, block, lane);
    return lane;
}

// The decision of a lane: is there more, or the next bit.
__device__ __forceinline__ bool next_bit(const Lane& lane) {
    const unsigned rest = lane.value >> (lane.place >> SHIFT & SHIFTS);
    return lane.place & IN_BITS ? rest & 1 : rest > 0;
}

// Go to the next place, and to the next run behind a length.
__device__ __forceinline__ void go_on(const RunBlock& runs, const DenseBlock& block, Lane& lane,
                                      bool bit) {
    lane.place = block.tokens.following[2 * (lane.place >> NUMBER) + bit];
    if (!(lane.place & DONE)) return;
    const int length = int(length_of(runs, lane.at));
    if (!(lane.place & IS_LENGTH)) {
        begin_length(block.tokens, lane, runs.ranks[lane.at], unsigned(length));
        return;
    }
    end_run(lane, length);
    if (++lane.at == lane.end)
        end_lane(lane);
    else
        begin_run_at(runs, block, lane);
}

// Record the decisions of a segment; return its steps.
__device__ __forceinline__ int record_decisions(const RunBlock& runs, const DenseBlock& block,
                                                Lane& lane, Row* weights) {
    int step = 0;
    for (; step < STEPS && __any_sync(HALF_WARP, has_decisions(lane)); ++step) {
        const bool is_there = has_decisions(lane);
        const unsigned state = state_of(lane);
        const Counts counts = counts_of(block.model, lane, state, weights);
        Read read = {};
        if (is_there) read = predict_decisions(counts);
        const bool bit = is_there && next_bit(lane);
        block.records[step * LANES + this_lane()] = Half(read.p | int(bit) << DECISION);
        learn_decisions(counts, read, state, bit);
        if (is_there) go_on(runs, block, lane, bit);
    }
    return step;
}

// Put a decision into a state; one of probability 0 changes nothing.
__device__ __forceinline__ void put_bit(Lane& lane, unsigned p, bool bit) {
    const unsigned width = bit ? p : (1u << P_BITS) - p, quotient = lane.x / width;
    lane.x = (quotient << P_BITS) + (lane.x - quotient * width) + (bit ? 0 : p);
}

// Code a segment backwards; return where its words are.
__device__ __forceinline__ Coded code_back(const DenseBlock& block, Lane& lane, int steps) {
    const Place end = Place(steps) * LANES;
    Place at = end;
    for (int step = steps - 1; step >= 0; --step) {
        const unsigned each = block.records[step * LANES + this_lane()];
        const unsigned p = each & ((1u << DECISION) - 1);
        const bool bit = each >> DECISION;
        const bool is_full = lane.x >> (32 - P_BITS) >= (bit ? p : (1u << P_BITS) - p);
        const unsigned full = __ballot_sync(HALF_WARP, is_full);
        at -= __popc(full);
        __syncwarp(HALF_WARP);  // all have read
        if (is_full) {
            block.records[at + __popc(full & ((1u << this_lane()) - 1))] = Half(lane.x);
            lane.x >>= 16;
        }
        put_bit(lane, p, bit);
    }
    __syncwarp(HALF_WARP);  // all is written
    return {at, end};
}

// Write a segment, behind `at` words; return where it ends, TOO_LONG where that is too far.
__device__ __forceinline__ Place write(const DenseBlock& block, const Lane& lane, int n_lanes,
                                       const Coded& coded, Place at) {
    const int k = int(this_lane());
    const Place first = at + 2 * n_lanes, end = first + coded.end - coded.first;
    if (end > block.most) return TOO_LONG;
    if (k < n_lanes) {
        block.out[at + 2 * k] = Half(lane.x);
        block.out[at + 2 * k + 1] = Half(lane.x >> 16);
    }
    for (Place i = k; first + i < end; i += LANES)
        block.out[first + i] = block.records[coded.first + i];
    __syncwarp(HALF_WARP);  // records may go
    return end;
}

// Encode blocks; n_words : (n_blocks,), of each, TOO_LONG where there is no room for them.
extern "C" __global__ void __launch_bounds__(LANES)
    encode_tokens(const RunBlock* all_runs, const DenseBlock* blocks, const Row* packed_weights,
                  Place* n_words) {
    __shared__ Row weights[NODES * LANES];
    const RunBlock runs = all_runs[blockIdx.x];
    const DenseBlock block = blocks[blockIdx.x];
    begin_weights(packed_weights, weights);
    Lane lane = begin_runs(runs, block);
    Place at = block.most < 0 ? TOO_LONG : 0;
    while (at != TOO_LONG && __any_sync(HALF_WARP, has_decisions(lane))) {
        const int steps = record_decisions(runs, block, lane, weights);
        lane.x = LOWEST;
        const Coded coded = code_back(block, lane, steps);
        at = write(block, lane, int(runs.n_lanes), coded, at);
    }
    if (this_lane() == 0) n_words[blockIdx.x] = at;
}
