// Scans over the threads of a thread block.

using Byte = unsigned char;
using Place = long long;
using Sum = unsigned long long;

constexpr int WARP = 32, THREADS = 256, WARPS = THREADS / WARP;

// What a scan adds up: numbers.
struct Add {
    static constexpr Sum NONE = 0;
    __device__ __forceinline__ static Sum of(Sum first, Sum then) {
        return first + then;
    }
};

// What is before this thread of the thread block, and `all` of it; every thread comes here.
template <class Op>
__device__ __forceinline__ Sum scan_before(Sum own, Sum (&shared)[WARPS], Sum& all) {
    const int lane = int(threadIdx.x) % WARP, warp = int(threadIdx.x) / WARP;
    Sum to = own;
    for (int step = 1; step < WARP; step *= 2) {
        const Sum other = __shfl_up_sync(~0u, to, unsigned(step));
        if (lane >= step) to = Op::of(other, to);
    }
    Sum before = __shfl_up_sync(~0u, to, 1u);
    if (lane == 0) before = Op::NONE;
    __syncthreads();  // all have read what the scan before left
    if (lane == WARP - 1) shared[warp] = to;
    __syncthreads();
    Sum warps = Op::NONE;
    all = Op::NONE;
    for (int i = 0; i < WARPS; ++i) {
        if (i == warp) warps = all;
        all = Op::of(all, shared[i]);
    }
    return Op::of(warps, before);
}
