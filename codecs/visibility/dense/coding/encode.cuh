// Symbols and bits of the values of a block of the kind "dense", row by row: what is written, and
// what is counted to choose means by.

#include "block.cuh"

// A row of the table of pieces: rows of strips that are coded, `rows` from each place on.
struct Pieces {
    long long first, count, rows;
};

__device__ __forceinline__ int to_symbol(int octave, int quarter) {
    if (octave > -2) return (HIGHEST - octave) * 4 + quarter;
    return octave > -4 ? (-2 - octave) * 2 + (quarter >> 1) + HALVES : WHOLES - 4 - octave;
}

// A symbol and its extra bits, but for those of an escape.
struct Coded {
    int symbol, count;
    Row bits;
};

// The number on the grid and the units that a finite value is off it; no symbol where these are many.
__device__ __forceinline__ Coded encode_near_grid(Row word, int on_grid, int around,
                                               const Series& series) {
    const Row size = word & (WORD_MASK >> 1);
    const int dropped = FRACTION - on_grid;
    const Row rounded = (size + (ONE << dropped >> 1)) >> dropped << dropped;
    const Row off = size - rounded, units = min(off, Row(0) - off);
    const int there = int(rounded >> FRACTION), octave = there - around;
    const int full = grid_bits(there, series), length = ROW_BITS - leading_zeros(units);
    if (length > LENGTHS || full + length >= FRACTION) return {ESCAPE, 0, 0};
    if (octave > HIGHEST_NEAR_GRID || octave < LOWEST_NEAR_GRID) return {ESCAPE, 0, 0};
    const Row below = (rounded & ((ONE << FRACTION) - 1)) >> (FRACTION - full);
    const Row above = Row(off > units) | (units - (ONE << (length - 1))) << 1;
    const int symbol = NEAR_GRID + (HIGHEST_NEAR_GRID - octave) * LENGTHS + length - 1;
    return {symbol, full + length + 1, word >> (BITS - 1) | below << 1 | above << full << 1};
}

__device__ __forceinline__ Coded encode_value(Row word, const Value& value, int around,
                                              const Series& series, const Choice& choice) {
    const int octave = value.exponent - around;
    const int on_grid = grid_bits(value.exponent, series);
    const bool off = value.fraction << on_grid != 0;
    const bool far = octave > HIGHEST || octave < LOWEST;
    const bool is_float = !series.is_residual;
    if (word == 0) return {ZERO, 0, 0};
    if (is_float && (word & (WORD_MASK >> 1)) == 0) return {MINUS_ZERO, 0, 0};
    if (is_float && choice.has_commonest && word == Row(choice.commonest)) return {COMMONEST, 0, 0};
    if (far || (series.is_residual && value.exponent > LARGEST)) return {ESCAPE, 0, 0};
    if (off && choice.has_near_grid && value.exponent < series.limit) {
        const Coded coded = encode_near_grid(word, on_grid, around, series);
        if (coded.symbol != ESCAPE) return coded;
    }
    const int given = min(max((octave + 5) >> 1, 0), 2);
    const int left = max((off ? FRACTION : on_grid) - given, 0);
    const Row below = value.fraction << given >> 1 >> (ROW_BITS - 1 - left);
    const int symbol = to_symbol(octave, int(value.fraction >> (ROW_BITS - 2)));
    return {symbol + (off ? PLANE : 0), left + 1, below << 1 | word >> (BITS - 1)};
}

// Go through rows from one of a strip on; give each row's words and what codes them.
template <class Take>
__device__ __forceinline__ void encode_piece(const Block& block, const Axis* axes,
                                             const Choice& choice, unsigned first, unsigned count,
                                             const Series& series, const Term (&terms)[MOST_TERMS],
                                             Sizes& around, Take take) {
    const unsigned strip = first / rows_of_strip(block);
    const bool is_used = strip * LANES + threadIdx.x < unsigned(block.series);
    const bool some = PREDICTS && __any_sync(~0u, series.is_residual);
    const Lane lane = lane_of(block, axes, strip);
    Place place = place_of(block, lane, first % rows_of_strip(block));
    const int first_f = place.f;
    Row ahead = word_before<true>(block, lane, place, 0, 0);
    for (unsigned row = 0; row < count; ++row) {
        const Place here = place;
        const Row read = ahead;
        advance(place, block);
        ahead = word_before<true>(block, lane, place, 0, 0);  // 0 after the last row
        const Row word = to_residuals(read, block, lane, here, series.is_residual, some, terms);
        const int f = here.f - first_f;
        const Expected expected = begin_row(around, series, here.t, f);
        const Value value = split(word, series.is_residual);
        const Coded coded = encode_value(word, value, expected.exponent, series, choice);
        const bool has_size = coded.symbol < ZERO || coded.symbol > COMMONEST;
        around.keep_sizes(here.t, f, has_size ? size_words(value, series) : 0);
        take(first + row, is_used, word, value, series, expected.context, coded);
    }
}

// Go through all pieces of a block.
template <class Take>
__device__ __forceinline__ void encode_rows(const Block& block, const Axis* axes,
                                            const Choice& choice, const Pieces& pieces,
                                            const unsigned* places, const unsigned char* predictors,
                                            const double* terms, Sizes& around, Take take) {
    for (unsigned piece = 0; piece < unsigned(pieces.count); ++piece) {
        const unsigned first = places[pieces.first + piece], strip = first / rows_of_strip(block);
        const int predictor = predictors[choice.first_lane + strip * LANES + threadIdx.x];
        const Series series = begin_strip(choice, predictor > 0, around);
        Term own_terms[MOST_TERMS];
        take_terms(own_terms, terms, predictor);
        encode_piece(block, axes, choice, first, unsigned(pieces.rows), series, own_terms, around,
                     take);
    }
}

__device__ __forceinline__ void clear(unsigned* tally) {
    for (int i = threadIdx.x; i < TABLES * SYMBOLS; i += LANES) tally[i] = 0;
    __syncwarp();
}

__device__ __forceinline__ void write_tally(const unsigned* tally, unsigned* counts) {
    __syncwarp();
    for (int i = threadIdx.x; i < TABLES * SYMBOLS; i += LANES) counts[i] = tally[i];
}
