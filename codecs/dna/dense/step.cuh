// One step of all lanes (SPEC.md, Dense): a thread block for each block, a thread for each lane.
//
// The order is that of step.py. What lanes add commutes; where they store, the highest one wins:
// in a warp by a vote, and warps take turns. Small tables lie in shared memory.

#include "bits.cuh"

using Byte = unsigned char;
using Half = unsigned short;
using Row = unsigned long long;
using Place = long long;

constexpr int WARP = 32, MOST_LANES = 64;  // of shape.py: a thread block has one warp or two
constexpr int BACK = 16;                   // of contexts.py
constexpr unsigned HASH = 0x9E3779B1;
constexpr int MODELS = 5, CLASSES = 16, WEIGHTS = 2 * MODELS * CLASSES;  // of state.py
constexpr int ROWS3 = 0, ROWS6 = 1, DIRECT = 2, HASHED = 3, MATCH = 4;
constexpr Row EVEN_ROW = 0x4000400040004000;
constexpr int FIRST_WEIGHT = 367002, HITS = 544, FIRST_HITS = 49152;
constexpr Place NOWHERE = -1;
constexpr int RATE3 = 9, RATE6 = 8;  // of rows.py
constexpr Row FIELD = 0xFFFF, ONES = 0x0001000100010001;
constexpr unsigned LOW3 = 63, LOW6 = 4095;
constexpr int HIGH3 = 26, HIGH6 = 20;
constexpr int MOST_EQUAL = 32, MOST_MISSES = 8, MOST_LENGTH = 65535, RATE = 6;  // of match.py
constexpr unsigned KEPT = 0xFFFF, RECENT = 0xFF;
constexpr int TOTAL = 1 << 16, LEAST = 16, SHARED = TOTAL - 4 * LEAST;  // of mixing.py
constexpr int MOST_WEIGHT = 1 << 22, SECOND = MODELS * CLASSES;
constexpr int LEAST_RATE = 256, FADE = 1024, MOST_FADED = 20480;
constexpr int POWERS = 3072;  // of logs.py

// `Shape` of shape.py.
struct Shape {
    Place n, lanes, steps, stride, order, slot_bits, entry_bits, step_bits, place_bits;
    Place enters_first;
};

// A block: its bases, the tables that lie in device memory, and its lanes.
//
// codes : (lanes * stride,), 0 where no base is yet
// direct, hashed, entries : 0 before
// slots : (steps, lanes), of the encoder
// begins, ends : (lanes,) of its words; those that an encoder writes end at `ends`
struct Block {
    Shape shape;
    Byte* codes;
    Half *direct, *hashed;
    unsigned *entries, *slots;
    Half* words;
    Place *begins, *ends;
    Place number;  // of a decoder's block among all
};

// Logarithms, powers of two and classes, of logs.py and counts.py.
struct Logs {
    const short* rows;
    const Half* powers;
    const int* direct;
    const Row* hashed;
    const Byte *direct_class, *hashed_class;
};

struct Tables {
    Row rows3[64], rows6[4096];
    int hits[HITS], weights[WEIGHTS];
};

// The match of a lane.
struct Match {
    Place at, low;
    int step, length;
    unsigned misses;
    int state, base, hits;
};

// A lane: what state.py has of each.
struct Lane {
    unsigned last, complement, before, key, complement_key, direct, hashed, entry, complement_entry;
    Row row3, row6;
    int x[4 * MODELS], place[2 * MODELS], frequency[4];
    Match match;
};

__device__ __forceinline__ int this_lane() {
    return int(threadIdx.x);
}

// Whether a thread has a lane with a base at a step: the last one may be shorter.
__device__ __forceinline__ bool is_there(const Shape& shape, Place now) {
    return this_lane() < shape.lanes && this_lane() * shape.steps + now < shape.n;
}

// Fill the tables in shared memory; the other threads may use them behind a barrier.
__device__ __forceinline__ void new_tables(Tables& tables) {
    for (int i = this_lane(); i < 4096; i += int(blockDim.x)) tables.rows6[i] = EVEN_ROW;
    for (int i = this_lane(); i < 64; i += int(blockDim.x)) tables.rows3[i] = EVEN_ROW;
    for (int i = this_lane(); i < HITS; i += int(blockDim.x)) tables.hits[i] = FIRST_HITS;
    for (int i = this_lane(); i < WEIGHTS; i += int(blockDim.x))
        tables.weights[i] = i < SECOND ? FIRST_WEIGHT : 0;
}

__device__ __forceinline__ void find_indices(Lane& lane) {
    lane.key = lane.last * HASH;
    lane.complement_key = lane.complement * HASH;
}

__device__ __forceinline__ Lane new_lane() {
    Lane lane = {};
    lane.complement = ~0u;
    lane.match.at = NOWHERE;
    lane.place[ROWS6] = CLASSES * ROWS6;
    find_indices(lane);
    return lane;
}

__device__ __forceinline__ unsigned high_bits(unsigned word, Place bits) {
    return word >> (32 - int(bits));
}

__device__ __forceinline__ unsigned low_bits(unsigned word, Place bits) {
    return word & ((1u << int(bits)) - 1);
}

// Append a base to a lane, and prepend its complement to the reverse complement.
__device__ __forceinline__ void append_base(Lane& lane, unsigned base) {
    lane.before = lane.last >> 30;
    lane.last = lane.last << 2 | base;
    lane.complement = lane.complement >> 2 | (3 - base) << 30;
}

// Whether no higher lane of the warp stores at the same index.
__device__ __forceinline__ bool is_highest(unsigned index, bool stores) {
    const unsigned same = __match_any_sync(~0u, stores ? index : ~threadIdx.x);
    return stores && same >> threadIdx.x % WARP == 1;
}

// Up to three things that a lane stores, of different tables.
struct Stores {
    unsigned direct, hashed, entry;  // where
    Half new_direct, new_hashed;
    unsigned new_entry;
    bool to_direct, to_hashed, to_entry;
};

// Store what lanes have, in their order; there is a barrier behind it.
__device__ __forceinline__ void store_each(const Block& block, Stores own) {
    own.to_direct = is_highest(own.direct, own.to_direct);
    own.to_hashed = is_highest(own.hashed, own.to_hashed);
    own.to_entry = is_highest(own.entry, own.to_entry);
    for (int warp = 0; warp < int(blockDim.x) / WARP; ++warp) {
        if (int(threadIdx.x) / WARP == warp) {
            if (own.to_direct) block.direct[own.direct] = own.new_direct;
            if (own.to_hashed) block.hashed[own.hashed] = own.new_hashed;
            if (own.to_entry) block.entries[own.entry] = own.new_entry;
        }
        __syncthreads();
    }
}

// Ask for what the next step reads.
__device__ __forceinline__ void fetch_next(const Block& block, const Lane& lane) {
    const Shape& shape = block.shape;
    prefetch(block.hashed + high_bits(lane.key, shape.slot_bits));
    prefetch(block.direct + low_bits(lane.last, 2 * shape.order));
    prefetch(block.entries + high_bits(lane.key, shape.entry_bits));
    prefetch(block.entries + high_bits(lane.complement_key, shape.entry_bits));
}

// The complement of the base that stands so many before the last one.
__device__ __forceinline__ unsigned other_base(unsigned last, int back) {
    return 3 - (last >> 2 * back & 3);
}

#include "model/models.cuh"
#include "model/mixing.cuh"

// Fill the frequencies of the next base.
__device__ __forceinline__ void predict_bases(const Block& block, const Tables& tables,
                                              const Logs& logs, Lane& lane, int now) {
    predict_counts(block, logs, lane);
    predict_rows(tables, logs, lane);
    if (now >= BACK && lane.match.at == NOWHERE) {
        if (block.shape.enters_first) load_entries(block, lane);
        find_match(block, lane, now);
    }
    predict_matches(block, tables, logs, lane);
    mix_models(tables, logs, lane);
}

// Learn the base that came; all threads come here, and tables are whole behind it.
__device__ __forceinline__ void learn_bases(const Block& block, Tables& tables, Lane& lane,
                                            unsigned base, int now, bool is_there) {
    const Shape& shape = block.shape;
    Stores own = learned_counts(shape, lane, base, is_there);
    __syncthreads();  // all have read what they predict from
    if (is_there) {
        learn_weights(shape, tables, lane, base, now);
        learn_rows(tables, lane, base);
        learn_matches(tables, lane, base);
        append_base(lane, base);
        find_indices(lane);
        fetch_next(block, lane);
    }
    store_each(block, own);
    keep_weights(tables);
    const bool turns = is_there && now >= BACK;
    own = learned_complement(block, tables, lane, turns);
    own.to_entry = is_there && now + 1 >= BACK;
    if (own.to_entry && !shape.enters_first) load_entries(block, lane);
    own.entry = high_bits(lane.key, shape.entry_bits);
    own.new_entry = entry_of(shape, lane, now + 1);
    __syncthreads();  // all have read what they learn from
    if (turns) learn_complement_rows(tables, lane);
    store_each(block, own);
}
