// Where lanes stand in their runs, as contexts.py has it: what encoder and decoder share.

#include "model.cuh"

constexpr int STEPS = 1 << 18;          // of segments.py
constexpr int NUMBER = 16, NODE = 127;  // of tables.py
constexpr unsigned IN_BITS = 1 << 7, IS_LENGTH = 1 << 13, DONE = 1 << 14, AT_END = 0;
constexpr int HISTORY_BITS = 4, HISTORY = 15, MOST_LENGTH_HISTORY = 7;
constexpr int RANK_SCALE = 100, LENGTH_SCALE = 256;
constexpr int RANK_KINDS = 6, HISTORY_KINDS = 8, LENGTH_KINDS = 3;  // of contexts.py

// Decision trees of a block's tokens: contexts.TokenTrees.
struct Tokens {
    const unsigned* following;
    Place rank, length, has_ranks;
};

// What is learned of a block; symbols : rows of each lane.
struct Model {
    Place symbols;
    unsigned *states, *own;
    Byte* histories;
};

// State of a lane: contexts.LaneStates.
struct Lane {
    unsigned place, state, value, x;
    int label, rank, ranks, lengths, width;
    Place at, end;  // bytes of decoders, runs of encoders
    unsigned* own;
    Byte* histories;
};

__device__ __forceinline__ bool has_decisions(const Lane& lane) {
    return lane.place >> NUMBER > 0;
}

__device__ __forceinline__ int rank_class(int rank) {
    return (rank >= 2) + (rank >= 3) + (rank >= 4) + (rank >= 8) + (rank >= 16);
}

// Let a lane begin with nothing learned.
__device__ __forceinline__ void begin_lane(const Model& model, Lane& lane, Place at, Place end) {
    const int k = int(this_lane());
    lane.at = at;
    lane.end = end;
    lane.own = model.own + k * model.symbols * NODES;
    lane.histories = model.histories + k * model.symbols;
}

// Stand before the length of a run, behind its rank. A decoder gives 1 for what it does not know.
__device__ __forceinline__ void begin_length(const Tokens& tokens, Lane& lane, int rank,
                                             unsigned length) {
    const int history = min(lane.histories[lane.label] & HISTORY, MOST_LENGTH_HISTORY);
    const int state = (class_of(lane.lengths) * HISTORY_KINDS + history) * RANK_KINDS;
    lane.state = unsigned(RANK_STATES * RANK_NODES + (state + rank_class(rank)) * LENGTH_NODES -
                          RANK_NODES);
    lane.place = unsigned(tokens.length);
    lane.value = length;
    lane.rank = rank;
}

// Stand before a run.
__device__ __forceinline__ void begin_run(const Tokens& tokens, Lane& lane, int label, int rank,
                                          unsigned length) {
    lane.label = label;
    if (!tokens.has_ranks) {
        begin_length(tokens, lane, 1, length);
        return;
    }
    const int history = lane.histories[lane.label] >> HISTORY_BITS;
    const int state = class_of(lane.ranks) * HISTORY_KINDS + history;
    lane.state = unsigned((state * LENGTH_KINDS + min(lane.width, LENGTH_KINDS - 1)) * RANK_NODES);
    lane.place = unsigned(tokens.rank);
    lane.value = unsigned(rank);
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

// Where the counts of a lane's decision are; state : the place of its shared pair.
__device__ __forceinline__ Counts counts_of(const Model& model, const Lane& lane, unsigned state,
                                            Row* weights) {
    const int node = int(lane.place & NODE);
    return {model.states + state, lane.own + lane.label * NODES + node,
            weights + node * LANES + this_lane()};
}

__device__ __forceinline__ unsigned state_of(const Lane& lane) {
    return has_decisions(lane) ? lane.state + (lane.place & NODE) : NOWHERE;
}

// Fill the weights that lanes begin with, a column for each.
__device__ __forceinline__ void begin_weights(const Row* packed, Row* weights) {
    for (int node = 0; node < NODES; ++node) weights[node * LANES + this_lane()] = packed[node];
}
