// The means of blocks of the kind "dense": what a sample takes under each kind of them. What is
// coded is made of the words again for each.

#include "coding/encode.cuh"

constexpr int KINDS = 5;  // of means

// Count symbols and bits of samples under each kind of means.
//
// counts : (blocks, KINDS, TABLES, SYMBOLS)
// n_bits : (blocks, KINDS)
// sizes : for each block twice what the means of one kind look at
extern "C" __global__ void __launch_bounds__(LANES, 16)
    try_means(const Block* blocks, const Axis* axes, const Choice* choices, const Pieces* pieces,
              const unsigned* places, const unsigned char* predictors, const double* terms,
              float* sizes, unsigned* counts, int* n_bits) {
    __shared__ unsigned tally[TABLES * SYMBOLS];
    const int number = int(blockIdx.x / KINDS), kind = int(blockIdx.x % KINDS);
    const Block block = blocks[number];
    const Choice choice = choices[number];
    const long long skipped = kind < SLOW ? kind * 2 * block.part_times * LANES : 0;
    Sizes around(sizes + choice.first_size + skipped, kind, int(block.part_times));
    clear(tally);
    int sum = 0;
    const auto count = [&](unsigned, bool is_used, Row, const Value& value, const Series& series,
                           int context, const Coded& coded) {
        if (!is_used) return;
        atomicAdd(&tally[context * SYMBOLS + coded.symbol], 1u);
        sum += coded.symbol == ESCAPE ? ESCAPED_HEAD + escaped_bits(value.exponent, series)
                                      : coded.count;
    };
    encode_rows(block, axes, choice, pieces[number], places, predictors, terms, around, count);
    write_tally(tally, counts + (long long)(blockIdx.x) * (TABLES * SYMBOLS));
    sum = sum_of_lanes(sum);
    if (threadIdx.x == 0) n_bits[blockIdx.x] = sum;
}
