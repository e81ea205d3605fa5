// The consensus of all blocks of a batch, on both strands (SPEC.md, Consensus).

#include "columns.cuh"
#include "fours.cuh"

constexpr Place SLICE = 1 << 14;  // letters

// Decode slices, a thread for each; `is_wrong` are zeros, 1 for those that are not whole.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    read_slices(const Byte* data, const Block* blocks, const Window* slices, int n,
                unsigned* is_wrong) {
    const int i = this_window();
    if (i >= n) return;
    const Block block = blocks[slices[i].block];
    const Place first = slices[i].number * SLICE;
    Lane lane = begin_lane(data, slices[i].begin, slices[i].end);
    if (lane.at <= lane.stop)
        get_fours(block.tables, CONSENSUS, lane, block.forward, first,
                  min(SLICE, block.size - first));
    is_wrong[i] = !is_whole(lane);
}

// Fill the other strand of slices that are whole, a thread block for each, and note where the
// second letter of a column is its first.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    write_complement(const Byte*, const Block* blocks, const Window* slices, int, unsigned* is_wrong) {
    const Window slice = slices[blockIdx.x];
    const Block block = blocks[slice.block];
    const Place first = slice.number * SLICE, end = min(first + SLICE, block.size);
    const bool is_there = is_wrong[blockIdx.x] == 0;
    __syncthreads();  // all have looked before one notes
    if (!is_there) return;
    for (Place i = first + threadIdx.x; i < end; i += THREADS)
        block.backward[block.size - 1 - i] = letter_of(3 - code_of(block.forward[i]));
    const Place last = first_column(block, end);
    for (Place k = first_column(block, first) + threadIdx.x; k < last; k += THREADS)
        if (block.variants[k] >> 2 == code_of(block.forward[block.columns[k]]))
            atomicOr(&is_wrong[blockIdx.x], 1u);
}
