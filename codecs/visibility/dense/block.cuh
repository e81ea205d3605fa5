// Kind "dense" of a block (SPEC.md): what its lanes are, sizes, scales and contexts, predictions.
//
// A warp takes a block, a lane per thread, and its rows one by one: each needs those before it.
// No lane looks at another one, so that sizes go to device memory and come back unwaited for.
// Floating point is rounded operation by operation: intrinsics are never contracted.
//
//   GS_BITS, GS_SWAP  as in lanes/table.cuh
//
// The format's constants are those of block.py, scale.py, symbols.py and values.py.

#include "lanes/table.cuh"

// kinds of means; from SLOW on they run along
constexpr int NEAR = 0, WIDE = 1, SLOW = 2, SLOWER = 3, LEVEL = 4;
constexpr int SOME_ZERO = 4, ALL_ZERO = 5, ALONE = 6, CONTEXTS = 7, TABLES = 2 * CONTEXTS;
constexpr int ZERO = 104, MINUS_ZERO = 105, COMMONEST = 106, ESCAPE = 107, NEAR_GRID = 108;
constexpr int PLANE = 52, HALVES = 24, WHOLES = 28;
constexpr int HIGHEST = 4, LOWEST = -27;  // octaves that symbols tell
constexpr int HIGHEST_NEAR_GRID = 3, LOWEST_NEAR_GRID = -10, LENGTHS = 8;
constexpr int SYMBOLS = NEAR_GRID + (HIGHEST_NEAR_GRID - LOWEST_NEAR_GRID + 1) * LENGTHS;
constexpr int ESCAPED_HEAD = 12;  // bits: sign and exponent of a value in full
constexpr int LARGEST = 55;       // exponent of a residual that a symbol tells
constexpr int PRECISION = 12, TOTAL = 1 << PRECISION, STRIDE = 256;  // of rANS tables (rans.py)
constexpr unsigned LOWEST_STATE = 1 << 16;
constexpr int MOST_TERMS = 5;
constexpr int NO_LIMIT = 1 << 12;  // an exponent that no residual has
constexpr bool PREDICTS = BITS > 16;
constexpr int WORD_BIAS = (1 << (BITS - 2 - FRACTION)) - 1;
constexpr int RING = 128;  // words of 32 bits: those of a row of escapes, and 32 more

// A row of the table of choices, as gpu_tables.py fills it: what a block's head says.
struct Choice {
    long long means;
    long long low, least, most;  // of bits of fractions on the grid (grid_limits)
    long long start_of_words, start_of_residuals;
    long long has_near_grid;  // symbols of values near the grid
    long long has_commonest, commonest;  // a word
    long long first_lane;  // in the table of predictors, 32 lanes a strip
    long long first_size;  // in the sizes of all blocks
};

// What holds for a lane in all rows of a strip.
struct Series {
    bool is_residual;
    int start, bias, low, least, most, limit, first;
};

__device__ __forceinline__ Series begin_series(const Choice& choice, bool is_residual) {
    if (is_residual)
        return {true, int(choice.start_of_residuals), 0, 0, 0, BITS, NO_LIMIT, CONTEXTS};
    return {false,
            int(choice.start_of_words) + WORD_BIAS,
            WORD_BIAS,
            int(choice.low),
            int(choice.least),
            int(choice.most),
            int(MOST_EXPONENT),
            0};
}

// Sizes of the rows before, of this lane; before the first ones nothing is looked at.
struct Sizes {
    float* ring;  // (2, times, 32): of two frequencies, in turn
    int kind, times;
    float last, second_last;     // of the rows before
    float before, below, after;  // of the frequency below, at times t - 1, t, t + 1
    float mean;                  // that runs along
    bool was_residual;           // in the strip that it ran along

    __device__ Sizes(float* sizes, int kind_, int times_)
        : ring(sizes + threadIdx.x),
          kind(kind_),
          times(times_),
          last(0),
          second_last(0),
          before(0),
          below(0),
          after(0),
          mean(0),
          was_residual(false) {}

    __device__ __forceinline__ float& at(int t, int f) const {
        return ring[unsigned((f & 1) * times + t) * LANES];
    }

    // Move on to a row. What only its successor needs is asked for, too: memory is far away.
    __device__ __forceinline__ void advance(int t, int f) {
        if (kind >= SLOW || f == 0) return;
        before = below;
        below = t == 0 ? at(0, f - 1) : after;
        if (t + 1 < times) after = at(t + 1, f - 1);
    }

    __device__ __forceinline__ void keep_sizes(int t, int f, float size) {
        second_last = last;
        last = size;
        if (kind < SLOW) at(t, f) = size;
    }
};

// Say what a lane is in a strip; running means of the other type say nothing of it.
__device__ __forceinline__ Series begin_strip(const Choice& choice, bool is_residual,
                                              Sizes& around) {
    if (is_residual != around.was_residual) around.mean = 0;
    around.was_residual = is_residual;
    return begin_series(choice, is_residual);
}

// Sums of sizes and of weights; zeros among near neighbours, and how many of these there are.
struct Scale {
    float sum, weight;
    int zeros, near;
};

__device__ __forceinline__ void add_neighbour(Scale& scale, float size, float weight) {
    scale.sum = __fadd_rn(scale.sum, __fmul_rn(weight, size));
    scale.weight = __fadd_rn(scale.weight, size > 0 ? weight : 0.0f);
}

__device__ __forceinline__ void add_near(Scale& scale, float size) {
    add_neighbour(scale, size, 2);
    scale.zeros += !(size > 0);
    ++scale.near;
}

__device__ __forceinline__ Scale add_neighbours(const Sizes& sizes, int t, int f) {
    Scale scale = {0, 0, 0, 0};
    if (t > 0) add_near(scale, sizes.last);
    if (f > 0) add_near(scale, sizes.below);
    if (sizes.kind != WIDE) return scale;
    if (t > 1) add_neighbour(scale, sizes.second_last, 1);
    if (f > 1) add_neighbour(scale, sizes.at(t, f - 2), 1);
    if (f > 0 && t > 0) add_neighbour(scale, sizes.before, 1);
    if (f > 0 && t + 1 < sizes.times) add_neighbour(scale, sizes.after, 1);
    return scale;
}

// What `add_neighbours` gives of a mean that runs along the series.
__device__ __forceinline__ Scale follow(Sizes& sizes, bool is_first) {
    const float size = sizes.last, rate = sizes.kind == SLOWER ? 1.0f / 16 : 1.0f / 4;
    if (!is_first && size > 0) {
        const float step = __fmul_rn(__fsub_rn(size, sizes.mean), rate);
        sizes.mean = sizes.mean > 0 ? __fadd_rn(sizes.mean, step) : size;
    }
    const float weight = sizes.mean > 0 ? 1 : 0;
    return {sizes.mean, weight, !is_first && !(size > 0), !is_first};
}

// The sum divided by the weight. Most kinds of means weigh by powers of two alone, of which the
// inverse is exact: the product is rounded as the quotient is, and division takes a dozen steps.
__device__ __forceinline__ float mean_of(const Scale& scale, int kind) {
    if (kind == WIDE) return __fdiv_rn(scale.sum, scale.weight);
    return __fmul_rn(scale.sum, scale.weight == 4 ? 0.25f : scale.weight == 2 ? 0.5f : 1.0f);
}

// An exponent, biased, and the table of symbols to use.
struct Expected {
    int exponent, context;
};

__device__ __forceinline__ Expected find_contexts(const Scale& scale, int kind,
                                                  const Series& series) {
    const bool some = scale.weight > 0;
    if (!some) return {series.start, series.first + (scale.zeros > 0 ? ALL_ZERO : ALONE)};
    const unsigned bits = __float_as_uint(mean_of(scale, kind));
    const int zeros = scale.zeros == scale.near ? ALL_ZERO : SOME_ZERO;
    const int exponent = int(bits >> 23) + series.bias - 127;
    const int above = min(max(exponent - series.start + 2, 0), 3);
    const int part = kind == LEVEL ? above : int(bits >> 21 & 3);
    return {kind == LEVEL ? series.start : exponent,
            series.first + (scale.zeros > 0 ? zeros : part)};
}

// What the rows before say of a row, the first one of a strip or not.
__device__ __forceinline__ Expected begin_row(Sizes& sizes, const Series& series, int t, int f) {
    sizes.advance(t, f);
    const bool is_first = t == 0 && f == 0;
    const Scale scale =
        sizes.kind >= SLOW ? follow(sizes, is_first) : add_neighbours(sizes, t, f);
    return find_contexts(scale, sizes.kind, series);
}

// An exponent, and a fraction from the top bit on.
struct Value {
    int exponent;
    Row fraction;
};

__device__ __forceinline__ Value split(Row word, bool is_residual) {
    if (!is_residual) return {int(word >> FRACTION & MOST_EXPONENT), word << (ROW_BITS - FRACTION)};
    const Row size = word >> (BITS - 1) ? Row(0) - word : word;
    const int zeros = leading_zeros(size);
    return {ROW_BITS - 1 - zeros, size << (zeros & (ROW_BITS - 1)) << 1};
}

__device__ __forceinline__ int grid_bits(int exponent, const Series& series) {
    return min(max(exponent - series.low, series.least), series.most);
}

__device__ __forceinline__ float size_words(const Value& value, const Series& series) {
    const int exponent = value.exponent;
    if (exponent == series.limit || (series.bias > 0 && exponent == 0)) return 0;
    const int code = min(max(exponent - series.bias + 127, 1), 254);
    return __uint_as_float(unsigned(code) << 23 | unsigned(value.fraction >> (ROW_BITS - 23)));
}

// Bits of the fraction of a value in full.
__device__ __forceinline__ int escaped_bits(int exponent, const Series& series) {
    return series.is_residual ? exponent : FRACTION;
}

// A neighbour that a prediction looks at: so many steps of time and frequency before.
struct Term {
    int back, down;
    double weight;
};

// terms : (predictors, MOST_TERMS, 3), those that a predictor lacks weigh 0 (predict.py)
__device__ __forceinline__ void take_terms(Term (&own)[MOST_TERMS], const double* terms,
                                           int predictor) {
    const double* const row = terms + predictor * MOST_TERMS * 3;
#pragma unroll
    for (int i = 0; i < MOST_TERMS; ++i)
        own[i] = {int(row[3 * i]), int(row[3 * i + 1]), row[3 * i + 2]};
}

// Load what a prediction looks at, 0 before the first time or frequency.
template <bool ONLY_READ>
__device__ __forceinline__ void load_terms(Row (&words)[MOST_TERMS], const Term (&terms)[MOST_TERMS],
                                           const Block& block, const Lane& lane,
                                           const Place& place) {
#pragma unroll
    for (int i = 0; i < MOST_TERMS; ++i)
        words[i] = terms[i].weight == 0
                       ? 0
                       : word_before<ONLY_READ>(block, lane, place, terms[i].back, terms[i].down);
}

__device__ __forceinline__ bool is_finite(Row word) {
    return (word >> FRACTION & MOST_EXPONENT) != MOST_EXPONENT;
}

__device__ __forceinline__ double finite_doubles(Row word) {
    if (!is_finite(word)) return 0;
#if GS_BITS == 64
    return __longlong_as_double((long long)(word));
#else
    return __uint_as_float(unsigned(word));
#endif
}

__device__ __forceinline__ Row rounded_words(double sum) {
#if GS_BITS == 64
    const Row word = Row(__double_as_longlong(sum));
#else
    const Row word = __float_as_uint(__double2float_rn(sum));
#endif
    return is_finite(word) ? word : 0;
}

// The word that is predicted. Terms that are absent add 0, which changes no sum that begins at +0.
__device__ __forceinline__ Row guess_row(const Row (&words)[MOST_TERMS],
                                         const Term (&terms)[MOST_TERMS]) {
    double sum = 0;
#pragma unroll
    for (int i = 0; i < MOST_TERMS; ++i)
        sum = __dadd_rn(sum, __dmul_rn(terms[i].weight, finite_doubles(words[i])));
    return rounded_words(sum);
}

// The integer that orders floats as they are ordered; its own inverse.
__device__ __forceinline__ Row ordered(Row word) {
    return word ^ Row(SignedRow(word) >> (ROW_BITS - 1)) >> 1;
}

// What is coded of a word at a place of a block that is only read: itself, or its residual.
__device__ __forceinline__ Row to_residuals(Row word, const Block& block, const Lane& lane,
                                        const Place& place, bool is_residual, bool some,
                                        const Term (&terms)[MOST_TERMS]) {
    if (!some) return word;
    Row words[MOST_TERMS];
    load_terms<true>(words, terms, block, lane, place);
    return is_residual ? ordered(word) - ordered(guess_row(words, terms)) : word;
}
