// Encoder of fast blocks (SPEC.md, Fast): all blocks of a batch, half a warp for each, a thread for
// each lane.
//
// Words are counted before they are written, so that each lane has its place: space for the most
// that words could take would be ten times the block.

#include "symbol_states.cuh"
#include "lanes/device/runs.cuh"

constexpr int KINDS = 2, RANKS = 0, LENGTHS = 1;  // of symbols.py
constexpr int TOKENS = CONTEXTS * WIDTH;
constexpr int FIRST = 16;  // where the first slot begins in an entry, above the frequency
constexpr unsigned FREQUENCIES = (1u << FIRST) - 1;

// What is coded of the runs of a block.
struct FastBlock {
    Half* tokens[KINDS];      // (n_runs,) each: context * WIDTH + symbol
    unsigned* counts;         // (KINDS, TOKENS), 0 before
    const unsigned* entries;  // (KINDS, TOKENS), of the tables
    Place* sizes;             // (n_lanes,), words of each
    Half* words;              // of all lanes, back to back; null where they are to be counted
    Place is_there;           // whether anything is to be coded
};

// Fill tokens and count them.
extern "C" __global__ void __launch_bounds__(LANES)
    tokenise(const RunBlock* runs, const FastBlock* blocks) {
    __shared__ Byte all_symbol_states[LANES][SYMBOLS + 8];  // 8 more: threads meet in fewer banks
    const RunBlock block = runs[blockIdx.x];
    const FastBlock to = blocks[blockIdx.x];
    const int k = int(this_lane());
    if (k >= block.n_lanes) return;
    Byte* const symbol_states = all_symbol_states[k];
    for (int i = 0; i < SYMBOLS; ++i) symbol_states[i] = 0;
    int smoothed = 0;
    for (Place run = block.starts[k]; run < block.starts[k + 1]; ++run) {
        const int symbol = block.symbols[run], symbol_state = symbol_states[symbol];
        const int rank = number_to_symbol(unsigned(block.ranks[run]) - 1);
        const int length = number_to_symbol(unsigned(length_of(block, run)) - 1);
        const int of_rank = rank_context(smoothed, symbol_state) * WIDTH + rank;
        const int of_length = length_context(symbol_state, rank) * WIDTH + length;
        to.tokens[RANKS][run] = Half(of_rank);
        to.tokens[LENGTHS][run] = Half(of_length);
        atomicAdd(&to.counts[of_rank], 1u);
        atomicAdd(&to.counts[TOKENS + of_length], 1u);
        smoothed = smoothed_by(smoothed, rank);
        symbol_states[symbol] = update_symbol_state(symbol_state, rank, length);
    }
}

// A state, and where its last word went: words before that come next.
struct Coder {
    unsigned x;
    Half* at;  // null where words are counted
    Place n_words;
};

__device__ __forceinline__ void put_word(Coder& coder, unsigned word) {
    if (coder.at) *--coder.at = Half(word);
    ++coder.n_words;
}

__device__ __forceinline__ void put(Coder& coder, unsigned entry) {
    const unsigned frequency = entry & FREQUENCIES;
    if (coder.x >= Row(frequency) << (32 - PRECISION)) {
        put_word(coder, coder.x);
        coder.x >>= 16;
    }
    const unsigned quotient = coder.x / frequency;
    coder.x = quotient * (TOTAL - frequency) + coder.x + (entry >> FIRST);
}

__device__ __forceinline__ void put_raw(Coder& coder, unsigned value, int bits) {
    if (coder.x >= Row(1) << (32 - bits)) {
        put_word(coder, coder.x);
        coder.x >>= 16;
    }
    coder.x = coder.x << bits | (value & ((1u << bits) - 1));
}

// Put a number with its token: first the bits below the symbol, of which those above RAW are read
// last.
__device__ __forceinline__ void put_number(Coder& coder, unsigned value, int token,
                                           const unsigned* entries) {
    const int symbol = token & (WIDTH - 1);
    if (symbol >= EXACT) {
        const int bits = bits_below(symbol);
        if (bits > RAW) put_raw(coder, value >> RAW, bits - RAW);
        put_raw(coder, value, min(bits, RAW));
    }
    put(coder, entries[token]);
}

// Code lanes backwards: fill how many words each has, or write them.
extern "C" __global__ void __launch_bounds__(LANES)
    code_runs(const RunBlock* runs, const FastBlock* blocks) {
    const RunBlock block = runs[blockIdx.x];
    const FastBlock to = blocks[blockIdx.x];
    const int k = int(this_lane());
    if (k >= block.n_lanes || !to.is_there) return;
    const Place first = block.starts[k], end = block.starts[k + 1];
    if (first == end) return;
    Coder coder = {LOWEST, to.words, 0};
    for (int i = 0; to.words && i <= k; ++i) coder.at += to.sizes[i];
    for (Place run = end - 1; run >= first; --run) {
        const unsigned length = unsigned(length_of(block, run)) - 1;
        put_number(coder, length, to.tokens[LENGTHS][run], to.entries + TOKENS);
        put_number(coder, unsigned(block.ranks[run]) - 1, to.tokens[RANKS][run], to.entries);
    }
    put_word(coder, coder.x >> 16);
    put_word(coder, coder.x);
    if (!to.words) to.sizes[k] = coder.n_words;
}
