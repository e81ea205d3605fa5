// Columns of the consensus that have a class > 0 (SPEC.md, Columns).

#include "syntax.cuh"

// Number of the first column from a place on, 0 <= place <= size.
__device__ __forceinline__ Place first_column(const Block& block, Place place) {
    const Place word = place / WORD;
    const unsigned long long before = block.marks[word] & ((1ull << place % WORD) - 1);
    return block.ranks[word] + __popcll(before);
}
