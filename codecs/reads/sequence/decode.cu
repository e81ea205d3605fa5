// Decoder of sequences (SPEC.md, Sequences): all blocks of a batch in one launch, a window for each
// thread.

#include "pieces.cuh"

__device__ __forceinline__ void fill_bytes(Byte* out, Place begin, Place end, int byte) {
    for (Place i = begin; i < end; ++i) out[i] = Byte(byte);
}

// Fill a line of n letters with bases and its exceptions, if there are any; return whether.
//
// Decoders of pieces write where a base is and leave other bytes alone.
__device__ __forceinline__ bool get_exceptions(const Tables& tables, Byte* out, Place place, Place n,
                                         Lane& lane) {
    const Place runs = get_small(tables, RUNS, REST, lane);
    if (runs > n) lane.at |= ABSENT;
    if (runs == 0 || runs > n) return false;
    const Place end = place + n;
    fill_bytes(out, place, end, letter_of(0));
    for (Place i = 0; i < runs; ++i) {
        const Place gap = get_number(tables, RUN_GAP, lane);
        const Place length = get_number(tables, RUN_LENGTH, lane);
        const int byte = get(tables, RUN_BYTE, lane);
        place += gap;
        if (length < 1 || place + length > end || lane.at > lane.stop) {
            lane.at |= ABSENT;
            break;
        }
        fill_bytes(out, place, place + length, byte);
        place += length;
    }
    return true;
}

// Read a line to out[place..], before `limit`; return the place behind it.
__device__ __forceinline__ Place get_line(const Block& block, Memory& memory, bool has_before,
                                          int odd, Place place, Place limit, Lane& lane) {
    const Tables& tables = block.tables;
    Byte* const out = block.text.out;
    bool repeats = false;
    if (block.is_sorted && !block.pairs && has_before) {
        memory.repeats = get(tables, REPEAT + memory.repeats, lane);
        repeats = memory.repeats != 0;
    }
    if (!repeats && !get(tables, SAME_LENGTH, lane))
        memory.length = get_small(tables, LENGTH, REST, lane);
    const Place length = memory.length, end = place + length;
    const bool is_closed = !(block.text.is_open && end == block.text.used);
    if (lane.at > lane.stop || end + is_closed > limit || !(is_closed || length)) {
        lane.at |= ABSENT;
        return place;
    }
    if (repeats) {
        for (Place i = place; i < end; ++i) out[i] = out[i - length - 1];
    } else {
        if (!odd) memory.has_mate = 0;
        const Target target = {out, get_exceptions(tables, out, place, length, lane)};
        if (length && lane.at <= lane.stop)
            get_pieces(block, memory, odd, target, place, end, lane);
    }
    if (is_closed) out[end] = NEWLINE;
    return end + is_closed;
}

// What a window says before its lead: whether its first line is odd, and the primary place.
__device__ __forceinline__ Memory begin_memory(const Block& block, Lane& lane, int& odd) {
    Memory memory = {0, 0, 0, 0, 0, 0};
    odd = block.pairs ? int(get_raw(1, lane)) : 0;
    if (block.is_sorted) memory.primary = Place(get_raw(PLACE_BITS, lane));
    return memory;
}

// `lane` : of the window, after what `begin_memory` reads
__device__ __forceinline__ Start begin_lines(const Block& block, const Window& window, Lane lane) {
    const Place lead = get_number(block.tables, LEAD, lane);
    const Place lines = get_number(block.tables, LINES, lane);
    return {lane, window.number * block.text.lane + lead, lines};
}

__device__ __forceinline__ Start begin_window(const Byte* data, const Window& window,
                                              const Block& block) {
    Lane lane = begin_lane(data, window.begin, window.end);
    int odd;
    begin_memory(block, lane, odd);
    return begin_lines(block, window, lane);
}

// Return where the text of a window ends, which is `limit` at most; WRONG where it is none.
__device__ __forceinline__ Place fill_window(const Block& block, Memory memory, int odd,
                                             Start& start, Place window_end, Place limit) {
    Place place = start.begin;
    for (Place i = 0; i < start.lines; ++i) {
        if (start.lane.at > start.lane.stop || place >= min(window_end, limit)) return WRONG;
        place = get_line(block, memory, i > 0, odd, place, limit, start.lane);
        odd ^= int(block.pairs);
    }
    return is_whole(start.lane) ? place : WRONG;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    decode_windows(const Byte* data, const Block* blocks, const Window* windows, int n,
                   Span* spans, Byte*) {
    const int i = this_window();
    if (i >= n) return;
    const Window window = windows[i];
    const Block block = blocks[window.block];
    const Place limit = limit_of(data, block, windows, i, n);
    Lane lane = begin_lane(data, window.begin, window.end);
    int odd;
    const Memory memory = begin_memory(block, lane, odd);
    Start start = begin_lines(block, window, lane);
    const bool is_right = limit != WRONG && is_legal(start, window, block.text);
    const Place window_end = end_of(window, block.text);
    const Place end =
        is_right ? fill_window(block, memory, odd, start, window_end, limit) : WRONG;
    spans[i] = {start.begin, end, start.lines};
}
