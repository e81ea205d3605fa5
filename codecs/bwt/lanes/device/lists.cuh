// Lists of lanes, and what is smoothed of them (SPEC.md, "Lanes and lists"): of half a warp, a thread
// for each lane.

using Byte = unsigned char;
using Half = unsigned short;
using Row = unsigned long long;
using Place = long long;

constexpr int LANES = 16;  // of cut.py
constexpr unsigned HALF_WARP = (1u << LANES) - 1;
constexpr int LIST_WORDS = 32;  // of ranks.py
constexpr Row EACH = 0x0101010101010101;
constexpr unsigned LOWEST = 1u << 16;  // a state lies in [2^16, 2^32)

__device__ __forceinline__ unsigned this_lane() {
    return threadIdx.x;
}

// floor(log2 value).
__device__ __forceinline__ int width(unsigned value) {
    return 31 - __clz(int(value));
}

// How many bounds a smoothed number has reached.
__device__ __forceinline__ int class_of(int x) {
    return (x >= 40) + (x >= 110) + (x >= 200) + (x >= 320) + (x >= 460) + (x >= 640) + (x >= 900);
}

// A word of a list with its first symbol moved to `rank` < 8.
__device__ __forceinline__ Row moved_back(Row word, int rank) {
    const Row mask = ~Row(0) >> (56 - 8 * rank);
    return (word & mask) >> 8 | (word & 255) << 8 * rank | (word & ~mask);
}

// Move the first symbol of a list to `rank` < 256.
__device__ __forceinline__ void move_back(Row* words, int rank) {
    Row word = words[0];
    const Row symbol = word & 255;
    const int last = rank >> 3;
    for (int i = 0; i < last; ++i) {
        const Row following = words[i + 1];
        words[i] = word >> 8 | following << 56;
        word = following;
    }
    if (last > 0) word = (word & ~Row(255)) | symbol;
    words[last] = moved_back(word, rank & 7);
}

// Fill out[0..n) by bytes, and by words where these are aligned.
__device__ __forceinline__ void fill(Byte* out, Place n, Byte octet) {
    Byte* const stop = out + n;
    while (out < stop && reinterpret_cast<Row>(out) % sizeof(Row)) *out++ = octet;
    for (; stop - out >= Place(sizeof(Row)); out += sizeof(Row))
        *reinterpret_cast<Row*>(out) = octet * EACH;
    while (out < stop) *out++ = octet;
}
