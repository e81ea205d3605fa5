// A string as runs, lane by lane, with ranks and lists (cut.py, ranks.py): all blocks of a batch.

#include "runs.cuh"
#include "warps/scan.cuh"

constexpr int TILE = 4096, OWN = TILE / THREADS;  // bytes of a thread block, of a thread
constexpr unsigned EVERY = ~0u, NOT_SEEN = ~0u;
constexpr Row ALL = ~Row(0), HIGHS = 0x8080808080808080;

// Where this thread's bytes lie in a block.
__device__ __forceinline__ Place own_begin(int tiles) {
    return Place(blockIdx.x % tiles) * TILE + threadIdx.x * OWN;
}

__device__ __forceinline__ bool begins_run(const RunBlock& block, Place i) {
    return i < block.n && (i == 0 || block.bwt[i] != block.bwt[i - 1]);
}

__device__ __forceinline__ Sum own_runs(const RunBlock& block, Place first) {
    Sum runs = 0;
    for (Place i = first; i < first + OWN; ++i) runs += begins_run(block, i);
    return runs;
}

// Count the runs that begin in tiles; counts : (n_blocks, tiles).
extern "C" __global__ void __launch_bounds__(THREADS)
    count_runs(const RunBlock* blocks, int tiles, unsigned* counts) {
    __shared__ Sum sums[WARPS];
    Sum all;
    scan_before<Add>(own_runs(blocks[blockIdx.x / tiles], own_begin(tiles)), sums, all);
    if (threadIdx.x == 0) counts[blockIdx.x] = unsigned(all);
}

// Fill symbols and begins; before : (n_blocks, tiles), runs of all blocks before each tile.
extern "C" __global__ void __launch_bounds__(THREADS)
    write_runs(const RunBlock* blocks, int tiles, const unsigned* before) {
    __shared__ Sum sums[WARPS];
    const RunBlock block = blocks[blockIdx.x / tiles];
    const Place first = own_begin(tiles);
    Sum all;
    Place run = Place(scan_before<Add>(own_runs(block, first), sums, all));
    run += before[blockIdx.x] - before[blockIdx.x / tiles * tiles];
    for (Place i = first; i < first + OWN; ++i) {
        if (!begins_run(block, i)) continue;
        block.symbols[run] = block.bwt[i];
        block.begins[run] = unsigned(i);
        ++run;
    }
}

// Place of the first octet of a word that is the symbol; 8 where none is.
__device__ __forceinline__ int find_symbol(Row word, Row symbol) {
    const Row unlike = word ^ symbol * EACH;
    const Row same = (unlike - EACH) & ~unlike & HIGHS;
    return same ? (__ffsll(static_cast<long long>(same)) - 1) >> 3 : 8;
}

// A list, 8 symbols in each thread of a warp, the next symbol first.
struct WarpList {
    Row word;
    int lane, n_seen;
};

__device__ __forceinline__ WarpList fresh_list() {
    const int lane = int(threadIdx.x);
    return {0x0706050403020100 + 8 * lane * EACH, lane, 0};
}

// Move a symbol to the front; return the place where it stood.
__device__ __forceinline__ int move_to_front(WarpList& list, Row symbol) {
    const int own = find_symbol(list.word, symbol);
    const int holder = __ffs(int(__ballot_sync(EVERY, own < 8))) - 1;
    const int place = __shfl_sync(EVERY, own, holder);
    const Row carried = __shfl_up_sync(EVERY, list.word >> 56, 1u);
    const Row mask = list.lane < holder ? ALL : ALL >> (56 - 8 * place);
    const Row moved = (list.word & mask >> 8) << 8 | (list.lane ? carried : symbol);
    if (list.lane <= holder) list.word = moved | (list.word & ~mask);
    return 8 * holder + place;
}

// Take a symbol, the one before those seen; return its rank, 0 where it was not seen.
__device__ __forceinline__ int take_symbol(WarpList& list, Row symbol) {
    const int rank = move_to_front(list, symbol);
    if (rank < list.n_seen) return rank;
    ++list.n_seen;
    return 0;
}

// Fill ranks of the runs of a lane, from the last one; last : (256,), of each symbol its last run.
__device__ __forceinline__ void rank_runs(const RunBlock& block, Place begin, Place end,
                                          WarpList& list, unsigned* last) {
    for (Place at = end; at > begin; at -= WARP) {
        const int n = int(min(Place(WARP), at - begin));
        const Place first = at - n;
        const int own = list.lane < n ? block.symbols[first + list.lane] : 0;
        int own_rank = 0;
        for (int j = n - 1; j >= 0; --j) {
            const int symbol = __shfl_sync(EVERY, own, j);
            const int rank = take_symbol(list, Row(symbol));
            if (list.lane != j) continue;
            own_rank = rank;
            if (rank == 0) last[symbol] = unsigned(first + j);
        }
        if (list.lane < n) block.ranks[first + list.lane] = Byte(own_rank);
    }
}

// Take the symbols of the lanes behind, those of the last one first.
__device__ __forceinline__ void take_lists(const RunBlock& block, int lane, WarpList& list) {
    for (int k = int(block.n_lanes) - 1; k > lane; --k)
        for (int i = int(block.sizes[k]) - 1; i >= 0; --i)
            take_symbol(list, block.lists[k * SYMBOLS + i]);
}

// Write the list of a lane, where it begins, and ranks of the last runs of symbols.
__device__ __forceinline__ void write_list(const RunBlock& block, int k, const WarpList& list,
                                           const unsigned* last) {
    reinterpret_cast<Row*>(block.lists + k * SYMBOLS)[list.lane] = list.word;
    if (list.lane == 0) {
        block.sizes[k] = list.n_seen;
        block.bounds[k] = begin_of(block, block.starts[k]);
    }
    const int rank = max(1, list.n_seen - 1);
    for (int symbol = list.lane; symbol < SYMBOLS; symbol += WARP)
        if (last[symbol] != NOT_SEEN) block.ranks[last[symbol]] = Byte(rank);
}

// Fill ranks, a warp for each lane: as if the string were one lane where `is_whole`, by the lists
// of lanes; else of each lane for itself, with its list and bound.
extern "C" __global__ void __launch_bounds__(WARP) rank_lanes(const RunBlock* blocks, int is_whole) {
    __shared__ unsigned last[SYMBOLS];
    const RunBlock block = blocks[blockIdx.x / LANES];
    const int k = int(blockIdx.x % LANES);
    if (k >= block.n_lanes) return;
    WarpList list = fresh_list();
    for (int symbol = list.lane; symbol < SYMBOLS; symbol += WARP) last[symbol] = NOT_SEEN;
    __syncwarp();
    if (is_whole) take_lists(block, k, list);
    rank_runs(block, block.starts[k], block.starts[k + 1], list, last);
    __syncwarp();
    if (!is_whole) write_list(block, k, list, last);
}

// Decisions of two numbers: their bit lengths in unary, then the bits below the first.
__device__ __forceinline__ unsigned decisions(const RunBlock& block, Place run) {
    const int of_rank = width(unsigned(block.ranks[run]) | 1);
    return unsigned(2 * (of_rank + width(unsigned(length_of(block, run)))) + 2);
}

// Fill how many decisions runs weigh, (n_runs,), of all blocks.
extern "C" __global__ void __launch_bounds__(THREADS)
    weigh_runs(const RunBlock* blocks, int tiles, unsigned* weights) {
    const RunBlock block = blocks[blockIdx.x / tiles];
    const Place begin = Place(blockIdx.x % tiles) * TILE, end = min(begin + TILE, block.n_runs);
    for (Place run = begin + threadIdx.x; run < end; run += THREADS)
        weights[block.runs_before + run] = decisions(block, run);
}

// Fill the first runs of lanes, a thread for each; before : (n_runs,), the weight of the runs
// before each one, of all blocks.
extern "C" __global__ void __launch_bounds__(LANES)
    cut_lanes(const RunBlock* blocks, const unsigned* before) {
    const RunBlock block = blocks[blockIdx.x];
    const Place lane = this_lane(), n_runs = block.n_runs;
    if (lane >= block.n_lanes) return;
    const unsigned* const own = before + block.runs_before;
    const Place total = Place(own[n_runs - 1] - own[0]) + decisions(block, n_runs - 1);
    Place first = 0, end = n_runs;
    while (first < end) {
        const Place middle = (first + end) / 2;
        if (Place(own[middle] - own[0]) * block.n_lanes >= lane * total)
            end = middle;
        else
            first = middle + 1;
    }
    block.starts[lane] = first;
}
