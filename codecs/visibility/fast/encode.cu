// Encoder of blocks of the kind "fast": samples, headers, places, planes, a launch of each for all
// blocks of a batch. Words are read twice rather than planes moved once they are made.
//
// Where groups are exponents alone that is some 115 instructions a word on sm_90, counted in the
// machine code: 66 to write, 42 to choose, 7 for the sampled tiles. Nothing has been measured.

#include "tiling/groups.cuh"

// A row of the table of sampled tiles.
struct Sampled {
    int block, tile;
};

// A tile that a warp works on.
struct Tile {
    unsigned first;  // its first row in the table
    int count;       // rows that there are: those after the last one repeat it
    unsigned strip, row;  // of the first row: its strip, and its place there
    bool whole;      // in one strip
};

__device__ __forceinline__ Tile tile_of(const Block& block, int number) {
    const unsigned first = unsigned(number) * ROWS, per_strip = rows_of_strip(block);
    const int count = min(ROWS, int(unsigned(block.rows) - first));
    const unsigned strip = first / per_strip, row = first % per_strip;
    return {first, count, strip, row, row + count <= per_strip};
}

// The word at a place.
struct Here {
    __device__ __forceinline__ Row operator()(const Block& block, const Lane& lane,
                                              const Place& place) const {
        return word_before<true>(block, lane, place, 0, 0);
    }
};

// How far it is from what it is predicted to be.
template <int PREDICTOR>
struct Residual {
    __device__ __forceinline__ static Row prediction(const Block& block, const Lane& lane,
                                                     const Place& place) {
        if (PREDICTOR == LORENZO)
            return word_before<true>(block, lane, place, 1, 0) +
                   word_before<true>(block, lane, place, 0, 1) -
                   word_before<true>(block, lane, place, 1, 1);
        const bool along_time = PREDICTOR == TIME;
        const int steps = along_time ? place.t : place.f;
        if (steps == 0) return word_before<true>(block, lane, place, !along_time, along_time);
        const Row last = word_before<true>(block, lane, place, along_time, !along_time);
        if (steps == 1) return last;
        return 2 * last - word_before<true>(block, lane, place, 2 * along_time, 2 * !along_time);
    }

    __device__ __forceinline__ Row operator()(const Block& block, const Lane& lane,
                                              const Place& place) const {
        const Row word = word_before<true>(block, lane, place, 0, 0);
        return zigzag(word, prediction(block, lane, place));
    }
};

// What `of` says of a row of a tile in several strips.
template <class Of>
__device__ __forceinline__ Row of_row(const Block& block, const Axis* axes, const Tile& tile, int i,
                                      Of of) {
    const unsigned row = tile.first + min(i, tile.count - 1);
    const Lane lane = lane_of(block, axes, row / rows_of_strip(block));
    return of(block, lane, place_of(block, lane, row % rows_of_strip(block)));
}

// Fill rows with what `of` says of each; tiles in several strips by way of the stage.
template <class Of>
__device__ __forceinline__ void fill(Row (&rows)[ROWS], const Block& block, const Axis* axes,
                                     const Tile& tile, Row* stage, Of of) {
    if (tile.whole) {
        const Lane lane = lane_of(block, axes, tile.strip);
        Place place = place_of(block, lane, tile.row);
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            rows[i] = of(block, lane, place);
            if (i + 1 < tile.count) advance(place, block);
        }
        return;
    }
#pragma unroll 1
    for (int i = 0; i < ROWS; ++i)
        stage[i * LANES + threadIdx.x] = of_row(block, axes, tile, i, of);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) rows[i] = stage[i * LANES + threadIdx.x];
}

// The bits that any row has, of what `of` says of each: rows need no registers then.
template <class Of>
__device__ __forceinline__ Row bits_of_rows(const Block& block, const Axis* axes, const Tile& tile,
                                            Of of) {
    Row all = 0;
    if (!tile.whole) {
#pragma unroll 1
        for (int i = 0; i < tile.count; ++i) all |= of_row(block, axes, tile, i, of);
        return all;
    }
    const Lane lane = lane_of(block, axes, tile.strip);
    Place place = place_of(block, lane, tile.row);
#pragma unroll 4
    for (int i = 0; i < tile.count; ++i, advance(place, block)) all |= of(block, lane, place);
    return all;
}

// Width of the kind "predicted".
__device__ __forceinline__ int residual_width(int predictor, const Block& block, const Axis* axes,
                                              const Tile& tile) {
    if (predictor == LORENZO)
        return bit_length(bits_of_rows(block, axes, tile, Residual<LORENZO>()));
    if (predictor == FREQUENCY)
        return bit_length(bits_of_rows(block, axes, tile, Residual<FREQUENCY>()));
    return bit_length(bits_of_rows(block, axes, tile, Residual<TIME>()));
}

// How a group is stored.
struct Group {
    int width, kind;
    unsigned base;
};

__device__ __forceinline__ unsigned packed(const Group& group) {
    return group.width | group.kind << 8 | group.base << 16;
}

__device__ __forceinline__ Group unpacked(unsigned group) {
    return {int(group & 255), int(group >> 8 & 255), group >> 16};
}

struct Extremes {
    Row least, most;  // rotated words
};

__device__ __forceinline__ Extremes extremes(const Row (&words)[ROWS]) {
    Extremes out = {~Row(0), 0};
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        out.least = min(out.least, rotate(words[i]));
        out.most = max(out.most, rotate(words[i]));
    }
    return out;
}

__device__ __forceinline__ Group exponent_group(const Extremes& of) {
    const Row base = of.least >> (FRACTION + 1);
    return {bit_length(of.most - (base << (FRACTION + 1))), EXPONENTS, unsigned(base)};
}

__device__ __forceinline__ Row exponent_of(Row word) {
    return word >> FRACTION & MOST_EXPONENT;
}

__device__ __forceinline__ int trailing_zeros(Row value) {
    return (COLUMNS == 2 ? __ffsll((long long)(value)) : __ffs(int(unsigned(value)))) - 1;
}

// The kind "grid"; its width is NEVER where it cannot be.
__device__ __forceinline__ Group grid_group(const Row (&words)[ROWS], Row most) {
    Row least = ~Row(0), lowest = ~Row(0);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        // zeros wrap around to the greatest, so that the least is that of the other words
        least = min(least, rotate(words[i]) - 2);
        const Row exponent = exponent_of(words[i]);
        const int zeros = trailing_zeros(words[i] | ONE << FRACTION);
        if (exponent != 0) lowest = min(lowest, exponent + Row(zeros));
    }
    const Row base = min(lowest, MOST_BASE), highest = most >> (FRACTION + 1);
    const bool denormal = (least + 2) >> (FRACTION + 1) == 0;  // or zeros alone
    const int width = int(highest - base) + FRACTION + 2;
    return {denormal || highest == MOST_EXPONENT ? NEVER : width, GRID, unsigned(base)};
}

__device__ __forceinline__ Row grid_value(Row word, Row base) {
    constexpr int ROOM = BITS - 2 - FRACTION;  // the furthest that a significand goes to the left
    const Row exponent = exponent_of(word), fraction = word & ((ONE << FRACTION) - 1);
    const Row significand = exponent == 0 ? 0 : fraction | ONE << FRACTION;
    const int shift = int(unsigned(base - exponent + ROOM) & (ROW_BITS - 1));
    return (significand << ROOM) >> shift << 1 | word >> (BITS - 1);
}

__device__ __forceinline__ Group narrower(const Group& one, const Group& other) {
    return other.width < one.width ? other : one;
}

// The second predictor that is tried, after Lorenzo.
__device__ __forceinline__ int second_predictor(const Block& block) {
    return block.part_frequencies > 2 ? FREQUENCY : TIME;
}

__device__ __forceinline__ int cheapest(const unsigned* costs, const Block& block) {
    int best = 0;
    unsigned long long least = (unsigned long long)(GAIN) * costs[0];
    for (int mode = 1; mode < MODES; ++mode) {
        const int predictor = mode % WITH_GRIDS;
        const bool tried =
            predictor == NONE || predictor == LORENZO || predictor == second_predictor(block);
        const unsigned long long cost = (unsigned long long)(GAIN + 1) * costs[mode];
        if (tried && cost < least) {
            best = mode;
            least = cost;
        }
    }
    return best;
}

__device__ __forceinline__ void add_cost(unsigned* costs, int mode, int width) {
    const int sum = sum_of_lanes(width);
    if (threadIdx.x == 0) atomicAdd(&costs[mode], unsigned(sum));
}

// Add up what the sampled tiles would take in each mode; costs are 0 before.
extern "C" __global__ void __launch_bounds__(LANES, 8)
    try_modes(const Sampled* sampled, const Block* blocks, const Axis* axes, unsigned* costs) {
    __shared__ Row stage[ROWS * LANES];
    const Block block = blocks[sampled[blockIdx.x].block];
    unsigned* const own = costs + sampled[blockIdx.x].block * MODES;
    const Tile tile = tile_of(block, sampled[blockIdx.x].tile);
    Row words[ROWS];
    fill(words, block, axes, tile, stage, Here());
    const Extremes both = extremes(words);
    const int plain = exponent_group(both).width;
    const int grids = min(plain, grid_group(words, both.most).width);
    add_cost(own, 0, plain);
    add_cost(own, WITH_GRIDS, grids);
    for (int i = 0; i < 2; ++i) {
        const int predictor = i == 0 ? LORENZO : second_predictor(block);
        const int width = residual_width(predictor, block, axes, tile);
        add_cost(own, predictor, min(plain, width));
        add_cost(own, WITH_GRIDS + predictor, min(grids, width));
    }
}

// Choose how each group is stored, and count the planes of each tile.
//
// owners : (tiles,) numbers of their blocks
// groups : (tiles, 32) as `packed` makes them
extern "C" __global__ void __launch_bounds__(LANES, 8)
    choose_groups(const int* owners, const Block* blocks, const Axis* axes, const unsigned* costs,
                  unsigned* groups, unsigned* planes) {
    __shared__ Row stage[ROWS * LANES];
    const Block block = blocks[owners[blockIdx.x]];
    const Tile tile = tile_of(block, int(blockIdx.x - block.first_tile));
    const int mode = cheapest(costs + owners[blockIdx.x] * MODES, block);
    Row words[ROWS];
    fill(words, block, axes, tile, stage, Here());
    const Extremes both = extremes(words);
    Group group = exponent_group(both);
    if (mode & WITH_GRIDS) group = narrower(group, grid_group(words, both.most));
    if (mode % WITH_GRIDS) {
        const int width = residual_width(mode % WITH_GRIDS, block, axes, tile);
        group = narrower(group, {width, PREDICTED, 0});
    }
    groups[blockIdx.x * LANES + threadIdx.x] = packed(group);
    const int sum = sum_of_lanes(group.width);
    if (threadIdx.x == 0) planes[blockIdx.x] = unsigned(sum);
}

// Turn the planes of each tile into where they begin, and add up those of each block.
extern "C" __global__ void __launch_bounds__(LANES, 8)
    place_tiles(const Block* blocks, unsigned* planes, unsigned* sums) {
    const Block block = blocks[blockIdx.x];
    unsigned place = 0;
    for (int first = 0; first < block.tiles; first += LANES) {
        const int tile = first + int(threadIdx.x);
        unsigned* const own = planes + block.first_tile + tile;
        const int count = tile < block.tiles ? int(*own) : 0;
        const int before = sum_before(count);
        if (tile < block.tiles) *own = place + unsigned(before);
        place += unsigned(__shfl_sync(~0u, before + count, LANES - 1));
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = place;
}

__device__ __forceinline__ void write_header(unsigned char* at, const Group& group) {
    const unsigned kind = unsigned(group.kind) << 6;
    at[0] = (unsigned char)(BITS == 64 ? group.width : group.width | kind);
    at[LANES] = (unsigned char)(group.base);
    if (BITS == 64) at[2 * LANES] = (unsigned char)(group.base >> 8 | kind);
}

// Write the planes of all lanes by way of the stage, which is free once all lanes have come here.
__device__ __forceinline__ void store_planes(const Row (&values)[ROWS], int width, unsigned* stage,
                                             unsigned* target) {
    __syncwarp();
    int starts[COLUMNS];
    column_starts(width, starts);
#pragma unroll
    for (int column = 0; column < COLUMNS; ++column) {
        unsigned bits[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) bits[i] = unsigned(values[i] >> 32 * column);
        transpose(bits);
        const int count = planes_of(width, column);
#pragma unroll
        for (int i = 0; i < PLANES; ++i)
            if (i < count) stage[staged(starts[column] + i)] = bits[i];
    }
    __syncwarp();
    const int count = sum_of_lanes(width);
    for (int i = threadIdx.x; i < count; i += LANES) target[i] = stage[staged(i)];
}

// Set rows to residuals where they are stored; rows that fill up are predicted without error.
template <int PREDICTOR>
__device__ __forceinline__ void store_residuals(Row (&rows)[ROWS], bool own, const Block& block,
                                                const Axis* axes, const Tile& tile, Row* stage) {
    Row values[ROWS];
    fill(values, block, axes, tile, stage, Residual<PREDICTOR>());
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
        if (own) rows[i] = i < tile.count ? values[i] : 0;
}

// Write kind, mode, headers and planes of all blocks.
//
// places : of each block in the output, 2 beyond a multiple of 4, or negative: it is left out
extern "C" __global__ void __launch_bounds__(LANES, 8)
    write_tiles(const int* owners, const Block* blocks, const Axis* axes, const unsigned* costs,
                const unsigned* groups, const unsigned* planes, const long long* places,
                unsigned char* out) {
    __shared__ Row stage[STAGE_WORDS / COLUMNS];
    const long long place = places[owners[blockIdx.x]];
    if (place < 0) return;
    const Block block = blocks[owners[blockIdx.x]];
    const int number = int(blockIdx.x - block.first_tile);
    const Tile tile = tile_of(block, number);
    const Group group = unpacked(groups[blockIdx.x * LANES + threadIdx.x]);
    const int mode = cheapest(costs + owners[blockIdx.x] * MODES, block);
    if (number == 0 && threadIdx.x < HEAD_BYTES)
        out[place + threadIdx.x] = (unsigned char)(threadIdx.x == 0 ? KIND : unsigned(mode));
    unsigned char* const headers = out + place + HEAD_BYTES;
    write_header(headers + number * HEADER_BYTES * LANES + threadIdx.x, group);

    Row words[ROWS];
    fill(words, block, axes, tile, stage, Here());
    if (__any_sync(~0u, group.kind == PREDICTED)) {
        const bool own = group.kind == PREDICTED;
        const int predictor = mode % WITH_GRIDS;
        if (predictor == LORENZO) store_residuals<LORENZO>(words, own, block, axes, tile, stage);
        if (predictor == FREQUENCY)
            store_residuals<FREQUENCY>(words, own, block, axes, tile, stage);
        if (predictor == TIME) store_residuals<TIME>(words, own, block, axes, tile, stage);
    }
    if (group.kind == EXPONENTS) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
            words[i] = rotate(words[i]) - (Row(group.base) << (FRACTION + 1));
    } else if (group.kind == GRID) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) words[i] = grid_value(words[i], group.base);
    }
    unsigned* const all_planes =
        reinterpret_cast<unsigned*>(headers + block.tiles * HEADER_BYTES * LANES);
    store_planes(words, group.width, reinterpret_cast<unsigned*>(stage),
                 all_planes + planes[blockIdx.x]);
}
