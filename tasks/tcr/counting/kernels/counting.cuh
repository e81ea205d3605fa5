// What kernels with one D gene and with two share: the calls, rows of ways from V and to J, and the
// paths without D.

#include "matches.cuh"

constexpr int BAD_PART = 1;  // status of a reference that has no V or J part, or a too short one

// What is counted: `Batch` of batch.py, and Z for each D gene and pi.
struct Batch {
    Sequences references, v, j, d;
    const int *v_of, *j_of;
    const Paths* empty_ways;
};

// Where counts go: `Counts` of batch.py. What the model leaves out is null.
struct Counts {
    Paths *full, *zero, *no_d, *no_d_two, *dp1_nonempty, *dp1_empty;
    short *genes, *ndn, *d, *n1, *n2;
};

// One reference of a batch, and a lane of its warp.
struct Work {
    Reference r;
    End v, j;
    Lane lane;
    long long number;
};

// Bring a reference of a batch into shared memory, match its V and J; return whether it has them.
__device__ __forceinline__ bool match_ends(Work& w, const Batch& batch, int* status) {
    const int v_of = batch.v_of[w.number], j_of = batch.j_of[w.number], lane = w.lane.number;
    if (!batch.v.has(v_of) || !batch.j.has(j_of)) {
        if (lane == 0) status[w.number] = BAD_PART;
        return false;
    }
    copy_symbols(w.r, batch.references[w.number], lane);
    const Sequence v = batch.v[v_of], j = batch.j[j_of];
    const Reference& r = w.r;
    const auto from_left = [&](int i) { return r.codes[i] & symbol(v, i); };
    const auto from_right = [&](int i) {
        return r.codes[r.length - 1 - i] & symbol(j, j.length - 1 - i);
    };
    w.v = {match_end(min(r.length, v.length + GS_MAX_P), lane, from_left), v.length};
    w.j = {match_end(min(r.length, j.length + GS_MAX_P), lane, from_right), j.length};
    return true;
}

// Call V and J, and what is between them. SPEC.md, "Calls".
__device__ __forceinline__ void put_gene_calls(const Work& w, const Counts& out) {
    const int end = w.r.length - w.j.reach, lane = w.lane.number;
    if (lane == 0) {
        short* const genes = out.genes + 6 * w.number;
        genes[0] = w.r.length;
        genes[1] = w.v.length;
        genes[2] = w.j.length;
        genes[3] = w.v.reach;
        genes[4] = w.j.reach;
        genes[5] = end - w.v.reach;
    }
    if (lane < 4) put_composition(w.r, lane, w.v.reach, end, out.ndn + 4 * w.number);
}

// Call each D gene, and what is on both sides of it.
__device__ __forceinline__ void put_d_calls(const Work& w, const Batch& batch, const Counts& out) {
    const int end = w.r.length - w.j.reach, lane = w.lane.number, k = lane % 4;
#pragma unroll 1
    for (int number = 0; number < batch.d.count; ++number) {
        mask_d(w.r, batch.d[number], 0, 0, lane);
        const Longest d = find_longest(w.r, w.r.gene(batch.d.length(number), 0, 0), lane);
        const long long place = w.number * batch.d.count + number;
        if (lane == 0) {
            short* const calls = out.d + 5 * place;
            calls[0] = d.length;
            calls[1] = d.first + 1;
            calls[2] = d.last;
            calls[3] = d.first - w.v.reach;
            calls[4] = end - d.last;
        }
        if (lane < 4) put_composition(w.r, k, w.v.reach, d.first, out.n1 + 4 * place);
        else if (lane < 8) put_composition(w.r, k, d.last, end, out.n2 + 4 * place);
    }
}

// Fill table[a][nu]: the ways to reach boundary a by n-nucleotides from the ends of V; begin(a) says
// in how many ways V ends at a.
template <class Begin>
__device__ __forceinline__ void v_rows(const Work& w, Paths* table, bool writes, Begin begin) {
    __syncwarp();  // the table may still be read
    Paths row = 0;
#pragma unroll 1
    for (int a = 0; a <= w.r.length; ++a) {
        const Paths fewer = __shfl_up_sync(~0u, row, 1, HALF);
        row = begin(a) + (w.lane.nu && a ? w.r.nucleotides(a - 1) * fewer : 0);
        if (writes) table[a * NU + w.lane.nu] = row;
    }
    __syncwarp();
}

// Visit the boundaries b, from the last one on, that n-nucleotides reach from a J of so many symbols,
// with the ways from there to J; end(symbols) says in how many ways J has so many.
template <class End, class Visit>
__device__ __forceinline__ void j_rows(const Work& w, Range symbols, End end, Visit visit) {
    const int last_b = w.r.length - symbols.fewest;
    const int first_b = max(0, w.r.length - symbols.most - GS_MAX_N);
    Paths row = 0;
#pragma unroll 1
    for (int b = last_b; b >= first_b; --b) {
        const Paths fewer = __shfl_up_sync(~0u, row, 1, HALF);
        row = end(w.r.length - b) + (w.lane.nu && b < last_b ? w.r.nucleotides(b) * fewer : 0);
        visit(b, row);
    }
}

// Both for one class of ends, with p symbols of palindrome.
__device__ __forceinline__ void v_rows(const Work& w, int p) {
    v_rows(w, w.r.table(0), w.lane.number < NU, [&](int a) { return Paths(w.v.has(a, p)); });
}

template <class Visit>
__device__ __forceinline__ void j_rows(const Work& w, int p, Visit visit) {
    const Range range = w.j.class_range(p);
    j_rows(w, range, [&](int symbols) { return Paths(symbols <= range.most); }, visit);
}

// Ways for each pi: V N J, and V N N J, whose junctions can meet at any boundary.
struct WithoutD {
    Paths direct[PI], parted[PI];
};

// The rows of the last class of V stay in the first table.
__device__ __forceinline__ WithoutD sum_without_d(const Work& w) {
    WithoutD sums = {};
#pragma unroll 1
    for (int of_v = 0; of_v < w.v.classes(); ++of_v) {
        v_rows(w, of_v);
        const Paths* const before = w.r.table(0) + w.lane.nu;
#pragma unroll 1
        for (int of_j = 0; of_j < w.j.classes(); ++of_j) {
            Paths direct = 0, parted = 0;
            j_rows(w, of_j, [&](int b, Paths after) {
                direct += w.v.has(b, of_v) ? after : 0;
                parted += before[b * NU] * after;
            });
#pragma unroll
            for (int pi = 0; pi < PI; ++pi) {
                sums.direct[pi] += ways(of_v, pi) * ways(of_j, pi) * direct;
                sums.parted[pi] += ways(of_v, pi) * ways(of_j, pi) * parted;
            }
        }
    }
    return sums;
}

__device__ __forceinline__ WithoutD count_without_d(const Work& w, const Counts& out) {
    const WithoutD sums = sum_without_d(w);
    const long long row = (w.number * NU + w.lane.nu) * PI;
    if (w.lane.number >= NU) return sums;
#pragma unroll
    for (int pi = 0; pi < PI; ++pi) {
        out.no_d[row + pi] = sums.direct[pi];
        out.no_d_two[row + pi] = sums.parted[pi];
    }
    return sums;
}
