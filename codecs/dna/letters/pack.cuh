// Four letters of a word and their codes (SPEC.md, Letters): as in pack.py, on words of 32 bits.

#include "core/nucleotides/nucleotides.cuh"
#include "warps/scan.cuh"

constexpr unsigned ONES = 0x01010101u, SIGNS = 0x80u * ONES, LOWS = 0x7Fu * ONES;
constexpr unsigned FILLERS = 'A' * ONES;  // of code 0
constexpr int SHARE = 16;                 // letters of a thread
constexpr int WORDS = SHARE / 4;
constexpr int PIECE = THREADS * SHARE;

// A block of text, as gpu_split.py and gpu_join.py fill the table of them; both aligned to 16.
struct Text {
    Byte* letters;
    Place n;
    Byte* packed;
};

// In which bits 4 letters differ from upper case bases.
__device__ __forceinline__ unsigned strangeness(unsigned word) {
    const unsigned is_t = word >> 2 & ~(word >> 1) & ONES;
    return (word & 0xF9u * ONES) ^ 'A' * ONES ^ (is_t | is_t << 4);
}

// 4 bases as a byte, the first in its high bits.
__device__ __forceinline__ unsigned packed_word(unsigned word) {
    const unsigned codes = (word >> 1 & 3 * ONES) ^ (word >> 2 & ONES);
    return codes * 0x40100401u >> 24;  // each code to bits of its own: nothing is carried
}

// The bases of a packed byte.
__device__ __forceinline__ unsigned unpacked_word(unsigned byte) {
    const unsigned codes =
        byte >> 6 | (byte << 4 & 0x300) | (byte << 14 & 0x30000) | (byte << 24 & 0x3000000);
    const unsigned high = codes >> 1 & ONES, is_t = high & codes;
    const unsigned letters = FILLERS | (codes | high) << 1;  // T as if it were 0x47
    return letters ^ (is_t | is_t << 1 | is_t << 4);
}
