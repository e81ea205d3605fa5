// Decoder of dense blocks (SPEC.md, Dense): all blocks of a batch in one launch.
//
// Half a warp for each block, and a thread block of its own: two blocks in a warp would wait for
// each other where they branch, and there are fewer blocks than a device has room for.

#include "model.cuh"

constexpr int STEPS = 1 << 18;        // of segments.py
constexpr int NUMBER = 16, NODE = 127;  // of tables.py
constexpr unsigned IN_BITS = 1 << 7, IS_LENGTH = 1 << 13, DONE = 1 << 14, AT_END = 0;
constexpr int HISTORY_BITS = 4, HISTORY = 15, MOST_LENGTH_HISTORY = 7;
constexpr int RANK_SCALE = 100, LENGTH_SCALE = 256;
constexpr int RANK_KINDS = 6, HISTORY_KINDS = 8, LENGTH_KINDS = 3;  // of contexts.py
constexpr int RIGHT = 0, CUT_OFF = 1, NO_STATES = 2, NO_WORDS = 3, LEFT = 4;  // statuses

// A block, as gpu_decode.py fills it.
struct Block {
    const Half* words;  // of its segments
    Place n_bytes;      // of these
    Byte* out;
    const unsigned* following;  // `places` of contexts.TokenPlaces
    Place rank, length, has_ranks;
    Place n_lanes, symbols;
    const Byte* octets;
    const Place *bounds, *sizes;
    Row* lists;
    unsigned *states, *own;
    Byte* histories;
};

// Where a lane stands: contexts.Standing.
struct Lane {
    unsigned place, state, value, x;
    int label, rank, ranks, lengths, width;
    Place at, end, size;
    unsigned* own;
    Row* list;
    Byte* histories;
};

__device__ __forceinline__ bool is_alive(const Lane& lane) {
    return lane.place >> NUMBER > 0;
}

__device__ __forceinline__ int rank_class(int rank) {
    return (rank >= 2) + (rank >= 3) + (rank >= 4) + (rank >= 8) + (rank >= 16);
}

// Stand before the length of a run, behind its rank.
__device__ __forceinline__ void begin_length(const Block& block, Lane& lane, int rank) {
    const int history = min(lane.histories[lane.label] & HISTORY, MOST_LENGTH_HISTORY);
    const int state = (class_of(lane.lengths) * HISTORY_KINDS + history) * RANK_KINDS;
    lane.state = unsigned(RANK_STATES * RANK_NODES + (state + rank_class(rank)) * LENGTH_NODES -
                          RANK_NODES);
    lane.place = unsigned(block.length);
    lane.value = 1;
    lane.rank = rank;
}

// Stand before the next run, of the first symbol of the list.
__device__ __forceinline__ void begin_run(const Block& block, Lane& lane) {
    lane.label = int(lane.list[0] & 255);
    if (!block.has_ranks) {
        begin_length(block, lane, 1);
        return;
    }
    const int history = lane.histories[lane.label] >> HISTORY_BITS;
    const int state = class_of(lane.ranks) * HISTORY_KINDS + history;
    lane.state = unsigned((state * LENGTH_KINDS + min(lane.width, LENGTH_KINDS - 1)) * RANK_NODES);
    lane.place = unsigned(block.rank);
    lane.value = 1;
}

// Remember a run.
__device__ __forceinline__ void end_run(Lane& lane, int length) {
    const int bits = width(unsigned(length)), before = lane.histories[lane.label] & HISTORY;
    const int history = min(HISTORY, (2 * before + (bits ? 4 * bits + 3 : 1)) >> 2);
    lane.histories[lane.label] = Byte(width(unsigned(lane.rank)) << HISTORY_BITS | history);
    lane.ranks += ((min(lane.rank, 12) - 1) * RANK_SCALE - lane.ranks) >> 2;
    lane.lengths += (min(bits, 7) * LENGTH_SCALE - lane.lengths) >> 2;
    lane.width = bits;
}

__device__ __forceinline__ void end_lane(Lane& lane) {
    lane.place = AT_END;
    lane.state = NOWHERE;
}

// Write a run and go on to the next one; false where it is too long.
__device__ __forceinline__ bool end(const Block& block, Lane& lane) {
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
    begin_run(block, lane);
    return true;
}

// Go to the next place; false where a token is wrong.
__device__ __forceinline__ bool go_on(const Block& block, Lane& lane, bool bit) {
    if (lane.place & IN_BITS) lane.value = 2 * lane.value + bit;
    lane.place = block.following[2 * (lane.place >> NUMBER) + bit];
    if (!(lane.place & DONE)) return true;
    if (lane.place & IS_LENGTH) return end(block, lane);
    if (lane.value >= lane.size) return false;
    begin_length(block, lane, int(lane.value));
    return true;
}

// Where a lane stands before its first token; one of one symbol is filled.
__device__ __forceinline__ Lane begin(const Block& block) {
    const int k = int(this_lane());
    Lane lane = {AT_END, NOWHERE, 0, LOWEST};
    if (k >= block.n_lanes) return lane;
    lane.at = block.bounds[k];
    lane.end = block.bounds[k + 1];
    lane.size = block.sizes[k];
    lane.own = block.own + k * block.symbols * NODES;
    lane.list = block.lists + k * LIST_WORDS;
    lane.histories = block.histories + k * block.symbols;
    if (lane.size > 1) begin_run(block, lane);
    if (lane.size == 1)
        fill(block.out + lane.at, lane.end - lane.at, block.octets[lane.list[0] & 255]);
    return lane;
}

// Read the states that a segment begins with; at : words read, of all lanes.
__device__ __forceinline__ int begin_states(const Block& block, Lane& lane, Place& at) {
    if (at + 2 * block.n_lanes > block.n_bytes / 2) return CUT_OFF;
    const Half* own = block.words + at + 2 * this_lane();
    lane.x = LOWEST;
    if (this_lane() < block.n_lanes) lane.x = unsigned(own[1]) << 16 | own[0];
    at += 2 * block.n_lanes;
    return __any_sync(HALF_WARP, lane.x < LOWEST) ? NO_STATES : RIGHT;
}

// Take a decision from the state of a lane.
__device__ __forceinline__ bool take_bit(Lane& lane, unsigned p) {
    const unsigned slot = lane.x & ((1u << P_BITS) - 1), above = lane.x >> P_BITS;
    const bool bit = slot < p;
    lane.x = bit ? above * p + slot : above * ((1u << P_BITS) - p) + slot - p;
    return bit;
}

// Let each lane that has to take a word; false where there are too few.
__device__ __forceinline__ bool take_words(const Block& block, Lane& lane, Place& at) {
    const unsigned empty = __ballot_sync(HALF_WARP, lane.x < LOWEST);
    const Place first = at;
    at += __popc(empty);
    if (at > block.n_bytes / 2) return false;
    const unsigned before = empty & ((1u << this_lane()) - 1);
    if (lane.x < LOWEST) lane.x = lane.x << 16 | block.words[first + __popc(before)];
    return true;
}

// Decode a segment; false where it is none.
__device__ __forceinline__ bool replay(const Block& block, Lane& lane, Row* weights, Place& at) {
    for (int step = 0; step < STEPS && __any_sync(HALF_WARP, is_alive(lane)); ++step) {
        const bool is_there = is_alive(lane);
        const int node = int(lane.place & NODE);
        const unsigned state = is_there ? lane.state + unsigned(node) : NOWHERE;
        const Counts counts = {block.states + state, lane.own + lane.label * NODES + node,
                               weights + node * LANES + this_lane()};
        Read read = {};
        if (is_there) read = predict(counts);
        const bool bit = take_bit(lane, unsigned(read.p));  // 0 of a lane at its end: it stays
        if (!take_words(block, lane, at)) return false;
        learn(counts, read, state, bit);
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
    for (int node = 0; node < NODES; ++node)
        weights[node * LANES + int(this_lane())] = packed_weights[node];
    Lane lane = begin(block);
    Place at = 0;
    int status = RIGHT;
    while (status == RIGHT && __any_sync(HALF_WARP, is_alive(lane))) {
        status = begin_states(block, lane, at);
        if (status == RIGHT && !replay(block, lane, weights, at)) status = NO_WORDS;
    }
    if (status == RIGHT && 2 * at != block.n_bytes) status = LEFT;
    if (this_lane() == 0) statuses[blockIdx.x] = unsigned(status);
}
