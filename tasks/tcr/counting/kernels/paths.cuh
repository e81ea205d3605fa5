// What all kernels of recombination paths share: symbols, multiplicities of gene ends, lanes.
//
// Specialised by GS_MAX_P, GS_MAX_N, GS_STRANDS and GS_MIN_D_END, as in model.py, and by GS_WIDE:
// whether a D gene with its palindromes has more than 32 symbols. Boundaries of a reference count
// from 0, R[a:b] lies between two. SPEC.md, "Objects".

#include "cuda.cuh"

constexpr int WARP = 32;
constexpr int HALF = 16;          // lanes for the values of nu, or of total n
constexpr int NU = GS_MAX_N + 1;  // how many values nu has
constexpr int PI = GS_MAX_P + 1;
static_assert(NU <= HALF, "a lane for each nu");

using Code = unsigned char;  // a set of nucleotides: bits A, T, C, G

// Sums and products are taken modulo 2^64. So only results have to fit, which the caller has checked:
// no intermediate number needs a bound, and wildcards need no other type.
using Paths = unsigned long long;

#if GS_WIDE
using Mask = unsigned long long;  // of the symbols of a D gene, the first in bit 0
__device__ __forceinline__ int count_ones(Mask mask) { return __popcll(mask); }
#else
using Mask = unsigned;
__device__ __forceinline__ int count_ones(Mask mask) { return __popc(mask); }
#endif
constexpr int MASK_BITS = 8 * sizeof(Mask);

struct Sequence {
    const Code* codes;
    int length;
};

struct Sequences {
    const Code* codes;
    const long long* starts;
    int count;

    __device__ __forceinline__ int length(int i) const { return int(starts[i + 1] - starts[i]); }
    // Whether there is such a part, long enough for a palindrome.
    __device__ __forceinline__ bool has(int i) const {
        return 0 <= i && i < count && length(i) >= GS_MAX_P;
    }
    __device__ __forceinline__ Sequence operator[](int i) const {
        return {codes + starts[i], length(i)};
    }
};

__device__ __forceinline__ int complement(int code) {
    return (code & 5) << 1 | (code & 10) >> 1;
}

// Symbol k of a gene with palindromes at both ends: germline at 0 <= k < length.
__device__ __forceinline__ int symbol(const Sequence& gene, int k) {
    if (k < 0) return complement(gene.codes[-1 - k]);
    const int beyond = k - gene.length;
    return beyond < 0 ? gene.codes[k] : complement(gene.codes[gene.length - 1 - beyond]);
}

// s(change, pi): ways to change the length of a gene end. SPEC.md, "Gene ends".
__device__ __forceinline__ constexpr int ways(int change, int pi) {
    return change <= 0 ? GS_STRANDS * pi + 1 : change > pi ? 0 : GS_STRANDS * (pi + 1 - change);
}

// A lane: its half of the warp, and its nu. Lanes beyond the last nu compute what the last one does,
// and write nothing.
struct Lane {
    int number, half, nu;
    bool writes;
};

__device__ __forceinline__ Lane this_lane() {
    const int number = threadIdx.x % WARP, column = number % HALF;
    return {number, number / HALF, min(column, NU - 1), column < NU};
}
