// Decoder of blocks of the kind "fast": all blocks of a batch in one launch.
//
// A warp takes rows of one strip: of one tile where no word depends on another one, else all of
// the strip, since a predicted word needs those before it. The host has checked the headers.
//
// Where groups are exponents alone that is some 56 instructions a word on sm_90, counted in the
// machine code. Nothing has been measured.

#include "tiling/groups.cuh"

// A row of the table of runs of rows, all in one strip.
struct Run {
    int block;
    unsigned first, end;  // rows of the table
};

struct Group {
    int width, kind;
    Row base;
};

__device__ __forceinline__ Group read_header(const unsigned char* at) {
    const unsigned first = at[0], base = at[LANES];
    if (BITS < 64) return {int(first & 63), int(first >> 6), Row(base)};
    const unsigned last = at[2 * LANES];
    return {int(first), int(last >> 6), Row(base | (last & 63) << 8)};
}

// Read the values of this lane's group from the planes of the tile.
__device__ __forceinline__ void load_planes(Row (&values)[ROWS], int width, const unsigned* planes,
                                            unsigned* stage) {
    const int count = sum_of_lanes(width);
    for (int i = threadIdx.x; i < count; i += LANES) stage[staged(i)] = __ldg(planes + i);
    int starts[COLUMNS];
    column_starts(width, starts);
    __syncwarp();
#pragma unroll
    for (int column = 0; column < COLUMNS; ++column) {
        unsigned bits[PLANES];
        const int own = planes_of(width, column);
#pragma unroll
        for (int i = 0; i < PLANES; ++i)
            bits[i] = i < own ? stage[staged(starts[column] + i)] : 0;
        transpose(bits);
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
            values[i] = column == 0 ? bits[i] : values[i] | Row(bits[i]) << (ROW_BITS - 32);
    }
    __syncwarp();
}

__device__ __forceinline__ Row as_float_bits(Row number) {
#if GS_BITS == 64
    return Row(__double_as_longlong(double(number)));
#else
    return __float_as_uint(float(number));
#endif
}

// What no encoder writes gives any word.
__device__ __forceinline__ Row grid_word(Row value, Row base) {
    constexpr int SHIFT = ROW_FRACTION - FRACTION;
    const Row steps = value >> 1;
    // the float of a value has its exponent and significand, but for a scale
    const Row code = (as_float_bits(steps) >> SHIFT) + ((base - (BIAS + FRACTION)) << FRACTION);
    return ((steps == 0 ? 0 : code) & (WORD_MASK >> 1)) | value << (BITS - 1);
}

// Turn values into words, but for predicted ones.
__device__ __forceinline__ void restore(Row (&rows)[ROWS], const Group& group) {
    if (group.kind == EXPONENTS) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
            rows[i] = rotate_back(rows[i] + (group.base << (FRACTION + 1)));
    } else if (group.kind == GRID) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) rows[i] = grid_word(rows[i], group.base);
    }
}

// What a lane remembers of the rows before: words, and what was read of the frequency below.
struct Before {
    Row last, second_last, below;
};

// The part of a prediction that comes from lower frequencies.
template <int PREDICTOR>
__device__ __forceinline__ Row from_below(const Block& block, const Lane& lane,
                                          const Place& place) {
    if (PREDICTOR == TIME && place.t > 0) return 0;
    const Row below = word_before<false>(block, lane, place, 0, 1);
    if (PREDICTOR != FREQUENCY || place.f < 2) return below;
    return 2 * below - word_before<false>(block, lane, place, 0, 2);
}

template <int PREDICTOR>
__device__ __forceinline__ Row prediction(const Before& before, const Place& place, Row below) {
    const bool has_earlier = place.t > 0;
    if (PREDICTOR == LORENZO) return has_earlier ? before.last + below - before.below : below;
    if (PREDICTOR == FREQUENCY) return place.f > 0 ? below : has_earlier ? before.last : 0;
    if (place.t > 1) return 2 * before.last - before.second_last;
    return has_earlier ? before.last : below;
}

// Turn values into words, and store rows `from` to `to` of a tile, the first one at a place.
template <int PREDICTOR>
__device__ __forceinline__ void restore_values(Row (&rows)[ROWS], const Group& group,
                                               const Block& block, const Lane& lane, Place place,
                                               int from, int to, Before& before) {
    restore(rows, group);
    Row below[ROWS];
    // far enough back that they are there: else each waits for those before it
    const bool ahead = PREDICTOR != NONE && block.part_times >= ROWS;
    if (ahead) {
        Place next = place;
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            if (i < from || i >= to) continue;
            below[i] = from_below<PREDICTOR>(block, lane, next);
            advance(next, block);
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        if (i < from || i >= to) continue;
        if (PREDICTOR != NONE) {
            const Row under = ahead ? below[i] : from_below<PREDICTOR>(block, lane, place);
            if (group.kind == PREDICTED)
                rows[i] = undo_zigzag(rows[i]) + prediction<PREDICTOR>(before, place, under);
            before = {rows[i], before.last, under};
        }
        if (is_there(lane, place.t, place.f))
            *reinterpret_cast<Word*>(place.at) = in_order(Word(rows[i]));
        advance(place, block);
    }
}

template <int PREDICTOR>
__device__ __forceinline__ void decode_run(const Run& run, const Block& block, const Axis* axes,
                                           const unsigned char* headers, const unsigned* starts,
                                           unsigned* stage) {
    const unsigned* const planes =
        reinterpret_cast<const unsigned*>(headers + block.tiles * HEADER_BYTES * LANES);
    const unsigned per_strip = rows_of_strip(block);
    const Lane lane = lane_of(block, axes, run.first / per_strip);
    Before before = {0, 0, 0};
    for (unsigned tile = run.first / ROWS; tile * ROWS < run.end; ++tile) {
        const Group group = read_header(headers + tile * HEADER_BYTES * LANES + threadIdx.x);
        Row rows[ROWS];
        load_planes(rows, group.width, planes + starts[block.first_tile + tile], stage);
        const unsigned from = max(run.first, tile * ROWS), to = min(run.end - tile * ROWS, 32u);
        const Place place = place_of(block, lane, from % per_strip);
        restore_values<PREDICTOR>(rows, group, block, lane, place, int(from - tile * ROWS), int(to),
                                  before);
    }
}

// Fill rows of blocks.
//
// data : payloads, each at one of `places`, 2 beyond a multiple of 4
// starts : of each tile's planes, in words from the first one of its block
extern "C" __global__ void __launch_bounds__(LANES, 8)
    decode_tiles(const Run* runs, const Block* blocks, const Axis* axes, const long long* places,
                 const unsigned* starts, const unsigned char* data) {
    __shared__ unsigned stage[STAGE_WORDS];
    const Run run = runs[blockIdx.x];
    const Block block = blocks[run.block];
    const unsigned char* const payload = data + places[run.block];
    const unsigned char* const headers = payload + HEAD_BYTES;
    const int predictor = payload[1] % WITH_GRIDS;
    if (predictor == NONE) decode_run<NONE>(run, block, axes, headers, starts, stage);
    if (predictor == LORENZO) decode_run<LORENZO>(run, block, axes, headers, starts, stage);
    if (predictor == FREQUENCY) decode_run<FREQUENCY>(run, block, axes, headers, starts, stage);
    if (predictor == TIME) decode_run<TIME>(run, block, axes, headers, starts, stage);
}
