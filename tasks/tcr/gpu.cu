// Recombination paths with at most one D gene: a warp counts all paths of one reference.
//
// Lanes are the values of nu, or of total n in DP-1; the halves of a warp have a D gene each. All
// lanes go through the right boundaries b of D, and carry the ways to go on from there to J along;
// for each b they go through the left boundaries, by one AND of bit masks each, and add up the ways
// to come there from V. What pi changes are the weights of classes of ends alone.
//
// Specialised by the macros of paths.cuh, by GS_DP1 and GS_DP2: what is counted, and by GS_BLOCK.

#include "counting.cuh"

// Put the masks of two D genes, the second of which may be the first again; return that of the half.
__device__ __forceinline__ Gene mask_pair(const Work& w, const Sequences& d, int first, int left) {
    const int other = min(first + 1, d.count - 1), own = w.lane.half ? other : first;
    mask_d(w.r, d[first], left, 0, w.lane.number);
    mask_d(w.r, d[other], left, 1, w.lane.number);
    return w.r.gene(d.length(own), left, w.lane.half);
}

// Add the ways over a D gene for one class of V and of J. Of the D's own classes the frequent ones
// are summed apart, the rare ones at once for each pi.
__device__ __forceinline__ void sum_with_d(const Work& w, const Gene& d, int of_v, int of_j,
                                           Paths (&full)[PI]) {
    const Paths* const before = w.r.table(0) + w.lane.nu;
    Paths inside = 0, crossing[PI] = {};
    each_j_row_of(w, of_j, [&](int b, Paths after) {
        const Paths* row = before + b * NU;
        Paths come = 0;
        find_d(
            w.r, d, b, [&](int n) { come += n * *(row -= NU); },
            [&](int, unsigned ends) {
                const Paths by = *row * after;
#pragma unroll
                for (int r = 1; r < PI; ++r) crossing[r] += ends >> (r - 1) & 1 ? by : 0;
            },
            [&](int t, int i, int r) {
                const Paths by = before[(b - t - i) * NU] * after;
#pragma unroll
                for (int pi = 0; pi < PI; ++pi) {
                    full[pi] += ways(of_v, pi) * ways(of_j, pi) * ways(i, pi) * ways(r, pi) * by;
                }
            });
        inside += come * after;
    });
#pragma unroll
    for (int pi = 0; pi < PI; ++pi) {
        Paths sum = ways(0, pi) * inside;
#pragma unroll
        for (int r = 1; r < PI; ++r) sum += ways(r, pi) * crossing[r];
        full[pi] += ways(of_v, pi) * ways(of_j, pi) * ways(0, pi) * sum;
    }
}

// DP-2: each D gene, two at a time (section 6).
__device__ __forceinline__ void count_dp2(const Work& w, const Batch& batch, const Counts& out) {
    const WithoutD without = sum_without_d(w);
    put_without_d(w, without, out);
#pragma unroll 1
    for (int first = 0; first < batch.d.count; first += 2) {
        const Gene gene = mask_pair(w, batch.d, first, 0);
        Paths full[PI] = {};
#pragma unroll 1
        for (int of_v = 0; of_v < w.v.classes(); ++of_v) {
            if (w.v.classes() > 1) v_rows_of(w, of_v);
#pragma unroll 1
            for (int of_j = 0; of_j < w.j.classes(); ++of_j) sum_with_d(w, gene, of_v, of_j, full);
        }
        const int number = first + w.lane.half;
        const long long table = ((w.number * batch.d.count + number) * NU + w.lane.nu) * PI;
        if (number >= batch.d.count || !w.lane.writes) continue;
#pragma unroll
        for (int pi = 0; pi < PI; ++pi) {
            const Paths zero = batch.empty_ways[number * PI + pi] * without.parted[pi];
            out.zero[table + pi] = zero;
            out.full[table + pi] = full[pi] + zero;
        }
    }
}

// DP-1: ways of exactly n nucleotides in all over what `come` gives for each right boundary of D;
// from there n-nucleotides lead to any J end (section 5).
template <class Come>
__device__ __forceinline__ Paths sum_exact(const Work& w, Come come) {
    Paths sum = 0, row = 0;
#pragma unroll 1
    for (int b = w.first_b(); b <= w.r.length; ++b) {
        const Paths fewer = __shfl_up_sync(~0u, row, 1, HALF);
        row = come(b) + (w.lane.nu && b ? w.r.nucleotides(b - 1) * fewer : 0);
        sum += w.r.length - b <= w.j.reach ? row : 0;
    }
    return sum;
}

__device__ __forceinline__ void count_dp1(const Work& w, const Batch& batch, const Counts& out) {
    v_rows(w, w.r.table(0), w.lane.number < NU,
           [&](int a) { return Paths(w.lane.nu == 0 && a <= w.v.reach); });
    const Paths* const before = w.r.table(0) + w.lane.nu;
    const bool only = w.lane.number < NU;
    if (batch.d.count == 0) {
        Paths joined = 0;
#pragma unroll 1
        for (int b = w.r.length - w.j.reach; b <= w.r.length; ++b) joined += before[b * NU];
        if (only) out.dp1_nonempty[w.number * NU + w.lane.nu] = joined;
        return;
    }
    const Paths empty = sum_exact(w, [&](int b) { return before[b * NU]; });
    if (only) out.dp1_empty[w.number * NU + w.lane.nu] = empty;
#pragma unroll 1
    for (int first = 0; first < batch.d.count; first += 2) {
        const Gene gene = mask_pair(w, batch.d, first, GS_MAX_P);
        const Paths sum = sum_exact(w, [&](int b) {
            const Paths* row = before + b * NU;
            Paths come = 0;
            each_match(gene, b, [&](int, Mask ends) { come += count_ones(ends) * *(row -= NU); });
            return come;
        });
        const int number = first + w.lane.half;
        const long long place = w.number * batch.d.count + number;
        if (w.lane.writes && number < batch.d.count) {
            out.dp1_nonempty[place * NU + w.lane.nu] = sum;
        }
    }
}

// Count the references order[0:n], a warp for each.
//
// order : (n,) numbers of references of up to `room` symbols
// room, warp_bytes : symbols that a warp's shared memory is for, and its bytes
// references, v, j, d : codes, starts, how many, as `Sequences` of batch.py
// empty_ways : (n_d, pi), Z: ways to erode a D completely
// status : of each reference, 0 before
extern "C" __global__ void __launch_bounds__(GS_BLOCK)
    count_paths(const int* order, int n, int room, int warp_bytes, const Code* references,
                const long long* starts, int n_references, const Code* v,
                const long long* v_starts, int n_v, const Code* j, const long long* j_starts,
                int n_j, const Code* d, const long long* d_starts, int n_d, const int* v_of,
                const int* j_of, const Paths* empty_ways, Paths* full, Paths* zero, Paths* no_d,
                Paths* no_d_two, Paths* dp1_nonempty, Paths* dp1_empty, short* genes, short* ndn,
                short* d_calls, short* n1, short* n2, int* status) {
    DYN_SHARED(unsigned char, memory);
    const int warp = threadIdx.x / WARP;
    const long long place = (long long)blockIdx.x * (blockDim.x / WARP) + warp;
    if (place >= n) return;
    const Batch batch = {{references, starts, n_references}, {v, v_starts, n_v},
                         {j, j_starts, n_j},                 {d, d_starts, n_d},
                         v_of, j_of, empty_ways};
    const Counts out = {full,  zero, no_d,    no_d_two, dp1_nonempty, dp1_empty,
                        genes, ndn,  d_calls, n1,       n2};
    Work w = {Reference(memory + warp * warp_bytes, 1, room), {}, {}, this_lane(), order[place]};
    if (!begin(w, batch, status, out)) return;
    call_all_d(w, batch, out);
    if (GS_DP2) count_dp2(w, batch, out);
    if (GS_DP1) count_dp1(w, batch, out);
}
