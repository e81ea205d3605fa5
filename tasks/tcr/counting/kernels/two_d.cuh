// Paths with two D genes in a row, V-D-D-J, by DP-2.
//
// Lanes are the values of nu, the halves of a warp two values of pi. Rows hold the ways to each
// boundary over V and N, then over the first D, then over the second junction; each takes the place
// of the one before in shared memory. From the second D on it is as with one D.

#include "counting.cuh"

// What a lane works on, for one pi.
struct Sweep {
    int pi;
    Paths *to_d, *after_d;  // rows before the first D; before the second D
};

// Ways over a D gene to boundary b, from rows that lead to it; a D of length zero included.
__device__ __forceinline__ Paths pass_d(const Work& w, const Gene& d, Paths empty,
                                        const Paths* rows, int pi, int b) {
    const Paths* const before = rows + w.lane.nu;
    const Paths* row = before + b * NU;
    Paths inside = 0, others = 0;
    const Paths none = empty * *row;
    find_d(
        w.r, d, b, [&](int n) { inside += n * *(row -= NU); },
        [&](int, unsigned ends) {
#pragma unroll
            for (int r = 1; r < PI; ++r) {
                others += ends >> (r - 1) & 1 ? ways(0, pi) * ways(r, pi) * *row : 0;
            }
        },
        [&](int t, int i, int r) {
            others += ways(i, pi) * ways(r, pi) * before[(b - t - i) * NU];
        });
    return none + ways(0, pi) * ways(0, pi) * inside + others;
}

// Let n-nucleotides follow: rows[b][nu] becomes the sum over a = b - nu .. b of rows[a][nu] times the
// n-strings of R[a:b]. From the last boundary on, so that a row is needed no more when it changes;
// each lane has its own column.
__device__ __forceinline__ void pass_junction(const Work& w, Paths* rows) {
    Paths* const own = rows + w.lane.nu;
#pragma unroll 1
    for (int b = w.r.length; w.lane.writes && b > 0; --b) {
        int a = max(0, b - w.lane.nu);
        Paths sum = own[a * NU];
        for (; a < b; ++a) sum = w.r.nucleotides(a) * sum + own[(a + 1) * NU];
        own[b * NU] = sum;
    }
    __syncwarp();
}

// Sum the ways to all boundaries, as ways_to(b) gives them, times those from there to J.
template <class WaysTo>
__device__ __forceinline__ Paths join_j(const Work& w, int pi, WaysTo ways_to) {
    const auto end = [&](int symbols) {
        return Paths(symbols <= w.j.reach ? ways(symbols - w.j.length, pi) : 0);
    };
    Paths sum = 0;
    j_rows(w, Range{0, w.j.reach}, end, [&](int b, Paths after) { sum += ways_to(b) * after; });
    return sum;
}

// Put the masks of a D gene into the one slot; return it.
__device__ __forceinline__ Gene mask_one(const Work& w, const Batch& batch, int number) {
    mask_d(w.r, batch.d[number], 0, 0, w.lane.number);
    return w.r.gene(batch.d.length(number), 0, 0);
}

// V N N N J: both D have length zero.
__device__ __forceinline__ Paths sum_empty(const Work& w, const Sweep& at) {
#pragma unroll 1
    for (int b = 0; w.lane.writes && b <= w.r.length; ++b) {
        at.after_d[b * NU + w.lane.nu] = at.to_d[b * NU + w.lane.nu];
    }
    pass_junction(w, at.after_d);
    return join_j(w, at.pi, [&](int b) { return at.after_d[b * NU + w.lane.nu]; });
}

// Fill the rows after the first D: the ways over it to all boundaries.
__device__ __forceinline__ void pass_d(const Work& w, const Batch& batch, int first,
                                       const Sweep& at) {
    const Gene d = mask_one(w, batch, first);
    const Paths empty = batch.empty_ways[first * PI + at.pi];
#pragma unroll 1
    for (int b = 0; b <= w.r.length; ++b) {
        const Paths row = pass_d(w, d, empty, at.to_d, at.pi, b);
        if (w.lane.writes) at.after_d[b * NU + w.lane.nu] = row;
    }
}

// Count all pairs of D genes in the order of the genome, for one pi of each half.
__device__ __forceinline__ void count_pairs(const Work& w, const Batch& batch, const Sweep& at,
                                            bool writes, const Counts& out) {
    v_rows(w, at.to_d, w.lane.writes, [&](int a) {
        return Paths(a <= w.v.reach ? ways(a - w.v.length, at.pi) : 0);
    });
    const Paths both_empty = sum_empty(w, at);
    const int n = batch.d.count;
    const Paths* const empty = batch.empty_ways + at.pi;
    long long pair = w.number * (n * (n - 1) / 2);
#pragma unroll 1
    for (int first = 0; first < n - 1; ++first) {
        pass_d(w, batch, first, at);
        pass_junction(w, at.after_d);
#pragma unroll 1
        for (int second = first + 1; second < n; ++second, ++pair) {
            const Gene d = mask_one(w, batch, second);
            const Paths full = join_j(w, at.pi, [&](int b) {
                return pass_d(w, d, empty[second * PI], at.after_d, at.pi, b);
            });
            const long long place = (pair * NU + w.lane.nu) * PI + at.pi;
            if (!writes) continue;
            out.full[place] = full;
            out.zero[place] = empty[first * PI] * empty[second * PI] * both_empty;
        }
    }
}

// For all values of pi, two at a time.
__device__ __forceinline__ void count_pairs(const Work& w, const Batch& batch, const Counts& out) {
#pragma unroll 1
    for (int first = 0; first < PI; first += 2) {
        const int pi = first + w.lane.half, table = 2 * w.lane.half;
        const Sweep at = {min(pi, PI - 1), w.r.table(table), w.r.table(table + 1)};
        count_pairs(w, batch, at, w.lane.writes && pi < PI, out);
    }
}
