// Text to packed bases and marks (SPEC.md, Block): all blocks of a batch in one launch.
//
// A thread block takes a piece of 4096 letters, a thread 16 of them. Bases are packed and tested in
// one pass; where nothing is marked there is no other.

#include "pack.cuh"

constexpr int EDGES = 4;    // of runs: where exceptions begin and end, where lower case does
constexpr int ODD = EDGES;  // letters that are exceptions

// Of 16 letters, the first one lowest.
struct Edges {
    unsigned of[EDGES + 1];
};

// The bits 7 of four bytes, the first one lowest.
__device__ __forceinline__ unsigned gathered(unsigned signs) {
    return (signs >> 7) * 0x10204080u >> 28;
}

// Bit 7 of the bytes of a word that are not 0.
__device__ __forceinline__ unsigned not_zero(unsigned word) {
    return (((word & LOWS) + LOWS) | word) & SIGNS;
}

// Bit 7 of letters of lower case.
__device__ __forceinline__ unsigned is_lower(unsigned word) {
    const unsigned low = word & LOWS;
    return (low + 31 * ONES) & ~(low + 5 * ONES) & ~word & SIGNS;
}

// Letters at a place, and behind the last one fillers.
__device__ __forceinline__ void load_letters(const Text& text, Place at, unsigned (&words)[WORDS]) {
    if (at + SHARE <= text.n) {
        const uint4 all = *reinterpret_cast<const uint4*>(text.letters + at);
        words[0] = all.x;
        words[1] = all.y;
        words[2] = all.z;
        words[3] = all.w;
        return;
    }
    for (int k = 0; k < WORDS; ++k) {
        words[k] = FILLERS;
        for (int i = 0; i < 4; ++i) {
            const Place place = at + 4 * k + i;
            if (place >= text.n) continue;
            const unsigned shift = 8 * i;
            words[k] = (words[k] & ~(255u << shift)) | unsigned(text.letters[place]) << shift;
        }
    }
}

// A letter beside those of a thread; a base where there is none.
__device__ __forceinline__ unsigned neighbour(const Text& text, Place at) {
    return at < 0 || at >= text.n ? unsigned('A') : text.letters[at];
}

// Where runs begin and end among letters at a place; exceptions become fillers.
__device__ __forceinline__ Edges clean(const Text& text, Place at, unsigned (&words)[WORDS]) {
    unsigned last = neighbour(text, at - 1), low = is_lower(last) >> 7 & 1, odd = 0, same = 0;
    last ^= low << 5;
    for (int k = 0; k < WORDS; ++k) {
        const unsigned lower = is_lower(words[k]), upper = words[k] ^ lower >> 2;
        const unsigned strange = not_zero(strangeness(upper));
        low |= gathered(lower) << (4 * k + 1);
        odd |= gathered(strange) << 4 * k;
        same |= gathered(~not_zero(upper ^ (upper << 8 | last)) & SIGNS) << 4 * k;
        last = upper >> 24;
        const unsigned bytes = (strange >> 7) * 255;
        words[k] = (upper & ~bytes) | (FILLERS & bytes);
    }
    const unsigned next = neighbour(text, at + SHARE), next_low = is_lower(next) >> 7 & 1;
    low |= next_low << (SHARE + 1);
    same |= unsigned((next ^ next_low << 5) == last) << SHARE;
    const unsigned own = low >> 1 & ((1u << SHARE) - 1);
    return {{odd & ~same, odd & ~(same >> 1), own & ~low, own & ~(low >> 2), odd}};
}

// Pack bases, and count edges and exceptions in each piece, (EDGES + 1, n_blocks, pieces), which are
// 0 before.
extern "C" __global__ void __launch_bounds__(THREADS, 8)
    pack_text(const Text* texts, int pieces, unsigned* counts) {
    const Text text = texts[blockIdx.x / pieces];
    const Place at = Place(blockIdx.x % pieces) * PIECE + threadIdx.x * SHARE;
    if (at >= text.n) return;
    unsigned words[WORDS], strange = 0;
    load_letters(text, at, words);
    for (int k = 0; k < WORDS; ++k) strange |= strangeness(words[k]);
    if (strange != 0) {
        const Edges edges = clean(text, at, words);
        for (int kind = 0; kind <= ODD; ++kind)
            if (edges.of[kind])
                atomicAdd(&counts[kind * gridDim.x + blockIdx.x], unsigned(__popc(edges.of[kind])));
    }
    unsigned packed = 0;
    for (int k = 0; k < WORDS; ++k) packed |= packed_word(words[k]) << 8 * k;
    *reinterpret_cast<unsigned*>(text.packed + at / 4) = packed;
}

// Write places of edges; firsts : (EDGES, n_blocks, pieces), those of each piece begin there.
extern "C" __global__ void __launch_bounds__(THREADS)
    find_marks(const Text* texts, int pieces, const unsigned* counts, const Place* firsts,
               int* edges) {
    __shared__ Sum shared[WARPS];
    unsigned any = 0;
    for (int kind = 0; kind < EDGES; ++kind) any |= counts[kind * gridDim.x + blockIdx.x];
    if (any == 0) return;
    const Text text = texts[blockIdx.x / pieces];
    const Place at = Place(blockIdx.x % pieces) * PIECE + threadIdx.x * SHARE;
    unsigned words[WORDS];
    Edges own = {};
    if (at < text.n) {
        load_letters(text, at, words);
        own = clean(text, at, words);
    }
    Sum numbers = 0, all;  // 16 bits for each kind
    for (int kind = 0; kind < EDGES; ++kind) numbers |= Sum(__popc(own.of[kind])) << 16 * kind;
    const Sum before = scan_before<Add>(numbers, shared, all);
    for (int kind = 0; kind < EDGES; ++kind) {
        Place to = firsts[kind * gridDim.x + blockIdx.x] + (before >> 16 * kind & 0xFFFF);
        for (unsigned left = own.of[kind]; left != 0; left &= left - 1)
            edges[to++] = int(at) + __ffs(int(left)) - 1;
    }
}

// Where the codes of bases go: in lanes of so many, from one to the next; nowhere if that is null.
struct Rows {
    Byte* codes;
    Place steps, stride;
};

// Write the codes of bases; odds : (n_blocks, pieces) exceptions before each piece.
extern "C" __global__ void __launch_bounds__(THREADS)
    take_bases(const Text* texts, int pieces, const Place* odds, const Rows* blocks) {
    __shared__ Sum shared[WARPS];
    const Text text = texts[blockIdx.x / pieces];
    const Rows rows = blocks[blockIdx.x / pieces];
    const Place at = Place(blockIdx.x % pieces) * PIECE + threadIdx.x * SHARE;
    if (rows.codes == nullptr) return;
    unsigned words[WORDS], odd = 0;
    if (at < text.n) {
        load_letters(text, at, words);
        odd = clean(text, at, words).of[ODD];
    }
    Sum all;
    const Sum before = scan_before<Add>(Sum(__popc(odd)), shared, all);
    if (at >= text.n) return;
    const Place base = at - odds[blockIdx.x] - Place(before);
    Place lane = base / rows.steps, step = base % rows.steps;
    for (int i = 0; i < SHARE && at + i < text.n; ++i) {
        if (odd >> i & 1) continue;
        rows.codes[lane * rows.stride + step] = Byte(code_of(text.letters[at + i]));
        if (++step < rows.steps) continue;
        step = 0;
        ++lane;
    }
}

// Runs of one kind in a block.
struct Stream {
    const int *begins, *ends;
    Place n;
    const Byte* letters;  // of the text, for exceptions; else null
    Byte* out;
};

// Bytes of a number.
__device__ __forceinline__ int number_bytes(unsigned value) {
    int n = 1;
    while (value > 127) {
        value >>= 7;
        ++n;
    }
    return n;
}

__device__ __forceinline__ Byte* put_leb128(Byte* out, unsigned value) {
    while (value > 127) {
        *out++ = Byte(value & 127 | 128);
        value >>= 7;
    }
    *out++ = Byte(value);
    return out;
}

// Write the marks of a kind in a block, a thread block for each; fill (n,) sizes.
extern "C" __global__ void __launch_bounds__(THREADS)
    write_marks(const Stream* streams, Place* sizes) {
    __shared__ Sum shared[WARPS];
    const Stream stream = streams[blockIdx.x];
    Sum used = 0;
    for (Place first = 0; first < stream.n; first += THREADS) {
        const Place i = first + threadIdx.x;
        const bool is_there = i < stream.n;
        const unsigned begin = is_there ? stream.begins[i] : 0;
        const unsigned before = is_there && i > 0 ? stream.ends[i - 1] + 1 : 0;
        const unsigned length = is_there ? stream.ends[i] - begin : 0;  // less 1: ends lie within
        const int letter = is_there && stream.letters ? stream.letters[begin] : 0;
        const int n = number_bytes(begin - before) + number_bytes(length) + (stream.letters != 0);
        Sum all;
        const Sum at = used + scan_before<Add>(is_there ? n : 0, shared, all);
        if (is_there) {
            Byte* const out = put_leb128(put_leb128(stream.out + at, begin - before), length);
            if (stream.letters) *out = Byte(letter >= 'a' && letter <= 'z' ? letter - 32 : letter);
        }
        used += all;
    }
    if (threadIdx.x == 0) sizes[blockIdx.x] = Place(used);
}
