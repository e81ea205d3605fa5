// Symbols of numbers, and the contexts that their tables go by, as symbols.py has them.

#include "lanes/device/lists.cuh"

constexpr int EXACT = 8, CONTEXTS = 64, WIDTH = 64;  // of symbols.py
constexpr int CLASSES = 8, MOST_CLASS = CLASSES - 1, CLASS_BITS = 3;
constexpr int MOST_SMOOTHED = 1100;
constexpr int PRECISION = 12, TOTAL = 1 << PRECISION;  // of rans.py
constexpr int RAW = 16;                                // bits that a state gives at once

// The symbol of a number >= 0.
__device__ __forceinline__ int number_to_symbol(unsigned value) {
    if (value < EXACT) return int(value);
    const int octave = width(value);
    return 2 * octave + 2 + int(value >> (octave - 1) & 1);
}

// How many bits of a number a symbol >= EXACT does not tell.
__device__ __forceinline__ int bits_below(int symbol) {
    return (symbol - 4) >> 1;
}

// The least number of a symbol.
__device__ __forceinline__ unsigned get_least_number(int symbol) {
    return symbol < EXACT ? unsigned(symbol) : (2u | (symbol & 1)) << bits_below(symbol);
}

// Return the class of a symbol state's numbers after one more of them.
__device__ __forceinline__ int next_class(int of_numbers, int symbol) {
    const int octave = width(get_least_number(symbol) + 1);
    return min(MOST_CLASS, (2 * of_numbers + (octave ? 4 * octave + 3 : 1)) >> 2);
}

// The smoothed rank after the symbol of a rank.
__device__ __forceinline__ int smoothed_by(int smoothed, int rank) {
    const int step = rank < EXACT ? 100 * rank : rank == EXACT ? 900 : MOST_SMOOTHED;
    return smoothed + ((step - smoothed) >> 2);
}

// Return the context of a rank.
// symbol_state : classes of the symbol's lengths, above those of its ranks
__device__ __forceinline__ int rank_context(int smoothed, int symbol_state) {
    return class_of(smoothed) * CLASSES | (symbol_state & MOST_CLASS);
}

// The context of a length after the symbol of a rank.
__device__ __forceinline__ int length_context(int symbol_state, int rank) {
    const int kind = (rank >= 1) + (rank >= 2) + (rank >= 3) + (rank >= 7) + (rank >= 10);
    return (symbol_state & MOST_CLASS << CLASS_BITS) | kind;
}

// Return the state of a symbol after a run.
__device__ __forceinline__ Byte update_symbol_state(int symbol_state, int rank, int length) {
    const int of_lengths = next_class(symbol_state >> CLASS_BITS, length);
    return Byte(of_lengths << CLASS_BITS | next_class(symbol_state & MOST_CLASS, rank));
}
