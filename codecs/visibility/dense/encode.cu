// Encoder of blocks of the kind "dense": the means that take the fewest bits, symbols and bits
// from the first value on, the stream from the last one on, and all of it side by side.
//
// Symbols with their contexts are stored, 2 bytes a value: the stream is written backwards, whereas
// means run forwards. What they are made of is read again for each kind of means.
//
// With near means and no predictions that is some 250 instructions a word on sm_90 for symbols and
// bits, and 90 for the stream, counted in the machine code; a prediction takes 100 more. Nothing
// has been measured.

#include "block.cuh"

constexpr int KINDS = 5;      // of means
constexpr int THREADS = 256;  // that copy a payload

// A row of the table of pieces: rows of strips that are coded, `rows` from each place on.
struct Pieces {
    long long first, count, rows;
};

// Bits that the lanes of a warp write, least significant first, by way of shared memory. It counts
// on beyond its room and writes nothing there.
struct Pending {
    unsigned* words;
    unsigned* ring;  // of zeros but for what is pending
    unsigned room, full;
    int used;  // bits that are pending after the words that are full

    __device__ Pending(unsigned* words_, long long room_, unsigned* ring_)
        : words(words_), ring(ring_), room(unsigned(room_)), full(0), used(0) {
        for (int i = threadIdx.x; i < RING; i += LANES) ring[i] = 0;
        __syncwarp();
    }

    __device__ __forceinline__ void add(int word, unsigned bits) const {
        if (bits) atomicOr(&ring[(full + unsigned(word)) % RING], bits);
    }

    // Put a value some bits after those that are pending.
    __device__ __forceinline__ void put(int bit, Row value) const {
        const int word = (used + bit) >> 5, shift = (used + bit) & 31;
        const unsigned low = unsigned(value), high = unsigned(value >> 1 >> 31);
        add(word, low << shift);
        add(word + 1, __funnelshift_l(low, high, shift));
        if (ROW_BITS == 64) add(word + 2, __funnelshift_l(high, 0, shift));
    }

    // Let bits be pending that all lanes have put; write what is full.
    __device__ __forceinline__ void grow(int count) {
        used += count;
        if (used < 32 * LANES) return;
        __syncwarp();
#pragma unroll 1
        for (; used >= 32 * LANES; used -= 32 * LANES, full += LANES) write();
        __syncwarp();
    }

    __device__ __forceinline__ void write() const {
        unsigned* const own = ring + (full + threadIdx.x) % RING;
        if (full + threadIdx.x < room) words[full + threadIdx.x] = *own;
        *own = 0;
    }

    __device__ __forceinline__ void finish() const {
        __syncwarp();
        write();
    }

    __device__ __forceinline__ long long bytes() const {
        return (32LL * full + used + 7) / 8;
    }
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

// Bits of a value in full.
__device__ __forceinline__ int escaped_bits(const Value& value, const Series& series) {
    return ESCAPED_HEAD + (series.is_residual ? value.exponent : FRACTION);
}

__device__ __forceinline__ void put_escape(const Pending& bits, int at, Row word, const Value& value,
                                           const Series& series) {
    bits.put(at, Row(value.exponent) << 1 | word >> (BITS - 1));
    const int count = escaped_bits(value, series) - ESCAPED_HEAD, upper = min(count, 32);
    bits.put(at + ESCAPED_HEAD, value.fraction >> 1 >> (ROW_BITS - 1 - upper));
    if (count == upper) return;
    const Row rest = value.fraction << (upper & (ROW_BITS - 1));
    bits.put(at + ESCAPED_HEAD + upper, rest >> (ROW_BITS - (count - upper)));
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
        const Row word = value_of(read, block, lane, here, series.is_residual, some, terms);
        const int f = here.f - first_f;
        const Expected expected = begin_row(around, series, here.t, f);
        const Value value = split(word, series.is_residual);
        const Coded coded = encode_value(word, value, expected.exponent, series, choice);
        const bool has_size = coded.symbol < ZERO || coded.symbol > COMMONEST;
        around.keep(here.t, f, has_size ? size_of(value, series) : 0);
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
        sum += coded.symbol == ESCAPE ? escaped_bits(value, series) : coded.count;
    };
    encode_rows(block, axes, choice, pieces[number], places, predictors, terms, around, count);
    write_tally(tally, counts + (long long)(blockIdx.x) * (TABLES * SYMBOLS));
    sum = sum_of_warp(sum);
    if (threadIdx.x == 0) n_bits[blockIdx.x] = sum;
}

// A row of the table of places to write to: counts of items, and rooms, of each block.
struct Output {
    long long first_symbol, first_word, words, first_item, items;
};

// Write bits of all values, keep their symbols with contexts, and count these.
//
// symbols : (rows, 32) of all blocks, context * STRIDE + symbol
// n_bytes : of the bits of each block
extern "C" __global__ void __launch_bounds__(LANES, 16)
    code_rows(const Block* blocks, const Axis* axes, const Choice* choices, const Pieces* pieces,
              const unsigned* places, const unsigned char* predictors, const double* terms,
              const Output* outputs, float* sizes, unsigned short* symbols, unsigned* bits,
              unsigned* counts, long long* n_bytes) {
    __shared__ unsigned tally[TABLES * SYMBOLS];
    __shared__ unsigned ring[RING];
    const Block block = blocks[blockIdx.x];
    const Choice choice = choices[blockIdx.x];
    const Output output = outputs[blockIdx.x];
    Sizes around(sizes + choice.first_size, int(choice.means), int(block.part_times));
    Pending pending(bits + output.first_word, output.words, ring);
    clear(tally);
    const auto write = [&](unsigned row, bool is_used, Row word, const Value& value,
                           const Series& series, int context, const Coded& coded) {
        const bool is_escape = is_used && coded.symbol == ESCAPE;
        const int own = is_escape ? escaped_bits(value, series) : is_used ? coded.count : 0;
        const int before = sum_before(own);
        if (is_escape)
            put_escape(pending, before, word, value, series);
        else if (own > 0)
            pending.put(before, coded.bits);
        if (is_used) {
            atomicAdd(&tally[context * SYMBOLS + coded.symbol], 1u);
            symbols[output.first_symbol + (long long)(row) * LANES + threadIdx.x] =
                (unsigned short)(context * STRIDE + coded.symbol);
        }
        pending.grow(__shfl_sync(~0u, before + own, LANES - 1));
    };
    encode_rows(block, axes, choice, pieces[blockIdx.x], places, predictors, terms, around, write);
    pending.finish();
    write_tally(tally, counts + (long long)(blockIdx.x) * (TABLES * SYMBOLS));
    if (threadIdx.x == 0) n_bytes[blockIdx.x] = pending.bytes();
}

// Write the stream of each block, from the end of its room backwards; count its items.
//
// firsts : (blocks, TABLES, STRIDE) first slots, as the decoder has them
// states : (blocks, 32), what the decoder begins with
extern "C" __global__ void __launch_bounds__(LANES, 16)
    push_rows(const Block* blocks, const Output* outputs, const unsigned short* firsts,
              const unsigned short* symbols, unsigned short* stream, unsigned* states,
              long long* n_items) {
    __shared__ unsigned short own_firsts[TABLES * STRIDE];
    const Block block = blocks[blockIdx.x];
    const Output output = outputs[blockIdx.x];
    for (int i = threadIdx.x; i < TABLES * STRIDE; i += LANES)
        own_firsts[i] = firsts[(long long)(blockIdx.x) * (TABLES * STRIDE) + i];
    __syncwarp();
    unsigned state = LOWEST_STATE;
    long long at = output.items;
    const unsigned per_strip = rows_of_strip(block);
    for (int strip = int(unsigned(block.rows) / per_strip) - 1; strip >= 0; --strip) {
        const bool is_used = strip * LANES + threadIdx.x < unsigned(block.series);
        const unsigned short* const own =
            symbols + output.first_symbol + (long long)(strip) * per_strip * LANES + threadIdx.x;
        unsigned ahead = is_used ? own[(long long)(per_strip - 1) * LANES] : 0;
        for (unsigned row = per_strip; row-- > 0;) {
            const unsigned place = ahead;
            if (is_used && row > 0) ahead = own[(long long)(row - 1) * LANES];
            const unsigned first = own_firsts[place];
            const unsigned frequency = is_used ? own_firsts[place + 1] - first : 1;
            const bool is_long = is_used && state >> (32 - PRECISION) >= frequency;
            const unsigned all = __ballot_sync(~0u, is_long);
            at -= __popc(all);
            const long long item = at + __popc(all & ((1u << threadIdx.x) - 1));
            if (is_long && item >= 0) stream[output.first_item + item] = (unsigned short)(state);
            if (is_long) state >>= 16;
            if (is_used) state = (state / frequency << PRECISION) + state % frequency + first;
        }
    }
    states[blockIdx.x * LANES + threadIdx.x] = state;
    if (threadIdx.x == 0) n_items[blockIdx.x] = output.items - at;
}

// A row of the table of copies, in bytes.
struct Copy {
    long long bits, n_bits, to_bits, stream, n_stream, to_stream;
};

// Put bits and streams where they belong in the payloads of all blocks.
extern "C" __global__ void __launch_bounds__(THREADS)
    join_parts(const Copy* copies, const unsigned char* bits, const unsigned char* stream,
               unsigned char* out) {
    const Copy own = copies[blockIdx.x];
    for (long long i = threadIdx.x; i < own.n_bits; i += THREADS)
        out[own.to_bits + i] = bits[own.bits + i];
    for (long long i = threadIdx.x; i < own.n_stream; i += THREADS)
        out[own.to_stream + i] = stream[own.stream + i];
}
