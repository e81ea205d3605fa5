// Paths with one D gene, or none: by DP-2 and by DP-1.
//
// Lanes are the values of nu, or of total n in DP-1; the halves of a warp have a D gene each. All
// lanes go through the right boundaries b of D, with the ways from there to J; for each b they go
// through the left boundaries, by one AND of bit masks each, and add up the ways to get there from
// V. Only the multiplicities of the classes of ends depend on pi.

#include "counting.cuh"

// Put the masks of two D genes, which may be the same one; return the gene of this lane's half.
__device__ __forceinline__ Gene mask_pair(const Work& w, const Sequences& d, int first, int left) {
    const int other = min(first + 1, d.count - 1), own = w.lane.half ? other : first;
    mask_d(w.r, d[first], left, 0, w.lane.number);
    mask_d(w.r, d[other], left, 1, w.lane.number);
    return w.r.gene(d.length(own), left, w.lane.half);
}

// Ways over a D gene for each pi, from one class of V to one of J. The frequent classes of D have a
// sum each, to be weighed later; the rare ones are weighed at once, for each pi.
struct WithD {
    Paths inside, crossing[PI], turned[PI];

    __device__ __forceinline__ Paths weigh(int pi) const {
        Paths sum = ways(0, pi) * inside;
#pragma unroll
        for (int r = 1; r < PI; ++r) sum += ways(r, pi) * crossing[r];
        return ways(0, pi) * sum + turned[pi];
    }
};

__device__ __forceinline__ WithD sum_with_d(const Work& w, const Gene& d, int of_j) {
    const Paths* const before = w.r.table(0) + w.lane.nu;
    WithD sums = {};
    j_rows(w, of_j, [&](int b, Paths after) {
        const Paths* row = before + b * NU;
        Paths ways_to_b = 0;
        find_d(
            w.r, d, b, [&](int n) { ways_to_b += n * *(row -= NU); },
            [&](int, unsigned ends) {
                const Paths by = *row * after;
#pragma unroll
                for (int r = 1; r < PI; ++r) sums.crossing[r] += ends >> (r - 1) & 1 ? by : 0;
            },
            [&](int t, int i, int r) {
                const Paths by = before[(b - t - i) * NU] * after;
#pragma unroll
                for (int pi = 0; pi < PI; ++pi) sums.turned[pi] += ways(i, pi) * ways(r, pi) * by;
            });
        sums.inside += ways_to_b * after;
    });
    return sums;
}

// Where the counts of a D gene of this lane's half begin, two genes at a time; -1 if it has none.
__device__ __forceinline__ long long table_of(const Work& w, const Batch& batch, int first) {
    const int number = first + w.lane.half;
    if (number >= batch.d.count || !w.lane.writes) return -1;
    return ((w.number * batch.d.count + number) * NU + w.lane.nu) * PI;
}

// Write the paths with a D of length zero, at any boundary; others are added to them.
__device__ __forceinline__ void append_empty(const Work& w, const Batch& batch,
                                             const WithoutD& sums, const Counts& out) {
#pragma unroll 1
    for (int first = 0; first < batch.d.count; first += 2) {
        const long long table = table_of(w, batch, first);
        const Paths* const empty = batch.empty_ways + (first + w.lane.half) * PI;
#pragma unroll
        for (int pi = 0; table >= 0 && pi < PI; ++pi) {
            out.full[table + pi] = out.zero[table + pi] = empty[pi] * sums.parted[pi];
        }
    }
}

// SPEC.md, "DP-2".
__device__ __forceinline__ void count_dp2(const Work& w, const Batch& batch, const Counts& out) {
    append_empty(w, batch, count_without_d(w, out), out);
#pragma unroll 1
    for (int first = 0; first < batch.d.count; first += 2) {
        const Gene gene = mask_pair(w, batch.d, first, 0);
        const long long table = table_of(w, batch, first);
#pragma unroll 1
        for (int of_v = 0; of_v < w.v.classes(); ++of_v) {
            if (w.v.classes() > 1) v_rows(w, of_v);
#pragma unroll 1
            for (int of_j = 0; of_j < w.j.classes(); ++of_j) {
                const WithD sums = sum_with_d(w, gene, of_j);
#pragma unroll
                for (int pi = 0; table >= 0 && pi < PI; ++pi) {
                    out.full[table + pi] += ways(of_v, pi) * ways(of_j, pi) * sums.weigh(pi);
                }
            }
        }
    }
}

// DP-1: the ways to each right boundary b of D, as ways_to(b) gives them, with exactly n
// n-nucleotides in all; from b n-nucleotides lead to any end of J. SPEC.md, "DP-1".
template <class WaysTo>
__device__ __forceinline__ Paths sum_exact(const Work& w, WaysTo ways_to) {
    Paths sum = 0, row = 0;
#pragma unroll 1
    for (int b = max(0, w.r.length - w.j.reach - GS_MAX_N); b <= w.r.length; ++b) {
        const Paths fewer = __shfl_up_sync(~0u, row, 1, HALF);
        row = ways_to(b) + (w.lane.nu && b ? w.r.nucleotides(b - 1) * fewer : 0);
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
            Paths sum = 0;
            find_pieces(gene, b, [&](int, Mask ends) { sum += count_ones(ends) * *(row -= NU); });
            return sum;
        });
        const int number = first + w.lane.half;
        const long long place = w.number * batch.d.count + number;
        if (w.lane.writes && number < batch.d.count) {
            out.dp1_nonempty[place * NU + w.lane.nu] = sum;
        }
    }
}
