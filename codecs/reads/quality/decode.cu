// Decoder of qualities (SPEC.md, Qualities): all blocks of a batch in one launch, a window for
// each thread.

#include "windows/windows.cuh"

constexpr int NUMBER = 0, SAME = 1, LENGTH = 2, MORE = 3;  // tables of syntax.py
constexpr int PLACES = 8, LAST_LEVEL = 7, LONG = 1000, PLACE_BITS = 40;  // of contexts.py
constexpr unsigned MOST_CHANGED = 1 << LAST_LEVEL;  // a sum from which on the level is the last

constexpr int LOW = 8, COUNT = 20;  // bits of an entry where these begin, above the letter

struct Block {
    Text text;
    Place part, before, shift;  // `Strides` of contexts.py
    Place row_bits;             // of the places of a table in `entries`
    Tables syntax;
    const unsigned short* table_of;  // of each context
    const Byte* slots;               // of each table TOTAL: values
    const unsigned* entries;         // of each value: letter, first slot, frequency - 1
};

// What contexts are made of: three values, the sum of changes + 1, and a place.
struct Past {
    unsigned before, second, third, changed;
    unsigned long long place;
};

// What a place grows by from letter to letter; its part is place >> PLACE_BITS.
__device__ __forceinline__ unsigned long long place_step(Place length) {
    if (length >= LONG || length == 0) return 1;
    const unsigned long long whole = (unsigned long long)(PLACES) << PLACE_BITS;
    return (whole + length - 1) / length;
}

__device__ __forceinline__ Place number_context(const Past& past, const Block& block) {
    const unsigned pair = max(past.second, past.third) >> block.shift << 1;
    const int level = min(LAST_LEVEL, 31 - __clz(int(past.changed)));
    const Place row = Place(past.place >> PLACE_BITS) * block.part + past.before * block.before;
    return row + ((pair | unsigned(past.second == past.third)) << 3) + level;
}

__device__ __forceinline__ Past update_past(const Past& past, unsigned value, unsigned long long step) {
    const unsigned change = max(value, past.before) - min(value, past.before);
    const unsigned changed = past.changed + (past.place != 0 ? change : 0);
    return {value, past.before, past.second, min(changed, MOST_CHANGED), past.place + step};
}

// The value that a lane says next, and its letter.
__device__ __forceinline__ unsigned take_value(Lane& lane, const Past& past, const Block& block,
                                                Byte& letter) {
    const unsigned slot = lane.x & (TOTAL - 1);
    const Place table = block.table_of[number_context(past, block)];
    const unsigned value = block.slots[table * TOTAL + slot];
    const unsigned entry = block.entries[(table << block.row_bits) + value];
    const unsigned first = entry >> LOW & (TOTAL - 1), frequency = (entry >> COUNT) + 1;
    lane.x = frequency * (lane.x >> PRECISION) + slot - first;
    refill(lane);
    letter = Byte(entry);
    return value;
}

__device__ __forceinline__ Start begin_window(const Byte* data, const Window& window,
                                              const Block& block) {
    Lane lane = begin_lane(data, window.begin, window.end);
    const Place lead = get_number(block.syntax, NUMBER, lane);
    const Place lines = get_number(block.syntax, NUMBER, lane);
    return {lane, window.number * block.text.lane + lead, lines};
}

// Read what a line begins with; whether it has room before `limit`.
__device__ __forceinline__ bool begin_line(Lane& lane, const Block& block, Place begin,
                                           Place window_end, Place limit, Place& length) {
    if (!get(block.syntax, SAME, lane)) length = get_small(block.syntax, LENGTH, MORE, lane);
    if (lane.at > lane.stop || begin >= window_end || begin + length > limit) return false;
    return begin + length < limit || (limit == block.text.used && block.text.is_open);
}

__device__ __forceinline__ void read_line(Lane& lane, const Block& block, Place begin,
                                          Place length) {
    const unsigned long long step = place_step(length);
    Past past = {0, 0, 0, 1, 0};
    for (Place i = begin; i < begin + length; ++i) {
        const unsigned value = take_value(lane, past, block, block.text.out[i]);
        past = update_past(past, value, step);
    }
}

// Return where the text of a window ends, which is `limit` at most; WRONG where it is none.
__device__ __forceinline__ Place read_window(Start& start, const Block& block, Place window_end,
                                             Place limit) {
    Place length = 0, at = start.begin;
    for (Place i = 0; i < start.lines; ++i) {
        if (!begin_line(start.lane, block, at, window_end, limit, length)) return WRONG;
        read_line(start.lane, block, at, length);
        at += length;
        if (at < limit) block.text.out[at++] = NEWLINE;
    }
    return is_whole(start.lane) ? at : WRONG;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    decode_windows(const Byte* data, const Block* blocks, const Window* windows, int n,
                   Span* spans, Byte*) {
    const int i = this_window();
    if (i >= n) return;
    const Window window = windows[i];
    const Block block = blocks[window.block];
    const Place limit = limit_of(data, block, windows, i, n);
    Start start = begin_window(data, window, block);
    const bool is_right = limit != WRONG && is_legal(start, window, block.text);
    const Place window_end = end_of(window, block.text);
    const Place end = is_right ? read_window(start, block, window_end, limit) : WRONG;
    spans[i] = {start.begin, end, start.lines};
}
