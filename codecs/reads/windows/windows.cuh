// Blocks and their windows, as gpu_windows.py fills the tables of them: a thread takes a window.

#include "entropy/rans.cuh"

constexpr int THREADS = 32;  // of a thread block: small ones spread over the device
constexpr int BLOCKS = 16;   // of these at once, so that a thread has registers enough
constexpr Byte NEWLINE = 10;

// A lane data[begin..end] that is not empty: window `number` of a block.
struct Window {
    Place block, number, begin, end;
};

// What a block of text is.
struct Text {
    Byte* out;
    Place used, lane, is_open;
};

// Where the text of a window begins and ends, and its lines; WRONG ends.
struct Span {
    Place begin, end, lines;
};
constexpr Place WRONG = -1;

// What a window begins with: where its lane goes on, where its text begins, its lines.
struct Start {
    Lane lane;
    Place begin, lines;
};

__device__ __forceinline__ int this_window() {
    return int(blockIdx.x * THREADS + threadIdx.x);
}

__device__ __forceinline__ Place end_of(const Window& window, const Text& text) {
    return min(text.used, (window.number + 1) * text.lane);
}

// Whether a window begins as one may: then those of a block begin one behind the other, and text
// that ends where the next one begins is written by no two threads, whatever the lanes say.
__device__ __forceinline__ bool is_legal(const Start& start, const Window& window,
                                         const Text& text) {
    return start.lane.at <= start.lane.stop && start.lines > 0 &&
           start.begin < end_of(window, text);
}

// Where the text of a window has to end: where that of the next one begins; WRONG if that is none.
template <class Model>
__device__ __forceinline__ Place limit_of(const Byte* data, const Model& model,
                                          const Window* windows, int i, int n) {
    if (i + 1 == n || windows[i + 1].block != windows[i].block) return model.text.used;
    const Start next = begin_window(data, windows[i + 1], model);
    return is_legal(next, windows[i + 1], model.text) ? next.begin : WRONG;
}
