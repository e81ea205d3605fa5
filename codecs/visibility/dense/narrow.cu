// Blocks of doubles that hold float32s, to words of these and back (SPEC.md, "Kind 4"); 64 bits alone.
//
// Words of float32 lie as in an array (time, frequency, rest, component) without gaps, one block
// after the other. A warp takes a tile; what it loads and stores lies as the block does.

#include "lanes/table.cuh"

constexpr int LOST = 29, MOVED = 896;  // bits of fractions; of the exponent field
constexpr unsigned NARROW_FRACTION = 23, NARROW_SIGN = 31;

// Whether a field is that of zeros or of what is not finite: they stay at their ends.
__device__ __forceinline__ bool is_end(Row field) {
    return field == 0 || field == MOST_EXPONENT;
}

__device__ __forceinline__ bool fits(Row word) {
    const Row field = word >> FRACTION & MOST_EXPONENT;
    const bool is_near = field > MOVED && field < MOVED + 255;
    return (is_end(field) || is_near) && (word & ((ONE << LOST) - 1)) == 0;
}

__device__ __forceinline__ unsigned narrowed(Row word) {
    const Row field = word >> FRACTION & MOST_EXPONENT;
    const unsigned exponent = unsigned(is_end(field) ? field : field - MOVED) & 255;
    const unsigned fraction = unsigned(word >> LOST) & ((1u << NARROW_FRACTION) - 1);
    return unsigned(word >> (BITS - 1)) << NARROW_SIGN | exponent << NARROW_FRACTION | fraction;
}

__device__ __forceinline__ Row widened(unsigned word) {
    const unsigned field = word >> NARROW_FRACTION & 255;
    const Row exponent = field == 255 ? MOST_EXPONENT : field == 0 ? 0 : field + MOVED;
    const Row fraction = word & ((1u << NARROW_FRACTION) - 1);
    return Row(word >> NARROW_SIGN) << (BITS - 1) | exponent << FRACTION | fraction << LOST;
}

// The number of a word of this lane in an array without gaps.
__device__ __forceinline__ long long number_of(const Block& block, unsigned strip,
                                               const Place& place) {
    const long long per_place = block.rest * block.components;
    const long long series = (long long)(strip) * LANES + threadIdx.x;
    const long long segment = series / per_place;
    const long long t = place.t + (block.folds_time ? segment * block.part_times : 0);
    const long long f = place.f + (block.folds_time ? 0 : segment * block.part_frequencies);
    return (t * block.frequencies + f) * per_place + series % per_place;
}

// Say which blocks have words that do not fit; `wide` is 0 before.
//
// owners : (tiles,) numbers of their blocks
extern "C" __global__ void __launch_bounds__(LANES)
    find_wide(const int* owners, const Block* blocks, const Axis* axes, unsigned* wide) {
    const Block block = blocks[owners[blockIdx.x]];
    bool all = true;
    for_tile(block, axes, unsigned(blockIdx.x - block.first_tile),
             [&](const Lane& lane, const Place& place, unsigned) {
                 all = all && fits(word_before<true>(block, lane, place, 0, 0));
             });
    if (!all) atomicOr(wide + owners[blockIdx.x], 1u);
}

// Fill the words of float32 of blocks whose words fit.
//
// firsts : of each block among all words
extern "C" __global__ void __launch_bounds__(LANES)
    narrow_words(const int* owners, const Block* blocks, const Axis* axes, const long long* firsts,
                  unsigned* words) {
    const Block block = blocks[owners[blockIdx.x]];
    unsigned* const own = words + firsts[owners[blockIdx.x]];
    for_tile(block, axes, unsigned(blockIdx.x - block.first_tile),
             [&](const Lane& lane, const Place& place, unsigned strip) {
                 if (!is_there(lane, place.t, place.f)) return;
                 own[number_of(block, strip, place)] =
                     narrowed(word_before<true>(block, lane, place, 0, 0));
             });
}

// Fill blocks from their words of float32.
extern "C" __global__ void __launch_bounds__(LANES)
    widen_words(const int* owners, const Block* blocks, const Axis* axes, const long long* firsts,
                 const unsigned* words) {
    const Block block = blocks[owners[blockIdx.x]];
    const unsigned* const own = words + firsts[owners[blockIdx.x]];
    for_tile(block, axes, unsigned(blockIdx.x - block.first_tile),
             [&](const Lane& lane, const Place& place, unsigned strip) {
                 if (!is_there(lane, place.t, place.f)) return;
                 const Row word = widened(own[number_of(block, strip, place)]);
                 *reinterpret_cast<Word*>(place.at) = in_order(Word(word));
             });
}
