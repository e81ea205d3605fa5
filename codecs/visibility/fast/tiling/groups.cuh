// Kind "fast" of a block (SPEC.md): groups and their values, planes.
//
// A warp takes a tile of the block's table of lanes, 32 rows of 32 words, a lane per thread.
//
//   GS_BITS, GS_SWAP  as in lanes/table.cuh
//   GS_GAIN           of modes.py
//
// The format's constants are those of groups.py, modes.py, planes.py and tiles.py.

#include "lanes/table.cuh"

constexpr int PLANES = 32;
constexpr int EXPONENTS = 0, GRID = 1, PREDICTED = 2;  // kinds of a group
constexpr int NONE = 0, LORENZO = 1, FREQUENCY = 2, TIME = 3;  // predictors of a mode
constexpr int WITH_GRIDS = 4;  // added to the predictor
constexpr int MODES = 8;
constexpr int HEAD_BYTES = 2;  // kind, mode
constexpr int GAIN = GS_GAIN;  // a mode has to save one part of so many
constexpr unsigned KIND = 2;  // of the block
constexpr int NEVER = 1 << 10;  // a width that no group has

constexpr int HEADER_BYTES = BITS == 64 ? 3 : 2;
constexpr Row MOST_BASE = BITS == 32 ? 255 : MOST_EXPONENT - 1 + FRACTION;

// Words of a tile between registers and device memory. A word in so many is left free: lanes of
// the same width, 16 say, would meet in few banks.
constexpr int STAGE = COLUMNS * LANES * PLANES;
__device__ __forceinline__ int staged(int word) {
    return word + (word >> 5);
}
constexpr int STAGE_WORDS = STAGE + STAGE / 32;

// Rotated left by one: the exponent is on top, the sign below the fraction.
__device__ __forceinline__ Row rotate(Row word) {
    return (word << 1 | word >> (BITS - 1)) & WORD_MASK;
}

__device__ __forceinline__ Row rotate_back(Row word) {
    return word >> 1 | word << (BITS - 1);
}

__device__ __forceinline__ int bit_length(Row value) {
    return ROW_BITS - leading_zeros(value);
}

// How far a difference is from 0, its sign in the lowest bit; both of BITS bits.
__device__ __forceinline__ Row zigzag(Row word, Row predicted) {
    constexpr int SPARE = ROW_BITS - BITS;
    const Row difference = (word - predicted) << SPARE;
    return (difference << 1 ^ Row(SignedRow(difference) >> (ROW_BITS - 1))) >> SPARE;
}

__device__ __forceinline__ Row undo_zigzag(Row value) {
    return value >> 1 ^ (Row(0) - (value & 1));
}

// Bit i of element j becomes bit j of element i.
__device__ __forceinline__ void transpose(unsigned (&a)[32]) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const unsigned low = a[i], high = a[i + 16];
        a[i] = __byte_perm(low, high, 0x5410);
        a[i + 16] = __byte_perm(low, high, 0x7632);
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        const int i = (k & 7) | (k & 8) << 1;
        const unsigned low = a[i], high = a[i + 8];
        a[i] = __byte_perm(low, high, 0x6240);
        a[i + 8] = __byte_perm(low, high, 0x7351);
    }
#pragma unroll
    for (int step = 4; step > 0; step >>= 1) {
        const unsigned mask = step == 4 ? 0x0F0F0F0F : step == 2 ? 0x33333333 : 0x55555555;
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const int i = (k & (step - 1)) | (k & ~(step - 1)) << 1;
            const unsigned swap = (a[i] >> step ^ a[i + step]) & mask;
            a[i + step] ^= swap;
            a[i] ^= swap << step;
        }
    }
}

// Planes of a column of a lane; of 64 bits the low half is the first column.
__device__ __forceinline__ int planes_of(int width, int column) {
    return column == 0 ? min(width, PLANES) : width - min(width, PLANES);
}

// Where the planes of each column of this lane begin, in words from the tile's first one.
//
// Columns c = 0..7 of each eight follow each other in the order 0 4 1 5 2 6 3 7: thread i looks
// at those with the numbers COLUMNS * i on in that order.
__device__ __forceinline__ void column_starts(int width, int (&starts)[COLUMNS]) {
    const int own = threadIdx.x;
    if (COLUMNS == 1) {
        const int shown = (own & ~7) | (own & 1) << 2 | (own >> 1 & 3);
        const int before = sum_before(__shfl_sync(~0u, width, shown));
        starts[0] = __shfl_sync(~0u, before, (own & ~7) | (own & 3) << 1 | (own >> 2 & 1));
        return;
    }
    const int lane = (own & ~3) | (own >> 1 & 1), column = own & 1;
    const int one = planes_of(__shfl_sync(~0u, width, lane), column);
    const int other = planes_of(__shfl_sync(~0u, width, lane + 2), column);
    const int before = sum_before(one + other);
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
        const int from = (own & ~3) | (own & 1) << 1 | i;
        const int first = __shfl_sync(~0u, before, from), size = __shfl_sync(~0u, one, from);
        starts[i] = own & 2 ? first + size : first;
    }
}
