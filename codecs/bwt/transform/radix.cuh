// One pass of a stable radix sort of lists of items, one list for each block of a launch.
//
// A thread block takes a tile of a list, a warp a part of the tile, in order. Counts lie by list,
// digit and tile, so that their sums before them are where the items go.

#include "warps/scan.cuh"

constexpr int DIGITS = 256;  // as many as threads
constexpr Place TILE = 4096, WARP_PART = TILE / WARPS;

// Where the items of a list lie among those of all lists.
struct List {
    Place begin, n;
};

// The items of a thread block.
struct Tile {
    int list, number;
    Place begin, end;  // within the list
};

__device__ __forceinline__ Tile this_tile(Place n, int tiles) {
    const int list = int(blockIdx.x) / tiles, number = int(blockIdx.x) % tiles;
    const Place begin = number * TILE, end = begin + TILE;
    return {list, number, begin, end < n ? end : n};
}

// Where a tile has its place of a digit.
__device__ __forceinline__ Place place_of(const Tile& tile, int tiles) {
    return (Place(tile.list) * DIGITS + threadIdx.x) * tiles + tile.number;
}

// Count the items of a tile by digit_of(i); counts : (lists, DIGITS, tiles).
template <class Digit>
__device__ __forceinline__ void count_digits(const Tile& tile, int tiles, unsigned* counts,
                                             Digit digit_of) {
    __shared__ unsigned own[DIGITS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (Place i = tile.begin + threadIdx.x; i < tile.end; i += THREADS)
        atomicAdd(&own[digit_of(i)], 1u);
    __syncthreads();
    counts[place_of(tile, tiles)] = own[threadIdx.x];
}

// Call put(i, to) for each item of a tile; firsts : (lists, DIGITS, tiles), where its digits go.
template <class Digit, class Put>
__device__ __forceinline__ void move_items(const Tile& tile, int tiles, const unsigned* firsts,
                                           Digit digit_of, Put put) {
    __shared__ unsigned next[WARPS][DIGITS];
    const int lane = int(threadIdx.x) % WARP, warp = int(threadIdx.x) / WARP;
    const Place begin = tile.begin + warp * WARP_PART, stop = begin + WARP_PART;
    const Place end = stop < tile.end ? stop : tile.end;
    for (int w = 0; w < WARPS; ++w) next[w][threadIdx.x] = 0;
    __syncthreads();
    for (Place i = begin + lane; i < end; i += WARP) atomicAdd(&next[warp][digit_of(i)], 1u);
    __syncthreads();
    unsigned before = firsts[place_of(tile, tiles)];
    for (int w = 0; w < WARPS; ++w) {
        const unsigned own = next[w][threadIdx.x];
        next[w][threadIdx.x] = before;
        before += own;
    }
    __syncthreads();
    for (Place at = begin; at < end; at += WARP) {
        const Place i = at + lane;
        const int digit = i < end ? int(digit_of(i)) : DIGITS;
        const unsigned peers = __match_any_sync(~0u, digit);
        const int before_this = __popc(peers & ((1u << lane) - 1));
        const unsigned to = i < end ? next[warp][digit] + before_this : 0;
        __syncwarp();  // all have read, then the first of each digit writes
        if (i < end && before_this == 0) next[warp][digit] += __popc(peers);
        __syncwarp();
        if (i < end) put(i, to);
    }
}
