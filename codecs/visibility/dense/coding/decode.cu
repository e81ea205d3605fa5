// Decoder of blocks of the kind "dense": all blocks of a batch in one launch, a warp a block.
//
// The host has checked heads and tables. Whatever the payload says, loads stay in the batch's
// bytes, stores in the block, and every loop ends with the rows.
//
// With near means and no predictions that is some 330 instructions a word on sm_90, counted in the
// machine code; a prediction takes 100 more. Nothing has been measured.

#include "block.cuh"

constexpr int BUCKET_BITS = 5, BUCKETS = TOTAL >> BUCKET_BITS;  // of slots, to find a symbol by
constexpr int BUCKET_STRIDE = BUCKETS + 4;                      // one more, and no two in one bank

// A row of the table of payloads, in bytes of the data.
struct Sections {
    long long states, bits, bits_bytes, stream, stream_bytes;
};

// Bits that the lanes of a warp read, least significant first, in shared memory.
//
// The words after those of the ring wait in a register of each lane.
struct Window {
    const unsigned* words;  // the one that the bits begin in
    unsigned* ring;
    unsigned first, last;  // word that the ring begins with; that may be read
    unsigned ahead;
    int begin, offset;  // of the bits in the first word of all; of the next one in the ring

    __device__ Window(const unsigned char* data, long long n_words, long long byte, unsigned* ring_)
        : words(reinterpret_cast<const unsigned*>(data) + (byte >> 2)),
          ring(ring_),
          first(0),
          last(unsigned(min(n_words - 1 - (byte >> 2), 0x7FFFFFFFll))),  // of a block enough
          begin(8 * int(byte & 3)),
          offset(begin) {
        for (unsigned i = threadIdx.x; i < RING; i += LANES) ring[i] = __ldg(words + min(i, last));
        ahead = __ldg(words + min(RING + threadIdx.x, last));
        __syncwarp();
    }

    __device__ __forceinline__ long long taken() const {
        return 32LL * first + offset - begin;
    }

    // The `count` bits, 1 to those of a T, from a bit after the next one on.
    template <class T>
    __device__ __forceinline__ T read_bits(int bit, int count) const {
        constexpr int WIDTH = 8 * sizeof(T);
        const unsigned word = first + unsigned((offset + bit) >> 5);
        const unsigned middle = ring[(word + 1) % RING];
        T value = __funnelshift_r(ring[word % RING], middle, offset + bit);
        if (WIDTH == 64)
            value |= T(__funnelshift_r(middle, ring[(word + 2) % RING], offset + bit))
                     << (WIDTH - 32);
        return value & (~T(0) >> ((WIDTH - count) & (WIDTH - 1)));
    }

    // Take bits; of all lanes the same number, no more than a row of escapes has.
    __device__ __forceinline__ void skip(int count) {
        offset += count;
        if (offset < 32 * LANES) return;
        __syncwarp();  // all have read
#pragma unroll 1
        for (; offset >= 32 * LANES; offset -= 32 * LANES) {
            ring[(first + threadIdx.x) % RING] = ahead;
            // after all payloads it does not move: none ends there, and so the block is corrupt
            first = min(first + LANES, last + 2 * RING);
            ahead = __ldg(words + min(first + RING + threadIdx.x, last));
        }
        __syncwarp();
    }
};

// Tables of symbols in shared memory: 9 KB where slots themselves would take 57.
struct Tables {
    const unsigned short* firsts;   // (TABLES, STRIDE) first slots of symbols
    const unsigned char* buckets;  // (TABLES, BUCKET_STRIDE) symbols of every 32nd slot, and the last
};

__device__ __forceinline__ int search(const unsigned short* firsts, int low, int high, int slot) {
    while (low < high) {
        const int middle = (low + high + 1) >> 1;
        const bool above = firsts[middle] > slot;
        high = above ? middle - 1 : high;
        low = above ? low : middle;
    }
    return low;
}

__device__ __forceinline__ void load_tables(unsigned short* firsts, unsigned char* buckets,
                                            const unsigned short* from) {
    for (int i = threadIdx.x; i < TABLES * STRIDE; i += LANES) firsts[i] = from[i];
    __syncwarp();
    for (int i = threadIdx.x; i < TABLES * (BUCKETS + 1); i += LANES) {
        const int table = i / (BUCKETS + 1), bucket = i % (BUCKETS + 1);
        const int slot = min(bucket << BUCKET_BITS, TOTAL - 1);
        buckets[table * BUCKET_STRIDE + bucket] =
            (unsigned char)(search(firsts + table * STRIDE, 0, SYMBOLS - 1, slot));
    }
    __syncwarp();
}

// What the lanes of a warp read of a payload, and the states that they are in.
struct Reader {
    Tables tables;
    Window bits, stream;
    unsigned state;
};

// The next symbol of each lane in use. Lanes that run short take words of the stream in order.
__device__ __forceinline__ int pull_row(Reader& reader, int context, bool is_used) {
    const unsigned state = reader.state;
    const int slot = int(state % TOTAL);
    const unsigned char* const bucket =
        reader.tables.buckets + context * BUCKET_STRIDE + (slot >> BUCKET_BITS);
    const unsigned short* const firsts = reader.tables.firsts + context * STRIDE;
    const int symbol = search(firsts, bucket[0], bucket[1], slot);
    const unsigned first = firsts[symbol], frequency = firsts[symbol + 1] - first;
    const unsigned grown = frequency * (state >> PRECISION) + unsigned(slot) - first;
    const bool is_short = is_used && grown < LOWEST_STATE;
    const unsigned all = __ballot_sync(~0u, is_short);
    const int before = __popc(all & ((1u << threadIdx.x) - 1));
    const unsigned word = reader.stream.read_bits<unsigned>(16 * before, 16);
    reader.stream.skip(16 * __popc(all));
    if (is_used) reader.state = is_short ? grown << 16 | word : grown;
    return is_used ? symbol : ZERO;
}

// An octave, the bits of the fraction that a symbol tells, and these as its first two.
struct Given {
    int octave, count;
    Row quarter;
};

__device__ __forceinline__ Given from_symbol(int symbol) {
    if (symbol < HALVES) return {HIGHEST - (symbol >> 2), 2, Row(symbol & 3)};
    if (symbol < WHOLES) return {-2 - ((symbol - HALVES) >> 1), 1, Row((symbol & 1) * 2)};
    return {WHOLES - 4 - symbol, 0, 0};
}

// Of a value near the grid the octave; the bits that count the units it is off; and these units.
__device__ __forceinline__ int near_grid_octave(int symbol) {
    return HIGHEST_NEAR_GRID - (symbol - NEAR_GRID) / LENGTHS;
}

__device__ __forceinline__ int near_grid_length(int symbol) {
    return (symbol - NEAR_GRID) % LENGTHS + 1;
}

__device__ __forceinline__ Row near_grid_units(Row bits, int length) {
    const Row units = (bits >> 1) + (ONE << (length - 1));
    return bits & 1 ? Row(0) - units : units;
}

__device__ __forceinline__ bool is_impossible(int exponent, const Series& series) {
    const bool beyond = exponent < 0 || exponent > series.limit;
    return beyond || (series.is_residual && exponent > min(LARGEST, BITS - 1));
}

// Set the counts of escaped lanes, one lane after the other: of a residual its own bits say it.
// Return whether an exponent is impossible.
__device__ __forceinline__ bool count_escapes(bool is_escaped, const Window& bits,
                                              const Series& series, int& count) {
    const int limit = series.is_residual ? BITS - 1 : int(MOST_EXPONENT);
    bool wrong = false;
#pragma unroll 1
    for (unsigned left = __ballot_sync(~0u, is_escaped); left != 0; left &= left - 1) {
        const int before = sum_before(count);
        if (int(threadIdx.x) != __ffs(int(left)) - 1) continue;
        const int exponent = int(bits.read_bits<unsigned>(before, ESCAPED_HEAD) >> 1);
        wrong = exponent > limit;
        count = ESCAPED_HEAD + escaped_bits(min(exponent, limit), series);
    }
    return __any_sync(~0u, wrong);
}

// A value in full; its exponent is possible.
__device__ __forceinline__ Value take_escape(const Window& bits, int at, const Series& series,
                                             bool& is_negative) {
    const unsigned head = bits.read_bits<unsigned>(at, ESCAPED_HEAD);
    is_negative = head & 1;
    const int exponent = int(head >> 1), count = escaped_bits(exponent, series);
    const int upper = min(count, 32);
    Row fraction = Row(bits.read_bits<unsigned>(at + ESCAPED_HEAD, upper))
                   << 1 << (ROW_BITS - 1 - upper);
    if (count > upper)
        fraction |= Row(bits.read_bits<unsigned>(at + ESCAPED_HEAD + upper, count - upper))
                    << 1 << (ROW_BITS - 1 - count);
    return {exponent, fraction};
}

__device__ __forceinline__ Row join(bool is_negative, const Value& value, bool is_residual) {
    if (!is_residual)
        return Row(is_negative) << (BITS - 1) | Row(value.exponent) << FRACTION |
               value.fraction >> (ROW_BITS - FRACTION);
    const Row size = ONE << value.exponent | value.fraction >> 1 >> (ROW_BITS - 1 - value.exponent);
    return is_negative ? Row(0) - size : size;
}

__device__ __forceinline__ Row special_word(int symbol, Row commonest) {
    return symbol == COMMONEST ? commonest : symbol == MINUS_ZERO ? ONE << (BITS - 1) : 0;
}

// Turn a row's symbols and bits into words or residuals, and sizes. False where it is corrupt.
__device__ __forceinline__ bool decode_row(int symbol, int around, const Series& series,
                                           Row commonest, Window& bits, Row& word, float& size) {
    const bool is_near_grid = symbol >= NEAR_GRID, is_escaped = symbol == ESCAPE;
    const bool is_common = symbol < ZERO || is_near_grid;
    const bool off = symbol >= PLANE && symbol < ZERO;
    const Given given = is_near_grid ? Given{near_grid_octave(symbol), 0, 0}
                                     : from_symbol(off ? symbol - PLANE : symbol);
    Value value = {around + given.octave, 0};
    const int full = off ? FRACTION : grid_bits(value.exponent, series);
    const int length = is_near_grid ? near_grid_length(symbol) : 0;
    const bool is_far = is_near_grid && (series.is_residual || full + length >= FRACTION);
    const bool is_wrong = is_common && (is_far || is_impossible(value.exponent, series));
    int count = is_common ? max(full - given.count, 0) + 1 + length : 0;
    const bool is_rare = __any_sync(~0u, is_wrong || is_escaped || is_near_grid);
    if (is_rare && (__any_sync(~0u, is_wrong) || count_escapes(is_escaped, bits, series, count)))
        return false;
    const int before = sum_before(count);
    bool is_negative = false;
    Row moved = 0;
    if (is_common) {
        const Row read = bits.read_bits<Row>(before, count);
        is_negative = read & 1;
        value.fraction = given.quarter << (ROW_BITS - 2) |
                         read >> 1 << 1 << (ROW_BITS - 1 - max(full, given.count));
        if (is_near_grid) moved = near_grid_units(read >> 1 >> full, length);
    }
    if (is_escaped) value = take_escape(bits, before, series, is_negative);
    bits.skip(__shfl_sync(~0u, before + count, LANES - 1));
    word = is_common || is_escaped ? join(is_negative, value, series.is_residual)
                                   : special_word(symbol, commonest);
    word = (word + moved) & WORD_MASK;
    // a reader takes bits that no writer tells: they count but in escaped or near-grid lanes
    if (is_rare) value = split(word, series.is_residual);
    size = is_common || is_escaped ? size_words(value, series) : 0;
    return true;
}

// Fill a strip of a block. False where it is corrupt.
__device__ __forceinline__ bool decode_strip(const Block& block, const Axis* axes, unsigned strip,
                                             const Series& series, const Term (&terms)[MOST_TERMS],
                                             Row commonest, Reader& reader, Sizes& around) {
    const bool is_used = strip * LANES + threadIdx.x < unsigned(block.series);
    const bool some = PREDICTS && __any_sync(~0u, series.is_residual);
    const Lane lane = lane_of(block, axes, strip);
    Place place = place_of(block, lane, 0);
    for (unsigned row = 0; row < rows_of_strip(block); ++row, advance(place, block)) {
        Row words[MOST_TERMS], word;
        if (some) load_terms<false>(words, terms, block, lane, place);
        const Expected expected = begin_row(around, series, place.t, place.f);
        const int symbol = pull_row(reader, expected.context, is_used);
        float size;
        if (!decode_row(symbol, expected.exponent, series, commonest, reader.bits, word, size))
            return false;
        around.keep_sizes(place.t, place.f, size);
        if (some && series.is_residual) word = ordered(word + ordered(guess_row(words, terms)));
        if (is_there(lane, place.t, place.f))
            *reinterpret_cast<Word*>(place.at) = in_order(Word(word));
    }
    return true;
}

// Whether all was taken that there is.
__device__ __forceinline__ bool has_ended(const Reader& reader, const Sections& coded) {
    return __all_sync(~0u, reader.state == LOWEST_STATE) &&
           reader.stream.taken() == 8 * coded.stream_bytes &&
           (reader.bits.taken() + 7) / 8 == coded.bits_bytes;
}

// Fill blocks; set the status of each, 0 where its payload is one.
//
// choices, coded, statuses : of each block
// predictors : of each lane of all strips, of one block after the other
// firsts : (blocks, TABLES, STRIDE), TOTAL after the last symbol; a table that is not used has
//     symbol 0 alone
// data : payloads, n_words * 4 bytes, some of them after the last payload
// sizes : for each block 2 * its times * 32, where its means look at them
extern "C" __global__ void __launch_bounds__(LANES, 16)
    decode_blocks(const Block* blocks, const Axis* axes, const Choice* choices, const Sections* coded,
                  const unsigned char* predictors, const double* terms,
                  const unsigned short* firsts, const unsigned char* data, long long n_words,
                  float* sizes, int* statuses) {
    __shared__ unsigned rings[2][RING];
    __shared__ unsigned short own_firsts[TABLES * STRIDE];
    __shared__ unsigned char buckets[TABLES * BUCKET_STRIDE];
    const Block block = blocks[blockIdx.x];
    const Choice choice = choices[blockIdx.x];
    const Sections own = coded[blockIdx.x];
    load_tables(own_firsts, buckets, firsts + (long long)(blockIdx.x) * (TABLES * STRIDE));
    const unsigned char* const start = data + own.states + 4 * threadIdx.x;
    Reader reader = {{own_firsts, buckets},
                     Window(data, n_words, own.bits, rings[0]),
                     Window(data, n_words, own.stream, rings[1]),
                     start[0] | start[1] << 8 | start[2] << 16 | unsigned(start[3]) << 24};
    Sizes around(sizes + choice.first_size, int(choice.means), int(block.part_times));
    bool good = true;
    for (unsigned strip = 0; good && strip * LANES < unsigned(block.series); ++strip) {
        const int predictor = predictors[choice.first_lane + strip * LANES + threadIdx.x];
        const Series series = begin_strip(choice, predictor > 0, around);
        Term own_terms[MOST_TERMS];
        take_terms(own_terms, terms, predictor);
        good = decode_strip(block, axes, strip, series, own_terms, Row(choice.commonest), reader,
                            around);
    }
    good = has_ended(reader, own) && good;
    if (threadIdx.x == 0) statuses[blockIdx.x] = !good;
}
