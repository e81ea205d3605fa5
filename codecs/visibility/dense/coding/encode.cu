// Encoder of blocks of the kind "dense": symbols and bits from the first value on, the stream from
// the last one on, and all of it side by side.
//
// Symbols with their contexts are stored, 2 bytes a value: the stream is written backwards, whereas
// means run forwards.
//
// With near means and no predictions that is some 250 instructions a word on sm_90 for symbols and
// bits, and 90 for the stream, counted in the machine code; a prediction takes 100 more. Nothing
// has been measured.

#include "coding/encode.cuh"

constexpr int THREADS = 256;  // that copy a payload

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
    __device__ __forceinline__ void write_bits(int bit, Row value) const {
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

    // Write what is pending; return the bytes of all bits, those beyond the room among them.
    __device__ __forceinline__ long long finish() const {
        __syncwarp();
        write();
        return (32LL * full + used + 7) / 8;
    }
};

__device__ __forceinline__ void put_escape(const Pending& bits, int at, Row word, const Value& value,
                                           const Series& series) {
    bits.write_bits(at, Row(value.exponent) << 1 | word >> (BITS - 1));
    const int count = escaped_bits(value.exponent, series), upper = min(count, 32);
    bits.write_bits(at + ESCAPED_HEAD, value.fraction >> 1 >> (ROW_BITS - 1 - upper));
    if (count == upper) return;
    const Row rest = value.fraction << (upper & (ROW_BITS - 1));
    bits.write_bits(at + ESCAPED_HEAD + upper, rest >> (ROW_BITS - (count - upper)));
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
    to_symbols(const Block* blocks, const Axis* axes, const Choice* choices, const Pieces* pieces,
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
        const int escaped = ESCAPED_HEAD + escaped_bits(value.exponent, series);
        const int own = is_escape ? escaped : is_used ? coded.count : 0;
        const int before = sum_before(own);
        if (is_escape)
            put_escape(pending, before, word, value, series);
        else if (own > 0)
            pending.write_bits(before, coded.bits);
        if (is_used) {
            atomicAdd(&tally[context * SYMBOLS + coded.symbol], 1u);
            symbols[output.first_symbol + (long long)(row) * LANES + threadIdx.x] =
                (unsigned short)(context * STRIDE + coded.symbol);
        }
        pending.grow(__shfl_sync(~0u, before + own, LANES - 1));
    };
    encode_rows(block, axes, choice, pieces[blockIdx.x], places, predictors, terms, around, write);
    const long long bytes = pending.finish();
    write_tally(tally, counts + (long long)(blockIdx.x) * (TABLES * SYMBOLS));
    if (threadIdx.x == 0) n_bytes[blockIdx.x] = bytes;
}

// Write the stream of each block, from the end of its room backwards; count its items.
//
// firsts : (blocks, TABLES, STRIDE) first slots, as the decoder has them
// states : (blocks, 32), what the decoder begins with
extern "C" __global__ void __launch_bounds__(LANES, 16)
    push_symbols(const Block* blocks, const Output* outputs, const unsigned short* firsts,
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
