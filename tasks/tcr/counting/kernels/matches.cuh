// A reference in shared memory, and where genes match it: V and J from its ends, D in all places.

#include "paths.cuh"

// A D gene on the reference. X is the gene with its palindromes; a bit of a mask is a symbol of X.
struct Gene {
    const Mask* masks;  // of each symbol of the reference: which symbols of X it matches
    Mask inside;        // those that are germline, where X has no palindrome on its left
    int length, size;   // germline symbols; symbols of X
};

// What lies in a warp's shared memory for a reference of up to `room` symbols: `warp_bytes` of
// gpu.py.
struct Reference {
    Paths* tables;               // (tables, room + 1, NU)
    Mask* masks;                 // (2, room), of two D genes
    unsigned* letters;           // (4, words): bits of the symbols that can be A, T, C, G
    Code* codes;                 // (room)
    unsigned char* palindromes;  // (room + 1): of the reference itself around each boundary
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

    // The gene whose masks lie in a slot; X begins `left` symbols before the germline.
    __device__ __forceinline__ Gene gene(int germline, int left, int slot) const {
        const Mask inside = ~Mask(0) >> (MASK_BITS - germline);
        return {masks + slot * room, inside, germline, left + germline + GS_MAX_P};
    }

    // w(R[i]): how many nucleotides a symbol can be.
    __device__ __forceinline__ int nucleotides(int i) const { return __popc(codes[i]); }
};

// Put the symbols of a reference into shared memory, and the bits of its letters.
__device__ __forceinline__ void copy_symbols(Reference& r, const Sequence& from, int lane) {
    r.length = from.length;
#pragma unroll 1
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

// Find for how many symbols, up to MAX_P, the reference is its own reverse complement around each
// boundary: what a palindrome on the left of a D can be.
__device__ __forceinline__ void find_palindromes(Reference& r, int lane) {
#pragma unroll 1
    for (int q = lane; q <= r.length; q += WARP) {
        const int most = min(min(q, r.length - q), GS_MAX_P);
        int t = 0;
        while (t < most && (r.codes[q - t - 1] & complement(r.codes[q + t]))) ++t;
        r.palindromes[q] = t;
    }  // read after the barriers of mask_d
}

struct Range {
    int fewest, most;
};

// A V or J end on the reference: how far it matches with its palindrome, and its germline.
//
// Whatever remains of the germline has one multiplicity; each length of palindrome has its own.
// These are the classes of an end: ways are counted once for each class, for all pi.
struct End {
    int reach, length;

    __device__ __forceinline__ int classes() const { return 1 + max(0, reach - length); }
    // The symbols of a gene that can be there with p symbols of palindrome.
    __device__ __forceinline__ Range class_range(int p) const {
        return p ? Range{length + p, length + p} : Range{0, min(reach, length)};
    }
    __device__ __forceinline__ bool has(int symbols, int p) const {
        const Range range = class_range(p);
        return range.fewest <= symbols && symbols <= range.most;
    }
};

// How many i in a row, from 0 on, are the same; each lane asks for one at a time.
template <class Same>
__device__ __forceinline__ int match_end(int most, int lane, Same same) {
#pragma unroll 1
    for (int first = 0; first < most; first += WARP) {
        const int i = first + lane;
        const unsigned matched = __ballot_sync(~0u, i < most && same(i));
        if (matched != ~0u) return first + __ffs(~matched) - 1;
    }
    return most;
}

// Put the masks of a D gene into a slot; X begins `left` symbols before its germline.
__device__ __forceinline__ void mask_d(const Reference& r, const Sequence& d, int left, int slot,
                                       int lane) {
    Mask letters[4] = {};
    const int size = left + d.length + GS_MAX_P;
#pragma unroll
    for (int first = 0; first < MASK_BITS; first += WARP) {
        const int i = first + lane, code = i < size ? symbol(d, i - left) : 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            letters[k] |= Mask(__ballot_sync(~0u, code >> k & 1)) << first;
        }
    }
    __syncwarp();  // the slot may still be read
#pragma unroll 1
    for (int i = lane; i < r.length; i += WARP) {
        Mask mask = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) mask |= r.codes[i] >> k & 1 ? letters[k] : 0;
        r.masks[slot * r.room + i] = mask;
    }
    __syncwarp();
}

// Visit in turn each t >= 1 for which R[b-t:b] is a piece of X, with all its places in X: bit e - 1
// where it is X[e-t:e].
template <class Visit>
__device__ __forceinline__ void find_pieces(const Gene& d, int b, Visit visit) {
    const Mask* symbol = d.masks + b;
    const int most = min(b, d.size);
    Mask ends = ~Mask(0);
#pragma unroll 1
    for (int t = 1; t <= most; ++t) {
        ends &= *--symbol << (t - 1);
        if (ends == 0) break;
        visit(t, ends);
    }
}

// Visit all places of a gene in DP-2 that end at b, palindromes included. SPEC.md, "DP-2".
//
// inside(n)         : for the next t, from 1 on, n places of t symbols end within the germline
// crossing(t, ends) : places of t symbols end in the palindrome; bit r - 1 if r symbols of it remain
// turned(t, i, r)   : D's first t symbols, r of them palindrome, after i symbols of a palindrome of
//                     what follows in the reference
template <class Inside, class Crossing, class Turned>
__device__ __forceinline__ void find_d(const Reference& r, const Gene& d, int b, Inside inside,
                                       Crossing crossing, Turned turned) {
    const auto turn = [&](int t) {
        const int reach = r.palindromes[b - t];
#pragma unroll 1
        for (int i = 1; i <= reach; ++i) turned(t, i, max(0, t - d.length));
    };
    if (GS_MIN_D_END == 0) turn(0);
    find_pieces(d, b, [&](int t, Mask ends) {
        inside(count_ones(ends & d.inside));
        const Mask first = Mask(1) << (t - 1);  // where R[b-t] is the first symbol of X
        if (GS_MAX_P > 0 && (ends & (~d.inside | first))) {
            const unsigned beyond = unsigned(ends >> d.length);
            if (beyond) crossing(t, beyond);
            if (ends & first) turn(t);
        }
    });
}

// The longest places of a D: their length, and their first and last boundaries. Without any these
// are the boundaries of the reference.
struct Longest {
    int length, first, last;
};

__device__ __forceinline__ void update_longest(Longest& longest, int a, int b) {
    if (b - a > longest.length) {
        longest = {b - a, a, b};
    } else if (b - a == longest.length) {
        longest.first = min(longest.first, a);
        longest.last = max(longest.last, b);
    }
}

// Find the longest places, a boundary b for each lane.
__device__ __forceinline__ Longest find_longest(const Reference& r, const Gene& d, int lane) {
    Longest own = {1, r.length, 0};
#pragma unroll 1
    for (int b = lane; b <= r.length; b += WARP) {
        int t = 0;
        find_d(
            r, d, b, [&](int) { ++t; }, [](int, unsigned) {},
            [&](int t, int i, int) { update_longest(own, b - t - i, b); });
        if (t) update_longest(own, b - t, b);
    }
    const int length = __reduce_max_sync(~0u, own.last ? own.length : 0);
    if (length == 0) return {0, 0, r.length};
    const bool longest = own.last && own.length == length;
    return {length, __reduce_min_sync(~0u, longest ? own.first : r.length),
            __reduce_max_sync(~0u, longest ? own.last : 0)};
}

// Write how many of the symbols R[first:last] can be A, T, C and G, a lane for each k of these.
__device__ __forceinline__ void put_composition(const Reference& r, int k, int first, int last,
                                                short* out) {
    int count = 0;
#pragma unroll 1
    for (int i = first / WARP; i * WARP < last; ++i) {
        unsigned bits = r.letters[k * r.words + i];
        if (first > i * WARP) bits &= ~0u << (first - i * WARP);
        if (last < (i + 1) * WARP) bits &= ~(~0u << (last - i * WARP));
        count += __popc(bits);
    }
    out[k] = count;
}
