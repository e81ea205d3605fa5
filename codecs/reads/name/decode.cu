// Decoder of names (SPEC.md, Names): all blocks of a batch in one launch, a window for each thread.

#include "tokens.cuh"

// Read a line to out[at..]; return where it ends, -1 where it is wrong, and its tokens.
__device__ __forceinline__ Place read_line(const Model& model, Lane& lane, const Line& line,
                                           Place at, int& k) {
    k = 0;
    line.cuts[0] = int(at);
    while (true) {
        const int operation = take(model, lane, k * PER_COLUMN);
        if (lane.at > lane.stop) return -1;
        if (operation == END) return at;
        int n = 1;
        if (operation == REST || operation >= SAME) {
            n = operation == REST ? line.n_old - k : operation - SAME;
            if (n < 0 || (n == 0 && operation != REST) || k + n > line.n_old) return -1;
            at = copy(line, k, n, at);
        } else if (k < MOST_TOKENS) {
            at = read_token(model, lane, operation, k, line, at);
            line.cuts[k + 1] = int(at);
        } else {
            return -1;
        }
        k += n;
        if (at < 0 || operation == REST) return at;
    }
}

// Return where the text of a window ends, which is `limit` at most; WRONG where it is none.
__device__ __forceinline__ Place read_window(const Model& model, Start& start, Place window_end,
                                             Place limit) {
    Memory& memory = *model.memory;
    for (int i = 0; i <= model.n_tokens; ++i) memory.cuts[0][i] = int(model.cuts[i]);
    const bool is_open = model.text.is_open && limit == model.text.used;
    int n_old = int(model.n_tokens);
    const Byte* source = model.line;
    Place at = start.begin;
    for (Place i = 0; i < start.lines; ++i) {
        if (at >= window_end) return WRONG;
        const Line line = {model.text.out,     limit, memory.cuts[(i + 1) & 1], source,
                           memory.cuts[i & 1], n_old};
        at = read_line(model, start.lane, line, at, n_old);
        if (at < 0) return WRONG;
        source = model.text.out;
        if (at < limit)
            model.text.out[at++] = NEWLINE;
        else if (!is_open || i + 1 < start.lines)
            return WRONG;
    }
    return is_whole(start.lane) ? at : WRONG;
}

// memory : (n,) of the windows, with any content
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    decode_windows(const Byte* data, const Block* blocks, const Window* windows, int n,
                   Span* spans, Memory* memory) {
    const int i = this_window();
    if (i >= n) return;
    const Window window = windows[i];
    const Model model = {blocks[window.block], memory + i};
    const Place limit = limit_of(data, model, windows, i, n);
    Start start = begin_window(data, window, model);
    const bool is_right = limit != WRONG && is_legal(start, window, model.text);
    const Place end =
        is_right ? read_window(model, start, end_of(window, model.text), limit) : WRONG;
    spans[i] = {start.begin, end, start.lines};
}
