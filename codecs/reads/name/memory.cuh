// What the streams of names look back at (contexts.py), and what blocks of names are.

#include "windows/windows.cuh"

// Of streams.py.
constexpr int MOST_TOKENS = 63, COLUMNS = MOST_TOKENS + 1, MOST_DIGITS = 18;
constexpr int END = 0, REST = 1, TEXT = 2, UP = 3, DOWN = 5, NUMBER = 7, LONG = 10, PADDED = 8;
constexpr int MATCH = 19, UUID = 20, HEX = 22, SAME = 63;
constexpr int LONG_BITS = 13, TEXT_BYTES = 14, MATCHES = 15, HEX_DIGITS = 16, HEX_REST = 17;
constexpr int VERSION = 18, VARIANT = 19, PER_COLUMN = 20;
constexpr int FIRST_LINES = COLUMNS * PER_COLUMN, N_STREAMS = FIRST_LINES + 2;
constexpr int TEXT_END = 10, UUID_LENGTH = 36;
constexpr int RAW = 1, BEFORE = 3;  // modes

struct Block {
    Text text;
    Place n_tokens;  // of the template
    Tables tables;
    const Byte* modes;  // of streams
    const Place* base;  // first table of each
    const Byte* line;   // the template, the line that comes before each window's first one
    const Place* cuts;  // (n_tokens + 1,) of it
};

// What a thread remembers, in memory of its own: gpu_decode.py counts it.
//
// streams : the byte before in each
// cuts : of two lines, where the tokens of each begin, and where the last one ends
// last, symbol, first, was : of the line: last operation, last byte that is none, first such byte,
//     whether there was one
struct Memory {
    Byte streams[N_STREAMS];
    Byte last, symbol, first, was;
    int cuts[2][COLUMNS + 1];
};

// A block and the memory of the thread.
struct Model : Block {
    Memory* memory;
};

__device__ __forceinline__ bool is_operation(int stream) {
    return stream % PER_COLUMN == 0 && stream < FIRST_LINES;
}

// Begin a line.
__device__ __forceinline__ void forget_line(Memory& memory) {
    memory.last = memory.symbol = memory.first = memory.was = 0;
}

// Begin a window.
__device__ __forceinline__ void forget(Memory& memory) {
    for (int i = 0; i < N_STREAMS; ++i) memory.streams[i] = 0;
    forget_line(memory);
}

// Take note of a byte.
__device__ __forceinline__ void remember(Memory& memory, int stream, int symbol) {
    memory.streams[stream] = Byte(symbol);
    if (!is_operation(stream)) {
        memory.symbol = Byte(symbol);
        if (memory.was == 0) {
            memory.first = Byte(symbol);
            memory.was = 1;
        }
    } else if (symbol <= REST) {  // END or REST: another line begins
        forget_line(memory);
    } else {
        memory.last = Byte(symbol);
    }
}

// The byte that a mode looks at.
__device__ __forceinline__ int context(const Memory& memory, int stream, int mode) {
    if (mode < BEFORE) return 0;
    if (mode < BEFORE + 2) return memory.streams[stream];
    if (mode < BEFORE + 4) return is_operation(stream) ? memory.last : memory.symbol;
    return memory.first;
}

// The next byte of a stream.
__device__ __forceinline__ int take(const Model& model, Lane& lane, int stream) {
    const int mode = model.modes[stream];
    int symbol;
    if (mode == RAW) {
        symbol = int(get_raw(8, lane));
    } else {
        const int seen = context(*model.memory, stream, mode);
        const int table = mode < BEFORE || (mode - BEFORE) % 2 ? seen : bit_length(seen);
        symbol = get(model.tables, int(model.base[stream]) + table, lane);
    }
    remember(*model.memory, stream, symbol);
    return symbol;
}

// A number whose bit length a stream gives.
__device__ __forceinline__ Place take_number(const Model& model, Lane& lane, int stream) {
    return rest_of_number(take(model, lane, stream), lane);
}

__device__ __forceinline__ Start begin_window(const Byte* data, const Window& window,
                                              const Model& model) {
    forget(*model.memory);
    Lane lane = begin_lane(data, window.begin, window.end);
    const Place lead = take_number(model, lane, FIRST_LINES);
    const Place lines = take_number(model, lane, FIRST_LINES + 1);
    return {lane, window.number * model.text.lane + lead, lines};
}
