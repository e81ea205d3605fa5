// Encoder of CCSDS-123 for CUDA: all blocks of a batch in one launch, then their streams joined.
//
// A warp, which is a thread block, codes 32 bands of one block, a band per thread. It goes along
// the pixels in tiles: first it loads samples the way they lie in memory and puts them and their
// central differences, also those of the P bands before, next to each other for each pixel; then
// every thread takes its band through the tile, one pixel after the other, up to the bits.
//
// Nearly all instructions predict and code, and most of those run on the integer pipe, which bounds
// a large batch.
//
// Specialised by the macros of predict.cuh and sample.cuh.

#include "bits.cuh"
#include "predict/predict.cuh"
#include "predict/sample.cuh"
#include "sample/coder.cuh"

constexpr int WARP = 32;
constexpr int PIXELS = WARP;  // of a tile, whatever rows they are in: narrow images waste nothing
constexpr int HALO = GS_P;    // bands before a warp's first
constexpr int OUT_OF_RANGE = 1, OVERFLOW = 2;  // bits of a block's status

using Way = long long;  // in samples, between places in memory

// A row of the table of blocks, as gpu_encode.py fills it. Lengths are in samples or words.
struct Block {
    long long samples;                        // address of the first
    long long stride_z, stride_y, stride_x;
    long long bands, rows, columns;
    long long lane;                           // number of its first band among all bands
    long long words, capacity;                // first word of its first band; words of each band
};

// A row of the table of warps.
struct Warp {
    int block, first;  // number of a block, and of a band of it
};

__device__ __forceinline__ Lane load(const Sample* at) {
    return in_order(__ldg(at));
}

// Row and column of a pixel.
struct Position {
    int y, x;
};

__device__ __forceinline__ void advance(Position& at, int pixels, int columns) {
    for (at.x += pixels; at.x >= columns; at.x -= columns) ++at.y;
}

// Where a pixel lies in any band, and from there what is around it.
struct Pixel {
    Way here, north;
    Summed<Way> around;
    int first_row;
};

// The pixel that is loaded at a position: behind the last one that one again, to no use.
__device__ __forceinline__ Position loaded_at(const Block& block, const Position& at) {
    return at.y < block.rows ? at : Position{int(block.rows) - 1, int(block.columns) - 1};
}

__device__ __forceinline__ Way way_to(const Block& block, const Position& at) {
    return at.y * block.stride_y + at.x * block.stride_x;
}

__device__ __forceinline__ Pixel locate(const Block& block, const Position& at) {
    const bool first_row = at.y == 0, first_column = at.x == 0;
    const Way west = -block.stride_x, north = -block.stride_y;
    const Way before = first_row && first_column ? 0 : NARROW ? west - block.stride_z : west;
    const Neighbors<Way> ways = {west, north + west, north, north - west, before};
    return {way_to(block, at), first_row ? 0 : north,
            summed_neighbors(ways, first_row, first_column, at.x == block.columns - 1), first_row};
}

__device__ __forceinline__ Pixel of_thread(const Pixel& own, int lane) {
    return {__shfl_sync(~0u, own.here, lane),
            __shfl_sync(~0u, own.north, lane),
            {__shfl_sync(~0u, own.around.a, lane), __shfl_sync(~0u, own.around.b, lane),
             __shfl_sync(~0u, own.around.c, lane), __shfl_sync(~0u, own.around.d, lane)},
            __shfl_sync(~0u, own.first_row, lane)};
}

// Samples of one pixel and what belongs to them, side by side where the bands are. The size is odd:
// threads meet in no bank of shared memory, neither along the bands nor along the pixels.
struct Row {
    Lane sample[WARP];
    Lane north[GS_FULL * WARP + 1 + HALO % 2];  // one or two more than are used
    Lane difference[HALO + WARP];
};

// What a warp codes: up to 32 bands of a block.
struct Strip {
    const Sample* samples;  // the first one of its first band
    Way stride;             // from band to band
    int first, bands;       // its first band, and how many
};

// Local sum of one band; where there is none, at t = 0, whatever can be loaded. It may wrap: of
// samples that do not fit nothing is coded.
__device__ __forceinline__ Lane local_sum(const Sample* at, const Pixel& pixel, bool first_band,
                                           const Predictor& p) {
    if (NARROW && first_band && pixel.first_row) return 4 * p.middle;
    const Wrapping a = load(at + pixel.around.a);
    if (COLUMN) return Lane(4 * a);
    return Lane(a + Wrapping(load(at + pixel.around.b)) + Wrapping(load(at + pixel.around.c)) +
                Wrapping(load(at + pixel.around.d)));
}

// Put a sample and what belongs to it into the tile; return how far it is above s_min: beyond D
// bits where it does not fit.
__device__ __forceinline__ Wrapping put_sample(Row& row, const Strip& strip, const Pixel& pixel,
                                               int band, const Predictor& p) {
    const Sample* const at = strip.samples + (pixel.here + band * strip.stride);
    const Lane sample = load(at);
    const Lane sum = local_sum(at, pixel, strip.first + band == 0, p);
    row.sample[band] = sample;
    row.difference[HALO + band] = central_difference(sample, sum);
    if (GS_FULL) row.north[band] = load(at + pixel.north);
    return Wrapping(sample) - Wrapping(p.lowest);
}

// Put a central difference into the tile, with the same result; bands of the halo count from -HALO
// on.
__device__ __forceinline__ Wrapping put_difference(Row& row, const Strip& strip,
                                                   const Pixel& pixel, int band,
                                                   const Predictor& p) {
    const Sample* const at = strip.samples + (pixel.here + band * strip.stride);
    const Lane sample = load(at), sum = local_sum(at, pixel, strip.first + band == 0, p);
    row.difference[HALO + band] = central_difference(sample, sum);
    return Wrapping(sample) - Wrapping(p.lowest);
}

// Fill the tile with a thread for each pixel: for bands that lie apart in memory. Returns bits
// beyond D if a sample does not fit.
__device__ __forceinline__ Wrapping fill_along_pixels(Row (&tile)[PIXELS], const Strip& strip,
                                                      const Pixel& own, int lane,
                                                      const Predictor& p) {
    Wrapping above = 0;
    if (strip.first > 0) {
#pragma unroll
        for (int band = -HALO; band < 0; ++band)
            above |= put_difference(tile[lane], strip, own, band, p);
    }
#pragma unroll 4
    for (int band = 0; band < strip.bands; ++band)
        above |= put_sample(tile[lane], strip, own, band, p);
    return above;
}

// The same with a thread for each band: for bands that lie side by side.
__device__ __forceinline__ Wrapping fill_along_bands(Row (&tile)[PIXELS], const Strip& strip,
                                                     const Pixel& own, int lane,
                                                     const Predictor& p) {
    Wrapping above = 0;
    const int halo = strip.first > 0 ? HALO * PIXELS : 0;
    for (int item = lane; item < halo; item += WARP) {
        const int i = item / max(HALO, 1), band = item % max(HALO, 1) - HALO;
        above |= put_difference(tile[i], strip, of_thread(own, i), band, p);
    }
#pragma unroll 4
    for (int i = 0; i < PIXELS; ++i) {
        const Pixel pixel = of_thread(own, i);
        if (lane < strip.bands) above |= put_sample(tile[i], strip, pixel, lane, p);
    }
    return above;
}

// One band on its way along the pixels.
struct Band {
    Lane weights[ROOM];
    Lane west, northwest;
    Statistics statistics;
    BitWriter out;
};

// Append the codeword of delta(t), t >= 1.
__device__ __forceinline__ void code_residual(Band& band, unsigned delta, const Coder& c) {
    const Codeword word = codeword(delta, choose_code(band.statistics, c), c);
    update_statistics(band.statistics, Lane(delta), c);
    const int beyond = word.length - 32;  // so many zeros are above the 32 bits
    if (beyond > 0) band.out.put(0, beyond);
    band.out.put(word.value, beyond > 0 ? 32 : word.length);
}

// Predict and code a sample that is not the first of all.
__device__ __forceinline__ void code_sample(Band& band, const Row& row, int lane,
                                            bool first_row, bool first_column, const Update& by,
                                            const Predictor& p, const Coder& c) {
    const Lane sample = row.sample[lane];
    const Lane* const differences = &row.difference[HALO + lane];
    const Lane sum = 4 * sample - differences[0];
    Lane u[ROOM];
    if (GS_FULL) {
        const Lane north = row.north[lane];
        directional_differences(u, band.west, band.northwest, north, sum, first_row, first_column);
        band.west = sample;
        band.northwest = north;
    }
#pragma unroll
    for (int k = 0; k < GS_P; ++k) u[DIRECTIONAL + k] = differences[-1 - k];
    const Lane doubled = predict(band.weights, u, sum, p);
    update_weights(band.weights, u, 2 * sample < doubled, by, p);
    code_residual(band, map_residual(sample, doubled, p), c);
}

// Code the first sample of all; one that does not fit is another one.
__device__ __forceinline__ void code_first(Band& band, const Strip& strip, int lane,
                                           const Predictor& p, const Coder& c) {
    const Sample* const at = strip.samples + lane * strip.stride;
    const bool first_band = strip.first + lane == 0;
    const Lane before =
        first_band || GS_P == 0 ? 0 : max(min(load(at - strip.stride), p.highest), p.lowest);
    const Lane sample = max(min(load(at), p.highest), p.lowest);
    const unsigned delta = map_residual(sample, predict_first(first_band, before, p), p);
    band.west = band.northwest = sample;
    band.out.put(delta, c.depth);
}

// Code `count` pixels of the tile, t of the first of them at the position `at`.
__device__ __forceinline__ void code_tile(Band& band, const Row (&tile)[PIXELS], int lane,
                                          long long t, int count, Position at, int columns,
                                          const Predictor& p, const Coder& c) {
    int i = t == 0 ? 1 : 0;
    if (i > 0) advance(at, 1, columns);
    while (i < count) {
        const int intervals = intervals_at(t + i, columns, p);
        const Update by = update_after(intervals, p);
        const long long change = ((intervals + 1LL) << p.interval) + columns - t;
        const int stop = int(min(change, (long long)count));
        for (; i < stop; ++i) {
            code_sample(band, tile[i], lane, at.y == 0, at.x == 0, by, p, c);
            if (GS_FULL) advance(at, 1, columns);
        }
    }
}

__device__ __forceinline__ Band begin_band(int z, const long long* weights, const long long* sums,
                                           const BitWriter& out, const Coder& c) {
    Band band = {{}, 0, 0, {c.first_count, Lane(sums[z])}, out};
#pragma unroll
    for (int k = 0; k < COMPONENTS; ++k) band.weights[k] = Lane(weights[z * COMPONENTS + k]);
    return band;
}

// Bands that a block does not have differ from nothing.
__device__ __forceinline__ void clear_halo(Row (&tile)[PIXELS], int lane) {
#pragma unroll
    for (int i = 0; i < HALO; ++i) tile[lane].difference[i] = 0;
}

// Ask for the samples of a tile while the one before it is coded: a warp that is alone on its
// multiprocessor, as with a single scene, has nothing else to do while it waits for them.
__device__ __forceinline__ void fetch_ahead(const Strip& strip, Way own, bool side_by_side,
                                            int lane) {
    constexpr int STEP = SECTOR_WORDS * 4 / sizeof(Sample);
    const int last = strip.bands - 1;
#pragma unroll
    for (int i = 0; i < WARP; i += STEP) {
        const Way pixel = side_by_side ? own : __shfl_sync(~0u, own, i);
        prefetch(strip.samples + pixel + min(side_by_side ? i : lane, last) * strip.stride);
    }
}

// Code a strip along all pixels; returns bits beyond D if a sample does not fit.
__device__ __forceinline__ Wrapping encode_rows(Band& band, const Block& block, const Strip& strip,
                                               const Predictor& p, const Coder& c) {
    __shared__ Row tile[PIXELS];
    const int lane = threadIdx.x, columns = int(block.columns);
    const bool side_by_side = abs(block.stride_z) < abs(block.stride_x);
    const long long pixels = block.rows * block.columns;
    Position first = {0, 0}, own = {0, 0};
    advance(own, lane, columns);
    if (strip.first == 0) clear_halo(tile, lane);
    Wrapping above = 0;
    for (long long t = 0; t < pixels; t += PIXELS) {
        const Pixel pixel = locate(block, loaded_at(block, own));
        above |= side_by_side ? fill_along_bands(tile, strip, pixel, lane, p)
                              : fill_along_pixels(tile, strip, pixel, lane, p);
        // A block is refused with its first sample that does not fit: the numbers that it makes
        // may overflow.
        if (__any_sync(~0u, above >> p.depth != 0)) break;
        __syncwarp();
        advance(own, PIXELS, columns);
        fetch_ahead(strip, way_to(block, loaded_at(block, own)), side_by_side, lane);
        const int count = int(min(pixels - t, (long long)PIXELS));
        if (lane < strip.bands) code_tile(band, tile, lane, t, count, first, columns, p, c);
        __syncwarp();
        advance(first, PIXELS, columns);
    }
    return above;
}

// Code every band of every block into words of its own; a warp for each row of `warps`.
//
// weights, sums : (most bands, C), (most bands,), what a band begins with
// words : the first bit of a word is the most significant
// lane_bits : of each band, also where they exceed its capacity
// status : of each block, 0 before
extern "C" __global__ void __launch_bounds__(WARP)
    encode_bands(const Warp* warps, const Block* blocks, const long long* predictor,
                 const long long* coder, const long long* weights, const long long* sums,
                 unsigned* words, long long* lane_bits, int* status) {
    const int number = warps[blockIdx.x].block, first = warps[blockIdx.x].first;
    const Block block = blocks[number];
    const Predictor p = read_predictor(predictor);
    const Coder c = read_coder(coder);
    const Strip strip = {reinterpret_cast<const Sample*>(block.samples) + first * block.stride_z,
                         block.stride_z, first, min(int(block.bands) - first, WARP)};
    const bool has_band = int(threadIdx.x) < strip.bands;
    const int z = has_band ? first + threadIdx.x : first;
    unsigned* const out = words + block.words + z * block.capacity;
    Band band = begin_band(z, weights, sums, {out, block.capacity}, c);
    if (has_band) code_first(band, strip, threadIdx.x, p, c);
    const Wrapping above = encode_rows(band, block, strip, p, c);
    int found = above >> p.depth ? OUT_OF_RANGE : 0;  // a thread may have loaded others' bands
    if (has_band) {
        band.out.finish();
        lane_bits[block.lane + z] = band.out.bits();
        if (band.out.bits() > 32 * block.capacity) found |= OVERFLOW;
    }
    if (found) atomicOr(&status[number], found);
}
