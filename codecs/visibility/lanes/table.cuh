// Where the words of a block are (SPEC.md, Lanes), a lane per thread, and sums over a warp.
//
// In the usual layout [time, frequency, rest] a row of the table of lanes is 128 contiguous
// bytes.
//
//   GS_BITS  of a word: 16, 32, 64
//   GS_SWAP  1 where words are of foreign byte order, else 0

#include "bits.cuh"

constexpr int LANES = 32, ROWS = 32;  // of a tile

#if GS_BITS == 64
using Word = unsigned long long;
using Row = unsigned long long;  // what a word is computed in
using SignedRow = long long;
constexpr int FRACTION = 52, ROW_FRACTION = 52, BIAS = 1023;  // of IEEE 754; of a row's float
#elif GS_BITS == 32
using Word = unsigned;
using Row = unsigned;
using SignedRow = int;
constexpr int FRACTION = 23, ROW_FRACTION = 23, BIAS = 127;
#else
using Word = unsigned short;
using Row = unsigned;
using SignedRow = int;
constexpr int FRACTION = 10, ROW_FRACTION = 23, BIAS = 127;
#endif

constexpr int BITS = GS_BITS, ROW_BITS = 8 * sizeof(Row);
constexpr int COLUMNS = ROW_BITS / 32;  // of 32 bits for each lane
constexpr Row ONE = 1, WORD_MASK = (ONE << (BITS - 1) << 1) - 1;
constexpr Row MOST_EXPONENT = (ONE << (BITS - 1 - FRACTION)) - 1;  // of infinities and NaNs

// A row of the table of blocks, as gpu_table.py fills it; steps are in bytes.
struct Block {
    long long data;                        // address of the first word
    long long step_t, step_f;
    long long times, frequencies;          // of the block
    long long part_times, part_frequencies;  // of a segment
    long long folds_time, rest, components, series;
    long long rows;                        // of all strips
    long long first_axis, axes;            // of rest, in the table of axes
    long long first_tile, tiles;           // among all tiles
};

// A row of the table of axes of rest, the last one innermost.
struct Axis {
    long long extent, step;
};

// The words of a lane: the first one; extents are 0 where it has none.
struct Lane {
    char* first;
    unsigned times, frequencies;
};

// A row of a strip: where it is, and the lane's word there.
struct Place {
    int t, f;
    char* at;
};

__device__ __forceinline__ unsigned rows_of_strip(const Block& block) {
    return unsigned(block.part_times) * unsigned(block.part_frequencies);
}

__device__ __forceinline__ Lane lane_of_series(const Block& block, const Axis* axes,
                                               unsigned series) {
    if (series >= unsigned(block.series)) return {nullptr, 0, 0};
    unsigned number = series / unsigned(block.components);
    const unsigned segment = number / unsigned(block.rest);
    long long offset = (series % unsigned(block.components)) * sizeof(Word);
    number %= unsigned(block.rest);
    for (int i = int(block.axes) - 1; i >= 0; --i) {
        const Axis axis = axes[block.first_axis + i];
        offset += number % unsigned(axis.extent) * axis.step;
        number /= unsigned(axis.extent);
    }
    const long long part = block.folds_time ? block.part_times : block.part_frequencies;
    const long long first = segment * part;
    offset += first * (block.folds_time ? block.step_t : block.step_f);
    const long long skipped_t = block.folds_time ? first : 0;
    const long long skipped_f = block.folds_time ? 0 : first;
    return {reinterpret_cast<char*>(block.data) + offset,
            unsigned(min(block.part_times, block.times - skipped_t)),
            unsigned(min(block.part_frequencies, block.frequencies - skipped_f))};
}

// Of a strip the lane that this thread takes.
__device__ __forceinline__ Lane lane_of(const Block& block, const Axis* axes, unsigned strip) {
    return lane_of_series(block, axes, strip * LANES + threadIdx.x);
}

__device__ __forceinline__ Place place_of(const Block& block, const Lane& lane, unsigned row) {
    const int f = int(row / unsigned(block.part_times)), t = int(row % unsigned(block.part_times));
    return {t, f, lane.first + (t * block.step_t + f * block.step_f)};
}

__device__ __forceinline__ void advance(Place& place, const Block& block) {
    const bool last = place.t + 1 == int(block.part_times);
    place.at += last ? block.step_f - (block.part_times - 1) * block.step_t : block.step_t;
    place.t = last ? 0 : place.t + 1;
    place.f += last;
}

// A word in the machine's byte order, or back.
__device__ __forceinline__ Word in_order(Word word) {
    if (!GS_SWAP) return word;
    if (BITS <= 32) return Word(big_endian(unsigned(word)) >> (32 - min(BITS, 32)));
    const unsigned high = big_endian(unsigned(word)), low = big_endian(unsigned(Row(word) >> (ROW_BITS - 32)));
    return Word((unsigned long long)(high) << 32 | low);
}

__device__ __forceinline__ bool is_there(const Lane& lane, int t, int f) {
    return unsigned(t) < lane.times && unsigned(f) < lane.frequencies;
}

// The word so many times and frequencies before a place, 0 where there is none.
//
// In a block that is only read, another word is loaded where there is none, without a branch.
template <bool ONLY_READ>
__device__ __forceinline__ Row word_before(const Block& block, const Lane& lane,
                                           const Place& place, int dt, int df) {
    const bool there = is_there(lane, place.t - dt, place.f - df);
    if (!ONLY_READ && !there) return 0;
    const char* const at = place.at - (dt * block.step_t + df * block.step_f);
    if (!ONLY_READ) return in_order(*reinterpret_cast<const Word*>(at));
    const char* const loaded = there ? at : reinterpret_cast<const char*>(block.data);
    const Word word = in_order(__ldg(reinterpret_cast<const Word*>(loaded)));
    return there ? word : 0;
}

// Call what is given with the lane, the place and the strip of each row of a tile.
template <class Take>
__device__ __forceinline__ void for_tile(const Block& block, const Axis* axes, unsigned tile,
                                         Take take) {
    const unsigned per_strip = rows_of_strip(block), first = tile * ROWS;
    const unsigned count = min(unsigned(ROWS), unsigned(block.rows) - first);
    unsigned strip = first / per_strip, row = first % per_strip;
    Lane lane = lane_of(block, axes, strip);
    Place place = place_of(block, lane, row);
    for (unsigned i = 0; i < count; ++i) {
        take(lane, place, strip);
        advance(place, block);
        if (++row < per_strip) continue;
        lane = lane_of(block, axes, ++strip);
        place = place_of(block, lane, row = 0);
    }
}

__device__ __forceinline__ int leading_zeros(Row value) {
    return COLUMNS == 2 ? __clzll((long long)(value)) : __clz(int(unsigned(value)));
}

__device__ __forceinline__ int sum_of_lanes(int value) {
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) value += __shfl_xor_sync(~0u, value, step);
    return value;
}

// The sum of the lanes before this one.
__device__ __forceinline__ int sum_before(int value) {
    int sum = value;
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) {
        const int before = __shfl_up_sync(~0u, sum, step);
        if (int(threadIdx.x) >= step) sum += before;
    }
    return sum - value;
}
