// Samples from which the encoder of "dense" chooses; the host's own functions choose.

#include "block.cuh"

constexpr int PREDICTORS = 15;

// A row of the table of samples of words: every `step`-th of the table of lanes.
struct Words {
    long long step, count, first;
};

// Copy words of each block.
extern "C" __global__ void __launch_bounds__(LANES)
    sample_words(const Words* samples, const Block* blocks, const Axis* axes, Word* out) {
    const Words own = samples[blockIdx.x];
    const Block block = blocks[blockIdx.x];
    for (long long i = threadIdx.x; i < own.count; i += LANES) {
        const unsigned word = unsigned(i * own.step), row = word / LANES;
        const unsigned strip = row / rows_of_strip(block);
        const Lane lane = lane_of_series(block, axes, strip * LANES + word % LANES);
        const Place place = place_of(block, lane, row % rows_of_strip(block));
        out[own.first + i] = Word(word_before<true>(block, lane, place, 0, 0));
    }
}

// What a block has of words that are not finite. `least` is all ones before, the others 0.
struct Odd {
    unsigned long long least, most, count;
};

// Find the least and the greatest word of each block that is not finite, and count them.
//
// owners : (tiles,) numbers of their blocks
extern "C" __global__ void __launch_bounds__(LANES)
    find_odd(const int* owners, const Block* blocks, const Axis* axes, Odd* odd) {
    const Block block = blocks[owners[blockIdx.x]];
    Odd* const own = odd + owners[blockIdx.x];
    Row least = ~Row(0), most = 0;
    int count = 0;
    for_tile(block, axes, unsigned(blockIdx.x - block.first_tile),
             [&](const Lane& lane, const Place& place, unsigned) {
                 const Row word = word_before<true>(block, lane, place, 0, 0);
                 if (is_finite(word)) return;
                 least = min(least, word);
                 most = max(most, word);
                 ++count;
             });
    if (count == 0) return;
    atomicMin(&own->least, (unsigned long long)(least));
    atomicMax(&own->most, (unsigned long long)(most));
    atomicAdd(&own->count, (unsigned long long)(count));
}

// List the words that are not finite, of the blocks that have room for them, in any order.
//
// places : of each block in the list; they move on
extern "C" __global__ void __launch_bounds__(LANES)
    list_odd(const int* owners, const Block* blocks, const Axis* axes,
             const unsigned long long* room, unsigned long long* places, Word* out) {
    unsigned long long* const own = places + owners[blockIdx.x];
    const Block block = blocks[owners[blockIdx.x]];
    if (room[owners[blockIdx.x]] == 0) return;
    for_tile(block, axes, unsigned(blockIdx.x - block.first_tile),
             [&](const Lane& lane, const Place& place, unsigned) {
                 const Row word = word_before<true>(block, lane, place, 0, 0);
                 if (!is_finite(word)) out[atomicAdd(own, 1ull)] = Word(word);
             });
}

// A row of the table of strips that are looked at: every `step`-th row of each.
struct Strip {
    long long block, strip, step, first;
};

// Bits that a word takes without a prediction; none of zeros and of the commonest word.
__device__ __forceinline__ int word_bits(Row word, const Series& series, Row commonest) {
    const Value value = split(word, false);
    if ((value.exponent == 0 && value.fraction == 0) || word == commonest) return 0;
    const int count = grid_bits(value.exponent, series);
    return 1 + (value.fraction << count == 0 ? count : FRACTION);
}

__device__ __forceinline__ int residual_bits(Row word, Row guess) {
    const Row d = ordered(word) - ordered(guess);
    return ROW_BITS - leading_zeros(d >> (BITS - 1) ? Row(0) - d : d);
}

// Add up the bits that each predictor leaves.
//
// costs : (strips, PREDICTORS, 32)
extern "C" __global__ void __launch_bounds__(LANES)
    add_costs(const Strip* strips, const Block* blocks, const Axis* axes, const Choice* choices,
              const double* terms, int* costs) {
    const Strip own = strips[blockIdx.x];
    const Block block = blocks[own.block];
    const Choice choice = choices[own.block];
    const Series series = begin_series(choice, false);
    const Lane lane = lane_of(block, axes, unsigned(own.strip));
    for (int p = 0; p < PREDICTORS; ++p) {
        Term of_p[MOST_TERMS];
        take_terms(of_p, terms, p);
        int sum = 0;
        for (unsigned row = 0; row < rows_of_strip(block); row += unsigned(own.step)) {
            const Place place = place_of(block, lane, row);
            const Row word = word_before<true>(block, lane, place, 0, 0);
            Row words[MOST_TERMS];
            if (p > 0) load_terms<true>(words, of_p, block, lane, place);
            sum += p > 0 ? residual_bits(word, guess_row(words, of_p))
                         : word_bits(word, series, Row(choice.commonest));
        }
        costs[((long long)(blockIdx.x) * PREDICTORS + p) * LANES + threadIdx.x] = sum;
    }
}

// Copy words or residuals of some rows, 32 of each row.
extern "C" __global__ void __launch_bounds__(LANES)
    sample_rows(const Strip* strips, const Block* blocks, const Axis* axes, const Choice* choices,
                const unsigned char* predictors, const double* terms, Word* out) {
    const Strip own = strips[blockIdx.x];
    const Block block = blocks[own.block];
    const unsigned first_lane = unsigned(own.strip) * LANES + threadIdx.x;
    const int predictor = predictors[choices[own.block].first_lane + first_lane];
    Term of_lane[MOST_TERMS];
    take_terms(of_lane, terms, predictor);
    const bool some = PREDICTS && __any_sync(~0u, predictor > 0);
    const Lane lane = lane_of(block, axes, unsigned(own.strip));
    Word* to = out + own.first + threadIdx.x;
    for (unsigned row = 0; row < rows_of_strip(block); row += unsigned(own.step), to += LANES) {
        const Place place = place_of(block, lane, row);
        const Row word = word_before<true>(block, lane, place, 0, 0);
        *to = Word(to_residuals(word, block, lane, place, predictor > 0, some, of_lane));
    }
}
