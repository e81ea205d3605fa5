// One rANS state a lane, which a thread reads in reading order (SPEC.md, "Entropy coder").
//
// A thread never stops in between: reads stay within its lane, loops end with what there is to
// write, and only at the end `is_whole` says whether it was right all along.

using Byte = unsigned char;
using Place = long long;

constexpr int PRECISION = 12, TOTAL = 1 << PRECISION;
constexpr int FREQUENCY = 8, OFFSET = 20;  // bits where these begin of a slot, above the symbol
constexpr int SYMBOLS = 256;
constexpr unsigned LOWEST = 1u << 16;
constexpr int STATE_BYTES = 4, ESCAPE = 255, MOST_BITS = 40;
constexpr Place ABSENT = 1ll << 60;        // a bit that a place gets where a table is not there
constexpr Place FIRST = (1ll << 32) - 1;  // the bits of `first` that are a place in `slots`

// `RansTables` of tables.py.
struct Tables {
    const unsigned* slots;
    const Place* first;
};

// A lane data[..stop]: its state, and the place of its next word.
struct Lane {
    const Byte* data;
    Place at, stop;
    unsigned x;
};

__device__ __forceinline__ int bit_length(unsigned long long value) {
    return 64 - __clzll((long long)(value));
}

// A lane data[at..stop]; its place is ABSENT where it has no state.
__device__ __forceinline__ Lane begin_lane(const Byte* data, Place at, Place stop) {
    if (stop - at < STATE_BYTES) return {data, at | ABSENT, stop, LOWEST};
    const Byte* const p = data + at;
    const unsigned x = p[0] | p[1] << 8 | p[2] << 16 | unsigned(p[3]) << 24;
    return {data, at + STATE_BYTES, stop, x};
}

__device__ __forceinline__ bool is_whole(const Lane& lane) {
    return lane.x == LOWEST && lane.at == lane.stop;
}

// Take a word where the state is too low. Lane 0 lies before, so that there are two bytes.
__device__ __forceinline__ void refill(Lane& lane) {
    if (lane.x >= LOWEST) return;
    const Byte* const p = lane.data + min(lane.at, lane.stop - 2);
    lane.x = lane.x << 16 | p[0] | p[1] << 8;
    lane.at += 2;
}

__device__ __forceinline__ int get(const Tables& tables, int t, Lane& lane) {
    const Place first = tables.first[t];
    const unsigned entry = tables.slots[(first & FIRST) + (lane.x & (TOTAL - 1))];
    const unsigned frequency = (entry >> FREQUENCY & (TOTAL - 1)) + 1;
    lane.x = frequency * (lane.x >> PRECISION) + (entry >> OFFSET);
    lane.at |= first & ABSENT;
    refill(lane);
    return int(entry & (SYMBOLS - 1));
}

__device__ __forceinline__ unsigned long long get_raw(int bits, Lane& lane) {
    unsigned long long value = 0;
    while (bits > 0) {
        const int part = min(bits, PRECISION), rest = PRECISION - part;
        bits -= part;
        const unsigned slot = lane.x & (TOTAL - 1);
        value = value << part | slot >> rest;
        lane.x = (lane.x >> PRECISION << rest) + (slot & ((1u << rest) - 1));
        refill(lane);
    }
    return value;
}

// A number whose bit length was read.
__device__ __forceinline__ Place rest_of_number(int bits, Lane& lane) {
    if (bits > MOST_BITS) {
        lane.at |= ABSENT;
        return 0;
    }
    if (bits < 2) return bits;
    return Place(1ull << (bits - 1) | get_raw(bits - 1, lane));
}

__device__ __forceinline__ Place get_number(const Tables& tables, int t, Lane& lane) {
    return rest_of_number(get(tables, t, lane), lane);
}

__device__ __forceinline__ Place get_small(const Tables& tables, int t, int rest, Lane& lane) {
    const int value = get(tables, t, lane);
    return value == ESCAPE ? ESCAPE + get_number(tables, rest, lane) : value;
}
