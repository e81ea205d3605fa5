// Symbols of numbers, and the contexts that their tables go by, as symbols.py has them.

#include "lanes/device/lists.cuh"

constexpr int EXACT = 8, CONTEXTS = 64, WIDTH = 64;  // of symbols.py
constexpr int CLASSES = 8, MOST_HABIT = CLASSES - 1, HABIT_BITS = 3;
constexpr int MOST_SMOOTHED = 1100;
constexpr int PRECISION = 12, TOTAL = 1 << PRECISION;  // of rans.py
constexpr int RAW = 16;                                // bits that a state gives at once

// The symbol of a number >= 0.
__device__ __forceinline__ int symbol_of(unsigned value) {
    if (value < EXACT) return int(value);
    const int octave = width(value);
    return 2 * octave + 2 + int(value >> (octave - 1) & 1);
}

// How many bits of a number a symbol >= EXACT does not tell.
__device__ __forceinline__ int bits_below(int symbol) {
    return (symbol - 4) >> 1;
}

// The least number of a symbol.
__device__ __forceinline__ unsigned least_of(int symbol) {
    return symbol < EXACT ? unsigned(symbol) : (2u | (symbol & 1)) << bits_below(symbol);
}

// What a habit becomes with a symbol.
__device__ __forceinline__ int next_habit(int habit, int symbol) {
    const int octave = width(least_of(symbol) + 1);
    return min(MOST_HABIT, (2 * habit + (octave ? 4 * octave + 3 : 1)) >> 2);
}

// The smoothed rank after the symbol of a rank.
__device__ __forceinline__ int smoothed_by(int smoothed, int rank) {
    const int step = rank < EXACT ? 100 * rank : rank == EXACT ? 900 : MOST_SMOOTHED;
    return smoothed + ((step - smoothed) >> 2);
}

// The context of a rank; habits : of the run's symbol, of lengths above those of ranks.
__device__ __forceinline__ int rank_context(int smoothed, int habits) {
    return class_of(smoothed) * CLASSES | (habits & MOST_HABIT);
}

// The context of a length after the symbol of a rank.
__device__ __forceinline__ int length_context(int habits, int rank) {
    const int kind = (rank >= 1) + (rank >= 2) + (rank >= 3) + (rank >= 7) + (rank >= 10);
    return (habits & MOST_HABIT << HABIT_BITS) | kind;
}

// The habits of a symbol after a run.
__device__ __forceinline__ Byte habits_after(int habits, int rank, int length) {
    const int of_lengths = next_habit(habits >> HABIT_BITS, length);
    return Byte(of_lengths << HABIT_BITS | next_habit(habits & MOST_HABIT, rank));
}
