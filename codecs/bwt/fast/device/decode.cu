// Decoder of fast blocks (SPEC.md, Fast): all blocks of a batch in one launch.
//
// Half a warp for each block, a thread for each lane, and a thread block of its own: lanes do not
// wait for each other, and there are fewer blocks than a device has space for. Lists and symbol
// states lie in shared memory, slots of tables in the nearest cache.

#include "symbol_states.cuh"

constexpr int FREQUENCY = 8, OFFSET = 20;  // of what is looked up, as in rans.py
constexpr int SLOT_THREADS = 128, SYMBOLS = 256;
constexpr unsigned WRONG = 1;  // status

// A block, as gpu_decode.py fills it.
struct Block {
    const Half* words;  // of all lanes
    Byte* out;
    const unsigned* firsts;  // of each context of ranks, then of lengths: where its slots begin
    const Place *bounds, *stops, *last;  // of lanes: bytes, words, the highest rank
    const Row* lists;
    Place n_lanes;
};

// A lane between two runs.
struct Lane {
    unsigned x;
    int smoothed;
    Place at, stop, out, end, last;
};

// Lay out what is looked up, a thread block for each table; firsts : (n_tables, WIDTH), the first
// slot of each symbol.
extern "C" __global__ void __launch_bounds__(SLOT_THREADS)
    build_decoder_table(const Half* firsts, unsigned* slots) {
    const Half* const own = firsts + blockIdx.x * WIDTH;
    for (int slot = int(threadIdx.x); slot < TOTAL; slot += SLOT_THREADS) {
        int symbol = 0;
        for (int step = WIDTH / 2; step > 0; step /= 2)
            if (own[symbol + step] <= slot) symbol += step;
        const int end = symbol + 1 < WIDTH ? own[symbol + 1] : TOTAL;
        const unsigned frequency = unsigned(end - own[symbol]);
        slots[Place(blockIdx.x) * TOTAL + slot] = unsigned(symbol) | (frequency - 1) << FREQUENCY |
                                                  unsigned(slot - own[symbol]) << OFFSET;
    }
}

// Take a word where the state is too low; one behind the lane shows when the run is at its end.
__device__ __forceinline__ void refill(const Block& block, Lane& lane) {
    if (lane.x >= LOWEST) return;
    lane.x = lane.x << 16 | (lane.at < lane.stop ? block.words[lane.at] : 0u);
    lane.at += 1;
}

// The next symbol of a table.
__device__ __forceinline__ int take(const Block& block, const unsigned* slots, Lane& lane) {
    const unsigned entry = slots[lane.x & (TOTAL - 1)];
    const unsigned frequency = (entry >> FREQUENCY & (TOTAL - 1)) + 1;
    lane.x = frequency * (lane.x >> PRECISION) + (entry >> OFFSET);
    refill(block, lane);
    return int(entry & 255);
}

__device__ __forceinline__ unsigned take_raw(const Block& block, Lane& lane, int bits) {
    const unsigned value = lane.x & ((1u << bits) - 1);
    lane.x >>= bits;
    refill(block, lane);
    return value;
}

// The number of a symbol.
__device__ __forceinline__ unsigned take_number(const Block& block, Lane& lane, int symbol) {
    if (symbol < EXACT) return unsigned(symbol);
    const int bits = bits_below(symbol), low = min(bits, RAW);
    unsigned value = take_raw(block, lane, low);
    if (bits > RAW) value |= take_raw(block, lane, bits - RAW) << RAW;
    return get_least_number(symbol) | value;
}

// Read a run and write it; false where it is none.
__device__ __forceinline__ bool read_run(const Block& block, const unsigned* slots, Row* list,
                                         Byte* symbol_states, Lane& lane) {
    const int symbol = int(list[0] & 255), symbol_state = symbol_states[symbol];
    const unsigned* const firsts = block.firsts;
    const int context = rank_context(lane.smoothed, symbol_state);
    const int rank_symbol = take(block, slots + firsts[context], lane);
    const unsigned rank = take_number(block, lane, rank_symbol);
    lane.smoothed = smoothed_by(lane.smoothed, rank_symbol);
    const int then = CONTEXTS + length_context(symbol_state, rank_symbol);
    const int length_symbol = take(block, slots + firsts[then], lane);
    const unsigned length = take_number(block, lane, length_symbol);
    symbol_states[symbol] = update_symbol_state(symbol_state, rank_symbol, length_symbol);
    if (rank >= lane.last || length >= lane.end - lane.out || lane.at > lane.stop) return false;
    move_back(list, int(rank) + 1);
    fill(block.out + lane.out, Place(length) + 1, Byte(symbol));
    lane.out += Place(length) + 1;
    return true;
}

// Where this lane stands before its first run; a lane of bytes has at least a state.
__device__ __forceinline__ Lane begin_runs(const Block& block, Row* list, Byte* symbol_states) {
    const int k = int(this_lane());
    Lane lane = {LOWEST, 0, k ? block.stops[k - 1] : 0, block.stops[k]};
    lane.out = block.bounds[k];
    lane.end = block.bounds[k + 1];
    lane.last = block.last[k];
    if (lane.out == lane.end) return lane;
    lane.x = unsigned(block.words[lane.at + 1]) << 16 | block.words[lane.at];
    lane.at += 2;
    for (int i = 0; i < LIST_WORDS; ++i) list[i] = block.lists[k * LIST_WORDS + i];
    for (int i = 0; i < SYMBOLS; ++i) symbol_states[i] = 0;
    return lane;
}

// Fill blocks; statuses : (n_blocks,), 0 before, WRONG where a lane is none.
extern "C" __global__ void __launch_bounds__(LANES)
    decode_runs(const Block* blocks, const unsigned* slots, unsigned* statuses) {
    __shared__ Row lists[LANES][LIST_WORDS + 1];  // one more: threads meet in fewer banks
    __shared__ Byte symbol_states[LANES][SYMBOLS + 8];
    const Block block = blocks[blockIdx.x];
    const int k = int(this_lane());
    if (k >= block.n_lanes) return;
    Lane lane = begin_runs(block, lists[k], symbol_states[k]);
    bool is_right = true;
    while (is_right && lane.out < lane.end)
        is_right = read_run(block, slots, lists[k], symbol_states[k], lane);
    if (!is_right || lane.at != lane.stop || lane.x != LOWEST)
        atomicOr(&statuses[blockIdx.x], WRONG);
}
