// Counts and weights of decisions, as model.py has them: a thread for each lane of half a warp.

#include "lanes/device/lists.cuh"

constexpr int RANK_NODES = 52, NODES = 112, LENGTH_NODES = NODES - RANK_NODES;  // of tables.py
constexpr int RANK_STATES = 8 * 8 * 3, LENGTH_STATES = 8 * 8 * 6;
constexpr unsigned SHARED = RANK_STATES * RANK_NODES + LENGTH_STATES * LENGTH_NODES;
constexpr unsigned NOWHERE = SHARED;  // the counts of lanes that are at their ends: none

constexpr int HALF_WORD = 16, P_BITS = 14, WEIGHT_BITS = 14, STRETCH_SHIFT = 15;
constexpr unsigned PAIR = 1 | 1 << HALF_WORD, PAIR_FULL = 0x08000800, PAIR_REST = 0x7FFF7FFF;
constexpr int FAST_ONES = 6, SLOW_ZEROS = 12, SLOW_ONES = 22;
constexpr unsigned FAST_PAIR = 1 | 1 << FAST_ONES, SLOW_PAIR = 1 << SLOW_ZEROS | 1 << SLOW_ONES;
constexpr unsigned FAST_BITS = 0xFFF, FAST_COUNT = 0x3F, SLOW_COUNT = 0x3FF;
constexpr unsigned FAST_LACK = 7 * FAST_PAIR, FAST_FULL = 32 * FAST_PAIR;
constexpr unsigned SLOW_FULL = 512 * SLOW_PAIR, FAST_REST = 0x7DF, SLOW_REST = 0x7FDFF000;
constexpr int Z_MOST = 12 * 256 - 1, MOST_WEIGHT = (1 << 15) - 1;
constexpr float TOTAL = 16383.0f;  // of ratios.py
constexpr int UNIT_BITS = 8, MANTISSA = 23, BIAS = 127;

// Where the counts and weights of a decision are.
struct Counts {
    unsigned *state, *own;
    Row* weights;
};

// What was read there, and the probability of 1 in 2^14.
struct Read {
    unsigned state, own;
    int stretched[3], weights[3];
    int p;
};

// floor(16383 / (1 + 2^(-z / 256))).
__device__ __forceinline__ int squash(int z) {
    const float power = __int_as_float((BIAS << MANTISSA) - z * (1 << (MANTISSA - UNIT_BITS)));
    return int(__fdiv_rn(TOTAL, __fadd_rn(power, 1.0f)));
}

// Logarithm of ones / zeros to the base 2, linear between powers, in 1/256.
__device__ __forceinline__ int stretch(unsigned zeros, unsigned ones) {
    return (__float_as_int(float(int(ones))) - __float_as_int(float(int(zeros)))) >> STRETCH_SHIFT;
}

__device__ __forceinline__ Read predict_decisions(const Counts& at) {
    Read read;
    const Row pairs = *at.weights;
    const unsigned state = *at.state, own = *at.own;
    read.state = state;
    read.own = own;
    read.stretched[0] = stretch(state & 0xFFFF, state >> HALF_WORD);
    read.stretched[1] = stretch(own >> SLOW_ZEROS & SLOW_COUNT, own >> SLOW_ONES);
    read.stretched[2] = stretch(own & FAST_COUNT, own >> FAST_ONES & FAST_COUNT);
    int z = 0;
    for (int i = 0; i < 3; ++i) {
        read.weights[i] = short(pairs >> HALF_WORD * i & 0xFFFF);
        z += read.stretched[i] * read.weights[i];
    }
    read.p = squash(max(min(z >> WEIGHT_BITS, Z_MOST), -Z_MOST));
    return read;
}

__device__ __forceinline__ Row moved(int weight, int error, int stretched) {
    const int to = weight + ((error * stretched + (1 << 14)) >> 15);
    return Row(unsigned(max(min(to, MOST_WEIGHT), -MOST_WEIGHT - 1)) & 0xFFFF);
}

// The pairs of a lane after a decision, halved where they are full.
__device__ __forceinline__ unsigned counted(unsigned own, bool bit) {
    own += bit ? 2u << SLOW_ONES | 2u << FAST_ONES : 2u << SLOW_ZEROS | 2u;
    const unsigned half = own >> 1;
    const unsigned slow = (own & SLOW_FULL) == 0 ? own & ~FAST_BITS : (half & SLOW_REST) | SLOW_PAIR;
    const bool is_fast = ((own + FAST_LACK) & FAST_FULL) == 0;
    return slow | (is_fast ? own & FAST_BITS : (half & FAST_REST) | FAST_PAIR);
}

// Count the decisions of all lanes; every lane comes here. state : the place of its shared pair.
//
// Lanes of one pair have read the same, and the lowest of them writes what becomes of it: this
// needs no atomics, and what it wrote lies in the nearest cache.
__device__ __forceinline__ void learn_decisions(const Counts& at, const Read& read, unsigned state,
                                                bool bit) {
    const bool is_alive = state != NOWHERE;
    const unsigned alike = __match_any_sync(HALF_WARP, state);
    const unsigned ones = __ballot_sync(HALF_WARP, bit) & alike;
    __syncwarp(HALF_WARP);  // all have read
    if (is_alive) {
        const int error = ((int(bit) << P_BITS) - read.p) >> 1;
        Row weights = 0;
        for (int i = 0; i < 3; ++i)
            weights |= moved(read.weights[i], error, read.stretched[i]) << HALF_WORD * i;
        *at.weights = weights;
        *at.own = counted(read.own, bit);
    }
    if (is_alive && __ffs(int(alike)) - 1 == int(this_lane())) {
        const unsigned all = unsigned(__popc(alike)), some = unsigned(__popc(ones));
        const unsigned pair = read.state + (some << (HALF_WORD + 1)) + ((all - some) << 1);
        *at.state = (pair & PAIR_FULL) == 0 ? pair : (pair >> 1 & PAIR_REST) | PAIR;
    }
    __syncwarp(HALF_WARP);  // all is written
}
