// Recombination paths with at most one D gene: a warp counts all paths of one reference.
//
// Lanes are the values of nu, or of total n in DP-1; either half of the warp has a D gene of its
// own. For each right boundary b of a D the lanes go through its left boundaries by one AND of bit
// masks each, and add up the ways to come there; the ways to go on from b are carried along.
//
// Specialised by the macros of paths.cuh, GS_DP1 and GS_DP2: what is counted.

#include "paths.cuh"

struct Germline {
    Sequences v, j, d;
    int n_v, n_j, n_d;
};

// Where the counts of a batch go: see `Counts` of batch.py. Pointers to what is not counted are null.
struct Counts {
    Paths *full, *zero, *no_d, *no_d_two, *dp1_nonempty, *dp1_empty;
    short *genes, *ndn, *d, *n1, *n2;
};

// The reference and its ends, in one place.
struct Work {
    Reference r;
    End v, j;
    Lane lane;
    long long number;  // of the reference in its batch
};

__device__ __forceinline__ void store(Paths* at, const Paths (&of_pi)[PI]) {
#pragma unroll
    for (int pi = 0; pi < PI; ++pi) at[pi] = of_pi[pi];
}

// Calls of V and J, and the composition between them (section 7).
__device__ __forceinline__ void call_genes(const Work& w, const Counts& out) {
    const int end = w.r.length - w.j.reach, lane = w.lane.number;
    short* const genes = out.genes + 6 * w.number;
    if (lane == 0) {
        genes[0] = w.r.length;
        genes[1] = w.v.length;
        genes[2] = w.j.length;
        genes[3] = w.v.reach;
        genes[4] = w.j.reach;
        genes[5] = end - w.v.reach;
    }
    if (lane < 4) out.ndn[4 * w.number + lane] = count_letter(w.r, lane, w.v.reach, end);
}

// Calls of the D gene at `place` among all counts of D genes, and the compositions beside it.
__device__ __forceinline__ void call_d(const Work& w, const Longest& d, long long place,
                                       const Counts& out) {
    const int end = w.r.length - w.j.reach, lane = w.lane.number % HALF, k = lane % 4;
    short* const calls = out.d + 5 * place;
    if (lane == 0) {
        calls[0] = d.length;
        calls[1] = d.first + 1;
        calls[2] = d.last;
        calls[3] = d.first - w.v.reach;
        calls[4] = end - d.last;
    }
    if (lane < 4) out.n1[4 * place + k] = count_letter(w.r, k, w.v.reach, d.first);
    else if (lane < 8) out.n2[4 * place + k] = count_letter(w.r, k, d.last, end);
}

// Ways by V N J and V N N J, for each pi.
struct WithoutD {
    Paths one[PI], two[PI];
};

__device__ __forceinline__ void put_before(const Work& w, int kind) {
    put_rows(w.r.table(0), w.r, w.lane, [&](int a) { return Paths(w.v.has(a, kind)); });
}

__device__ __forceinline__ WithoutD count_without_d(const Work& w) {
    WithoutD sums = {};
    for (int of_v = 0; of_v < w.v.classes(); ++of_v) {
        put_before(w, of_v);
        const Paths* const before = w.r.table(0) + w.lane.nu;
        for (int of_j = 0; of_j < w.j.classes(); ++of_j) {
            Paths one = 0, two = 0;
            each_column(
                w.r, w.lane, [&](int b) { return Paths(w.j.has(w.r.length - b, of_j)); },
                [&](int b, Paths after) {
                    one += w.v.has(b, of_v) ? after : 0;
                    two += before[b * NU] * after;
                });
#pragma unroll
            for (int pi = 0; pi < PI; ++pi) {
                const Paths both = Paths(ways(of_v, pi)) * ways(of_j, pi);
                sums.one[pi] += both * one;
                sums.two[pi] += both * two;
            }
        }
    }
    return sums;
}

// Ways over a D gene, for one class of V and of J. What depends on the D's class is summed by class
// where classes are many, and at once for each pi where they are rare.
struct ThroughD {
    Paths germline;          // no palindrome
    Paths right[PI];         // by its length, 1 to MAX_P; none at the left
    Paths left[PI];          // for each pi, over all lengths of the left palindrome

    __device__ __forceinline__ Paths of(int pi) const {
        Paths sum = ways(0, pi) * germline;
#pragma unroll
        for (int r = 1; r <= GS_MAX_P; ++r) sum += ways(r, pi) * right[r];
        return ways(0, pi) * sum + left[pi];
    }
};

__device__ __forceinline__ ThroughD count_through(const Work& w, const Gene& d, int of_j,
                                                  Longest& longest) {
    const Paths* const before = w.r.table(0) + w.lane.nu;
    ThroughD sums = {};
    each_column(
        w.r, w.lane, [&](int b) { return Paths(w.j.has(w.r.length - b, of_j)); },
        [&](int b, Paths after) {
            Paths come = 0;
            const auto ways_by = [&](int a) { return before[a * NU] * after; };
            each_place(
                w.r, d, b, longest,
                [&](int t, int n) { come += n * before[(b - t) * NU]; },
                [&](int t, unsigned ends) {
                    const Paths by = ways_by(b - t);
#pragma unroll
                    for (int r = 1; r <= GS_MAX_P; ++r) sums.right[r] += ends >> (r - 1) & 1 ? by : 0;
                },
                [&](int t, int i, int r) {
                    const Paths by = ways_by(b - t - i);
#pragma unroll
                    for (int pi = 0; pi < PI; ++pi) sums.left[pi] += ways(i, pi) * ways(r, pi) * by;
                });
            sums.germline += come * after;
        });
    return sums;
}

// The D gene of this lane's half among two, on the reference.
__device__ __forceinline__ Gene match_pair(const Work& w, const Germline& germline, int first,
                                           int left) {
    Gene own = {};
    for (int slot = 0; slot < 2; ++slot) {
        const int number = min(first + slot, germline.n_d - 1);
        const Gene gene = match_d(w.r, germline.d[number], left, slot, w.lane.number);
        if (slot == w.lane.half) own = gene;
    }
    __syncwarp();
    return own;
}

// DP-2 with each D gene, two at a time (section 6).
__device__ __forceinline__ void count_dp2(const Work& w, const Germline& germline,
                                          const Paths* empty_ways, const Counts& out) {
    const WithoutD none = count_without_d(w);
    const bool only = w.lane.writes && w.lane.half == 0;
    const long long row = (w.number * NU + w.lane.nu) * PI;
    if (only) store(out.no_d + row, none.one);
    if (only) store(out.no_d_two + row, none.two);
    for (int first = 0; first < germline.n_d; first += 2) {
        const Gene gene = match_pair(w, germline, first, 0);
        Paths full[PI] = {}, zero[PI];
        Longest longest = {0, 0, w.r.length};
        for (int of_v = 0; of_v < w.v.classes(); ++of_v) {
            if (w.v.classes() > 1) put_before(w, of_v);
            for (int of_j = 0; of_j < w.j.classes(); ++of_j) {
                const ThroughD through = count_through(w, gene, of_j, longest);
#pragma unroll
                for (int pi = 0; pi < PI; ++pi) {
                    full[pi] += Paths(ways(of_v, pi)) * ways(of_j, pi) * through.of(pi);
                }
            }
        }
        const int number = first + w.lane.half;
        if (number >= germline.n_d) continue;
#pragma unroll
        for (int pi = 0; pi < PI; ++pi) {
            zero[pi] = empty_ways[number * PI + pi] * none.two[pi];
            full[pi] += zero[pi];
        }
        const long long place = w.number * germline.n_d + number;
        const long long table = (place * NU + w.lane.nu) * PI;
        if (w.lane.writes) store(out.full + table, full);
        if (w.lane.writes) store(out.zero + table, zero);
        call_d(w, longest, place, out);
    }
}

// Calls of the D genes, where DP-2 does not find them on its way.
__device__ __forceinline__ void call_all_d(const Work& w, const Germline& germline,
                                           const Counts& out) {
    for (int first = 0; first < germline.n_d; first += 2) {
        const Gene gene = match_pair(w, germline, first, 0);
        Longest longest = {0, 0, w.r.length};
        for (int b = w.r.length; b >= 0; --b) {
            each_place(w.r, gene, b, longest, [](int, int) {}, [](int, unsigned) {},
                       [](int, int, int) {});
        }
        const int number = first + w.lane.half;
        if (number < germline.n_d) call_d(w, longest, w.number * germline.n_d + number, out);
    }
}

// DP-1, of exactly n nucleotides in all: ways over whatever `come` gives for each right boundary
// of D, from there by n-nucleotides to a J end (section 5).
template <class Come>
__device__ __forceinline__ Paths count_total(const Work& w, Come come) {
    Paths sum = 0, here = 0;
    for (int b = 0; b <= w.r.length; ++b) {
        const Paths fewer = __shfl_up_sync(~0u, here, 1, HALF);
        here = come(b) + (w.lane.nu && b ? w.r.nucleotides(b - 1) * fewer : 0);
        sum += w.r.length - b <= w.j.reach ? here : 0;
    }
    return sum;
}

__device__ __forceinline__ void count_dp1(const Work& w, const Germline& germline,
                                          const Counts& out) {
    put_rows(w.r.table(0), w.r, w.lane,
             [&](int a) { return Paths(w.lane.nu == 0 && a <= w.v.reach); });
    const Paths* const before = w.r.table(0) + w.lane.nu;
    const bool only = w.lane.writes && w.lane.half == 0;
    if (germline.n_d > 0) {
        const Paths empty = count_total(w, [&](int b) { return before[b * NU]; });
        if (only) out.dp1_empty[w.number * NU + w.lane.nu] = empty;
    } else {
        Paths joined = 0;
        for (int b = w.r.length - w.j.reach; b <= w.r.length; ++b) joined += before[b * NU];
        if (only) out.dp1_nonempty[w.number * NU + w.lane.nu] = joined;
    }
    for (int first = 0; first < germline.n_d; first += 2) {
        const Gene gene = match_pair(w, germline, first, GS_MAX_P);
        const Paths sum = count_total(w, [&](int b) {
            Paths come = 0;
            each_match(gene, b, [&](int t, Mask ends) { come += ones(ends) * before[(b - t) * NU]; });
            return come;
        });
        const int number = first + w.lane.half;
        const long long place = w.number * germline.n_d + number;
        if (w.lane.writes && number < germline.n_d) out.dp1_nonempty[place * NU + w.lane.nu] = sum;
    }
}

// Count the references order[0:n], a warp for each.
//
// order : (n,) numbers of references of up to `room` nucleotides
// room, warp_bytes : nucleotides that a warp's shared memory is for, and its bytes
// starts of references, v, j, d : as `Sequences` of batch.py; n_v, n_j, n_d of them
// empty_ways : (n_d, pi), Z: ways to erode a D completely
// status : of each reference, 0 before
extern "C" __global__ void __launch_bounds__(GS_BLOCK)
    count_paths(const int* order, int n, int room, int warp_bytes, const Code* references,
                const long long* starts, const Code* v, const long long* v_starts, int n_v,
                const int* v_of, const Code* j, const long long* j_starts, int n_j,
                const int* j_of, const Code* d, const long long* d_starts, int n_d,
                const Paths* empty_ways, Paths* full, Paths* zero, Paths* no_d, Paths* no_d_two,
                Paths* dp1_nonempty, Paths* dp1_empty, short* genes, short* ndn, short* d_calls,
                short* n1, short* n2, int* status) {
    DYN_SHARED(unsigned char, memory);
    const int warp = threadIdx.x / WARP;
    const long long place = (long long)blockIdx.x * (blockDim.x / WARP) + warp;
    if (place >= n) return;
    const int number = order[place];
    const int own_v = v_of[number], own_j = j_of[number];
    const Germline germline = {{v, v_starts}, {j, j_starts}, {d, d_starts}, n_v, n_j, n_d};
    if (own_v < 0 || own_v >= n_v || own_j < 0 || own_j >= n_j) {
        if (threadIdx.x % WARP == 0) status[number] = BAD_PART;
        return;
    }
    const Counts out = {full,  zero, no_d,    no_d_two, dp1_nonempty, dp1_empty,
                        genes, ndn,  d_calls, n1,       n2};
    Work w = {Reference(memory + warp * warp_bytes, 1, room), {}, {}, this_lane(), number};
    load_reference(w.r, Sequences{references, starts}[number], w.lane.number);
    find_palindromes(w.r, w.lane.number);
    w.v = match_v(w.r, germline.v[own_v], w.lane.number);
    w.j = match_j(w.r, germline.j[own_j], w.lane.number);
    call_genes(w, out);
    if (GS_DP2) count_dp2(w, germline, empty_ways, out);
    else call_all_d(w, germline, out);
    if (GS_DP1) count_dp1(w, germline, out);
}
