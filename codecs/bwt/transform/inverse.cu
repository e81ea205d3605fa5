// The inverse of the transform (SPEC.md, Transform): all blocks of a launch.
//
// One pass of a stable sort of the transformed bytes gives the words; a thread follows a chain.

#include "radix.cuh"

constexpr int BYTE = 8;  // bits of the byte, below the row, in a word

// A block: its bytes, rows that are kept, and where it goes.
struct Transformed {
    const Byte* bwt;
    Place n;
    const unsigned* rows;
    Byte* out;
    Place every;  // bytes between positions of rows
    Place begin;  // bytes of the blocks before
    unsigned* words;
};

// Count bytes; counts : (n_blocks, DIGITS, tiles).
extern "C" __global__ void __launch_bounds__(THREADS)
    count_bytes(const Transformed* blocks, int tiles, unsigned* counts) {
    const Transformed block = blocks[blockIdx.x / tiles];
    const Tile tile = this_tile(block.n, tiles);
    count_digits(tile, tiles, counts, [&](Place i) { return block.bwt[i]; });
}

// Fill (n + 2,) words of each block: of each row the one of the next suffix << 8 | its first byte.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_words(const Transformed* blocks, int tiles, const unsigned* firsts) {
    const Transformed block = blocks[blockIdx.x / tiles];
    const Tile tile = this_tile(block.n, tiles);
    if (block.n == 0) return;
    const Place sentinel = block.rows[0];
    move_items(
        tile, tiles, firsts, [&](Place i) { return block.bwt[i]; },
        [&](Place i, unsigned to) {
            const unsigned row = unsigned(i + (i >= sentinel));
            block.words[1 + to - block.begin] = row << BYTE | block.bwt[i];
        });
    if (tile.number == 0 && threadIdx.x == 0)  // a chain that is at its end too early stays away
        block.words[0] = block.words[block.n + 1] = unsigned(block.n + 1) << BYTE;
}

// Follow the chains, `chains` threads for each block; statuses : (n_blocks,), 0 before, 1 where a
// row is out of range, 2 where a chain does not end at the next row.
extern "C" __global__ void __launch_bounds__(WARP)
    follow_chains(const Transformed* blocks, int chains, int n_blocks, unsigned* statuses) {
    const int thread = int(blockIdx.x) * WARP + int(threadIdx.x);
    const int number = thread / chains, chain = thread % chains;
    if (number >= n_blocks) return;
    const Transformed block = blocks[number];
    const Place begin = chain * block.every, next = begin + block.every;
    if (begin >= block.n) return;
    const bool is_last = next >= block.n;
    const Place end = is_last ? block.n : next;
    unsigned row = block.rows[chain];
    if (row < 1 || row > block.n) {
        atomicOr(&statuses[number], 1u);
        return;
    }
    for (Place i = begin; i < end; ++i) {
        const unsigned word = block.words[row];
        block.out[i] = Byte(word);
        row = word >> BYTE;
    }
    if (row != (is_last ? 0 : block.rows[chain + 1])) atomicOr(&statuses[number], 2u);
}
