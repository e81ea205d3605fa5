// A string as runs, as gpu_runs.py fills it.

#include "lists.cuh"

constexpr int SYMBOLS = 256;

struct RunBlock {
    const Byte* bwt;
    Place n, n_lanes, n_runs;
    Place runs_before;  // of the blocks before
    Byte *symbols, *ranks;
    unsigned* begins;  // the first byte of each run
    Place *starts, *bounds, *sizes;
    Byte* lists;
};

// The first byte of a run, or the end.
__device__ __forceinline__ Place begin_of(const RunBlock& block, Place run) {
    return run < block.n_runs ? Place(block.begins[run]) : block.n;
}

__device__ __forceinline__ Place length_of(const RunBlock& block, Place run) {
    return begin_of(block, run + 1) - block.begins[run];
}
