// Decoder of dense blocks (SPEC.md, Dense): all blocks of a batch in one launch.
//
// Half a warp for each block, and a thread block of its own: two blocks in a warp would wait for
// each other where they branch, and there are fewer blocks than a device has room for.

#include "lane_states.cuh"

constexpr int RIGHT = 0, CUT_OFF = 1, NO_STATES = 2, NO_WORDS = 3, LEFT = 4;  // statuses

// A block, as gpu_decode.py fills it.
struct Block {
    const Half* words;  // of its segments
    Place n_bytes;      // of these
    Byte* out;
    Tokens tokens;
    Place n_lanes;
    const Byte* octets;
    const Place *bounds, *sizes;
    Row* lists;
    Model model;
};

// A lane that is decoded.
struct Reader : Lane {
    Place size;
    Row* list;
};

// Write a run and go on to the next one; false where it is too long.
__device__ __forceinline__ bool end(const Block& block, Reader& lane) {
    const int length = int(lane.value);
    if (length > lane.end - lane.at) return false;
    fill(block.out + lane.at, length, block.octets[lane.label]);
    end_run(lane, length);
    lane.at += length;
    if (lane.at == lane.end) {
        end_lane(lane);
        return true;
    }
    move_back(lane.list, lane.rank);
    begin_run(block.tokens, lane, int(lane.list[0] & 255), 1, 1);
    return true;
}

// Go to the next place; false where a token is wrong.
__device__ __forceinline__ bool go_on(const Block& block, Reader& lane, bool bit) {
    if (lane.place & IN_BITS) lane.value = 2 * lane.value + bit;
    lane.place = block.tokens.following[2 * (lane.place >> NUMBER) + bit];
    if (!(lane.place & DONE)) return true;
    if (lane.place & IS_LENGTH) return end(block, lane);
    if (lane.value >= lane.size) return false;
    begin_length(block.tokens, lane, int(lane.value), 1);
    return true;
}

// Where a lane stands before its first token; one of one symbol is filled.
__device__ __forceinline__ Reader begin_runs(const Block& block) {
    const int k = int(this_lane());
    Reader lane = {{AT_END, NOWHERE, 0, LOWEST}};
    if (k >= block.n_lanes) return lane;
    begin_lane(block.model, lane, block.bounds[k], block.bounds[k + 1]);
    lane.size = block.sizes[k];
    lane.list = block.lists + k * LIST_WORDS;
    if (lane.size > 1) begin_run(block.tokens, lane, int(lane.list[0] & 255), 1, 1);
    if (lane.size == 1)
        fill(block.out + lane.at, lane.end - lane.at, block.octets[lane.list[0] & 255]);
    return lane;
}

// Read the states that a segment begins with; at : words read, of all lanes.
__device__ __forceinline__ int begin_states(const Block& block, Reader& lane, Place& at) {
    if (at + 2 * block.n_lanes > block.n_bytes / 2) return CUT_OFF;
    const Half* own = block.words + at + 2 * this_lane();
    lane.x = LOWEST;
    if (this_lane() < block.n_lanes) lane.x = unsigned(own[1]) << 16 | own[0];
    at += 2 * block.n_lanes;
    return __any_sync(HALF_WARP, lane.x < LOWEST) ? NO_STATES : RIGHT;
}

// Take a decision from the state of a lane.
__device__ __forceinline__ bool take_bit(Reader& lane, unsigned p) {
    const unsigned slot = lane.x & ((1u << P_BITS) - 1), above = lane.x >> P_BITS;
    const bool bit = slot < p;
    lane.x = bit ? above * p + slot : above * ((1u << P_BITS) - p) + slot - p;
    return bit;
}

// Let each lane that has to take a word; false where there are too few.
__device__ __forceinline__ bool take_words(const Block& block, Reader& lane, Place& at) {
    const unsigned empty = __ballot_sync(HALF_WARP, lane.x < LOWEST);
    const Place first = at;
    at += __popc(empty);
    if (at > block.n_bytes / 2) return false;
    const unsigned before = empty & ((1u << this_lane()) - 1);
    if (lane.x < LOWEST) lane.x = lane.x << 16 | block.words[first + __popc(before)];
    return true;
}

// Decode a segment; false where it is none.
__device__ __forceinline__ bool replay(const Block& block, Reader& lane, Row* weights, Place& at) {
    for (int step = 0; step < STEPS && __any_sync(HALF_WARP, has_decisions(lane)); ++step) {
        const bool is_there = has_decisions(lane);
        const unsigned state = state_of(lane);
        const Counts counts = counts_of(block.model, lane, state, weights);
        Read read = {};
        if (is_there) read = predict_decisions(counts);
        const bool bit = take_bit(lane, unsigned(read.p));  // 0 of a lane at its end: it stays
        if (!take_words(block, lane, at)) return false;
        learn_decisions(counts, read, state, bit);
        const bool is_right = !is_there || go_on(block, lane, bit);
        if (__any_sync(HALF_WARP, !is_right)) return false;
    }
    return __all_sync(HALF_WARP, lane.x == LOWEST);
}

// Fill blocks; statuses : (n_blocks,), what is wrong with each.
extern "C" __global__ void __launch_bounds__(LANES)
    decode_tokens(const Block* blocks, const Row* packed_weights, unsigned* statuses) {
    __shared__ Row weights[NODES * LANES];  // a column for each lane
    const Block block = blocks[blockIdx.x];
    begin_weights(packed_weights, weights);
    Reader lane = begin_runs(block);
    Place at = 0;
    int status = RIGHT;
    while (status == RIGHT && __any_sync(HALF_WARP, has_decisions(lane))) {
        status = begin_states(block, lane, at);
        if (status == RIGHT && !replay(block, lane, weights, at)) status = NO_WORDS;
    }
    if (status == RIGHT && 2 * at != block.n_bytes) status = LEFT;
    if (this_lane() == 0) statuses[blockIdx.x] = unsigned(status);
}
