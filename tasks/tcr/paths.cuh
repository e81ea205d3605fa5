// What the kernels of recombination paths share: a reference in shared memory, how far V and J
// match it, where D genes match it, and the ways to cut a gene end.
//
// Specialised by GS_MAX_P, GS_MAX_N, GS_STRANDS, GS_MIN_D_END as in model.py, and GS_WIDE: whether
// an extended D gene has more than 32 symbols. Boundaries of the reference count from 0; section
// numbers are those of the specification that SPEC.md names.

#include "cuda.cuh"

constexpr int WARP = 32;
constexpr int HALF = 16;            // lanes for the values of nu, or of total n
constexpr int NU = GS_MAX_N + 1;    // how many values nu has
constexpr int PI = GS_MAX_P + 1;
constexpr int BAD_PART = 1;         // status of a reference: no such V or J part
static_assert(NU <= HALF, "a lane for each nu");

using Code = unsigned char;  // a set of nucleotides: bits A, T, C, G

// Sums and products are taken modulo 2^64, where they are exact if only the results fit, as the
// caller knows: intermediate values need no bound of their own, wildcards no other type.
using Paths = unsigned long long;

#if GS_WIDE
using Mask = unsigned long long;  // of an extended D, its first symbol in bit 0
__device__ __forceinline__ int ones(Mask mask) { return __popcll(mask); }
#else
using Mask = unsigned;
__device__ __forceinline__ int ones(Mask mask) { return __popc(mask); }
#endif

struct Sequence {
    const Code* codes;
    int length;
};

struct Sequences {
    const Code* codes;
    const long long* starts;

    __device__ __forceinline__ Sequence operator[](int i) const {
        return {codes + starts[i], int(starts[i + 1] - starts[i])};
    }
};

__device__ __forceinline__ int complement(int code) {
    return (code & 5) << 1 | (code & 10) >> 1;
}

// Symbol k of a gene with palindromes at both ends: germline at 0 <= k < length.
__device__ __forceinline__ int symbol(const Sequence& gene, int k) {
    if (k < 0) return complement(gene.codes[-1 - k]);
    const int beyond = k - gene.length;
    return beyond < 0 ? gene.codes[k] : complement(gene.codes[gene.length - 1 - beyond]);
}

// s(change, pi): ways to change the length of a gene end (section 3).
__device__ __forceinline__ constexpr int ways(int change, int pi) {
    return change <= 0 ? GS_STRANDS * pi + 1 : change > pi ? 0 : GS_STRANDS * (pi + 1 - change);
}

// A lane: which half of the warp it is in, and its nu. Lanes beyond the last nu do as the last, and
// write nothing.
struct Lane {
    int number, half, nu;
    bool writes;
};

__device__ __forceinline__ Lane this_lane() {
    const int number = threadIdx.x % WARP, column = number % HALF;
    return {number, number / HALF, min(column, NU - 1), column < NU};
}

// What lies in a warp's shared memory for a reference of up to `room` symbols: `warp_bytes` of
// gpu.py.
struct Reference {
    Paths* tables;              // TABLES of (room + 1, NU)
    Mask* masks;                // (2, room): where each symbol matches a D gene
    unsigned* letters;          // (4, words): bits of the symbols that may be A, T, C, G
    Code* codes;                // (room)
    unsigned char* palindromes; // (room + 1): self-palindrome around a boundary, up to MAX_P
    int room, words, length;

    __device__ __forceinline__ Reference(unsigned char* memory, int n_tables, int room)
        : tables(reinterpret_cast<Paths*>(memory)),
          masks(reinterpret_cast<Mask*>(tables + n_tables * (room + 1) * NU)),
          letters(reinterpret_cast<unsigned*>(masks + 2 * room)),
          room(room), words((room + WARP - 1) / WARP), length(0) {
        codes = reinterpret_cast<Code*>(letters + 4 * words);
        palindromes = codes + room;
    }

    __device__ __forceinline__ Paths* table(int i) const { return tables + i * (room + 1) * NU; }

    // w(R[i]): how many nucleotides a symbol may be.
    __device__ __forceinline__ int nucleotides(int i) const { return __popc(codes[i]); }
};

// Put the reference's symbols into shared memory, and the bits of its letters.
__device__ __forceinline__ void load_reference(Reference& r, const Sequence& from, int lane) {
    r.length = from.length;
    for (int first = 0; first < r.length; first += WARP) {
        const int i = first + lane, code = i < r.length ? from.codes[i] : 0;
        if (i < r.length) r.codes[i] = code;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned bits = __ballot_sync(~0u, code >> k & 1);
            if (lane == k) r.letters[k * r.words + first / WARP] = bits;
        }
    }
    __syncwarp();
}

// Put the self-palindrome around each boundary: what a left palindrome of D can be (section 6).
__device__ __forceinline__ void find_palindromes(Reference& r, int lane) {
    for (int q = lane; q <= r.length; q += WARP) {
        const int most = min(min(q, r.length - q), GS_MAX_P);
        int t = 0;
        while (t < most && (r.codes[q - t - 1] & complement(r.codes[q + t]))) ++t;
        r.palindromes[q] = t;
    }
    __syncwarp();
}

// How many i in a row, from 0 on, are the same: all lanes ask for one each.
template <class Same>
__device__ __forceinline__ int match_length(int most, int lane, Same same) {
    for (int first = 0; first < most; first += WARP) {
        const int i = first + lane;
        const unsigned matched = __ballot_sync(~0u, i < most && same(i));
        if (matched != ~0u) return first + __ffs(~matched) - 1;
    }
    return most;
}

// A V or J end on the reference: how far it matches, its palindrome included, and its germline.
//
// All germline lengths that may be left have the same multiplicity; with palindrome each has its
// own. So ends fall into classes: 0, or the palindrome's length; each is counted once for all pi.
struct End {
    int reach, length;

    __device__ __forceinline__ int classes() const { return 1 + max(0, reach - length); }
    __device__ __forceinline__ bool has(int kept, int kind) const {
        return kind == 0 ? kept <= min(reach, length) : kept == length + kind;
    }
};

__device__ __forceinline__ End match_v(const Reference& r, const Sequence& v, int lane) {
    const int most = min(r.length, v.length + GS_MAX_P);
    return {match_length(most, lane, [&](int i) { return r.codes[i] & symbol(v, i); }), v.length};
}

__device__ __forceinline__ End match_j(const Reference& r, const Sequence& j, int lane) {
    const int most = min(r.length, j.length + GS_MAX_P);
    const auto same = [&](int i) {
        return r.codes[r.length - 1 - i] & symbol(j, j.length - 1 - i);
    };
    return {match_length(most, lane, same), j.length};
}

// A D gene on the reference. X is the gene with its palindrome; a bit of a mask is a symbol of X.
struct Gene {
    const Mask* masks;  // of each symbol of the reference: which symbols of X it matches
    int length, size;   // germline symbols; symbols of X
};

// Put the masks of a gene, whose X begins `left` symbols before the germline, into a slot.
__device__ __forceinline__ Gene match_d(const Reference& r, const Sequence& d, int left, int slot,
                                        int lane) {
    __syncwarp();  // the slot may still be read
    Mask letters[4] = {};
    const int size = left + d.length + GS_MAX_P;
#pragma unroll
    for (int first = 0; first < 8 * int(sizeof(Mask)); first += WARP) {
        const int i = first + lane, code = i < size ? symbol(d, i - left) : 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            letters[k] |= Mask(__ballot_sync(~0u, code >> k & 1)) << first;
        }
    }
    Mask* const masks = r.masks + slot * r.room;
    for (int i = lane; i < r.length; i += WARP) {
        Mask mask = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) mask |= r.codes[i] >> k & 1 ? letters[k] : 0;
        masks[i] = mask;
    }
    return {masks, d.length, size};
}

// Visit each t >= 1 for which R[b-t:b] is in X, with the bits of the last symbols of all its places:
// bit e - 1 where X[e-t:e] matches.
template <class Visit>
__device__ __forceinline__ void each_match(const Gene& d, int b, Visit visit) {
    const int most = min(b, d.size);
    Mask ends = ~Mask(0);
    for (int t = 1; t <= most; ++t) {
        ends &= d.masks[b - t] << (t - 1);
        if (ends == 0) break;
        visit(t, ends);
    }
}

// The longest of the places where a D may lie: how long, and over all of these the first boundary
// and the last (section 7). Without any it is as if D had every place.
struct Longest {
    int length, first, last;

    __device__ __forceinline__ void note(int a, int b) {
        if (b - a > length) {
            *this = {b - a, a, b};
        } else if (b - a == length) {
            first = min(first, a);
            last = max(last, b);
        }
    }
};

// Visit each place [a, b) of a gene in DP-2, and note the longest (section 6).
//
// germline(t, n) : a = b - t and n ends within the germline, any left end within D
// right(t, ends) : the same with ends in the palindrome; bit r - 1 where r symbols of it are left
// left(t, i, r)  : X[0:t] at R[b-t:b], i symbols of the reference's own palindrome before it
template <class Germline, class Right, class Left>
__device__ __forceinline__ void each_place(const Reference& r, const Gene& d, int b,
                                           Longest& longest, Germline germline, Right right,
                                           Left left) {
    const Mask within = ~Mask(0) >> (8 * int(sizeof(Mask)) - d.length);
    int reached = 0;
    const auto with_left = [&](int t) {
        for (int i = 1; i <= r.palindromes[b - t]; ++i) {
            left(t, i, max(0, t - d.length));
            longest.note(b - t - i, b);
        }
    };
    if (GS_MIN_D_END == 0) with_left(0);
    each_match(d, b, [&](int t, Mask ends) {
        reached = t;
        germline(t, ones(ends & within));
        if (GS_MAX_P > 0) {
            const unsigned beyond = unsigned(ends >> d.length);
            if (beyond) right(t, beyond);
            if (ends >> (t - 1) & 1) with_left(t);
        }
    });
    if (reached) longest.note(b - reached, b);
}

// Put begin(a) N into a table: table[a][nu], ways to come to boundary a with n-nucleotides.
template <class Begin>
__device__ __forceinline__ void put_rows(Paths* table, const Reference& r, const Lane& lane,
                                         Begin begin) {
    __syncwarp();  // the table may still be read
    Paths row = 0;
    for (int a = 0; a <= r.length; ++a) {
        const Paths fewer = __shfl_up_sync(~0u, row, 1, HALF);
        row = begin(a) + (lane.nu && a ? r.nucleotides(a - 1) * fewer : 0);
        if (lane.number < NU) table[a * NU + lane.nu] = row;
    }
    __syncwarp();
}

// Visit every boundary b from the last to the first with N end(b): ways to go on to the end.
template <class End_, class Visit>
__device__ __forceinline__ void each_column(const Reference& r, const Lane& lane, End_ end,
                                            Visit visit) {
    Paths column = 0;
    for (int b = r.length; b >= 0; --b) {
        const Paths fewer = __shfl_up_sync(~0u, column, 1, HALF);
        column = end(b) + (lane.nu && b < r.length ? r.nucleotides(b) * fewer : 0);
        visit(b, column);
    }
}

// How many of the symbols in [first, last) may be the letter k.
__device__ __forceinline__ int count_letter(const Reference& r, int k, int first, int last) {
    int count = 0;
    for (int i = first / WARP; i * WARP < last; ++i) {
        unsigned bits = r.letters[k * r.words + i];
        if (first > i * WARP) bits &= ~0u << (first - i * WARP);
        if (last < (i + 1) * WARP) bits &= ~(~0u << (last - i * WARP));
        count += __popc(bits);
    }
    return count;
}
