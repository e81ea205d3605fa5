// Signatures of packed reads (signatures.py, packed.py), both strands in one pass: eight threads
// take a read, four of them each half.
//
// A thread looks at 32 letters at once, of which 16 p-mers begin: those of the other strand come of
// one reversal of the word. Nothing depends on the p-mer before, so threads share a read of any
// length.

//
//   GS_LENGTH, GS_HALVED, GS_BIN_BITS, GS_HASH  of signatures.py
//   GS_HASH_BITS                                of a hash: 32, 64

using Word = unsigned long long;
#if GS_HASH_BITS == 64
using Hash = unsigned long long;
#else
using Hash = unsigned;
#endif

constexpr int LENGTH = GS_LENGTH, HALVED = GS_HALVED, BIN_BITS = GS_BIN_BITS;
constexpr int NO_BIN = 1 << BIN_BITS;
constexpr int WORD = 32;                  // letters
constexpr int STEP = 16;                  // p-mers of a word that a thread takes
constexpr int HALF = 4, SHARE = 2 * HALF;  // threads of a half, of a read
constexpr int THREADS = 128, BLOCKS = 8;  // of a thread block; of these at once
static_assert(STEP + LENGTH - 1 <= WORD && LENGTH < 16, "p-mers lie within a word, and in 32 bits");

constexpr Hash HASH = GS_HASH, NONE = ~Hash(0);
constexpr Word MIX = 0x9E3779B97F4A7C15;
constexpr unsigned MASK = (1u << 2 * LENGTH) - 1, PAIRS = 0x55555555u & MASK;

// Whether three letters of a p-mer that follow each other are equal.
__device__ __forceinline__ bool has_three(unsigned word) {
    const unsigned change = word ^ word >> 2;
    const unsigned same = ~(change | change >> 1) & PAIRS >> 2;
    return (same & same >> 2 & PAIRS >> 4) != 0;
}

// The bin of a hash, which is low: its bits are mixed once more.
__device__ __forceinline__ int mixed(Hash best) {
    return best == NONE ? NO_BIN : int(best * MIX >> (64 - BIN_BITS));
}

// The other strand of 32 letters.
__device__ __forceinline__ Word complement(Word letters) {
    constexpr Word LOWS = 0x5555555555555555;
    const Word turned = __brevll(letters);
    return ~((turned & LOWS) << 1 | (turned >> 1 & LOWS));
}

// The lowest hash of up to STEP p-mers, of which the first begins at a letter; NONE of none.
__device__ __forceinline__ Hash sign_word(const Word* letters, const unsigned* others, int letter,
                                          int count) {
    const int word = letter / WORD, skip = letter % WORD;
    const Word behind = skip ? letters[word + 1] >> (64 - 2 * skip) : 0;
    const Word forward = letters[word] << 2 * skip | behind, reverse = complement(forward);
    const Word marks = (Word(others[word + 1]) << WORD | others[word]) >> skip;
    Hash best = NONE;
    for (int j = 0; j < count; ++j) {
        const unsigned own = unsigned(forward >> (64 - 2 * LENGTH - 2 * j)) & MASK;
        const unsigned other = unsigned(reverse >> 2 * j) & MASK;
        if ((marks >> j & ((1u << LENGTH) - 1)) == 0 && !has_three(own))
            best = min(best, min(Hash(own * HASH), Hash(other * HASH)));
    }
    return best;
}

// The lowest hash of letters begin..end of a read, of this thread's share of `threads`.
__device__ __forceinline__ Hash sign_half(const Word* letters, const unsigned* others, int begin,
                                          int end, int thread, int threads) {
    Hash best = NONE;
    const int last = end - LENGTH + 1;
    for (int i = begin + STEP * thread; i < last; i += STEP * threads)
        best = min(best, sign_word(letters, others, i, min(STEP, last - i)));
    return best;
}

// The lowest of neighbouring lanes, `count` of them, a power of two.
__device__ __forceinline__ Hash lowest(Hash best, int count) {
    for (int step = 1; step < count; step *= 2)
        best = min(best, __shfl_xor_sync(~0u, best, step));
    return best;
}

// Fill bins (n, 2) of the halves of reads; short ones have one, twice.
//
// firsts : (n + 1,) the first word of each read
// lengths : (n,) letters, below 2^31
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    sign_lines(const Word* letters, const unsigned* others, const long long* firsts,
               const long long* lengths, int n, long long* bins) {
    const int i = int((blockIdx.x * THREADS + threadIdx.x) / SHARE);
    const int lane = int(threadIdx.x) % SHARE, half = lane / HALF;
    const int read = min(i, n - 1);  // all lanes of a warp meet at shuffles
    const int length = int(lengths[read]), middle = length / 2;
    const bool halved = length >= HALVED;
    const int begin = halved && half == 1 ? middle : 0, end = halved && half == 0 ? middle : length;
    const Word* const own = letters + firsts[read];
    const unsigned* const marks = others + firsts[read];
    const int thread = halved ? lane % HALF : lane, threads = halved ? HALF : SHARE;
    const Hash best = lowest(sign_half(own, marks, begin, end, thread, threads), HALF);
    const Hash other = __shfl_xor_sync(~0u, best, HALF);
    const Hash found = halved && best != NONE ? best : halved ? other : min(best, other);
    if (i < n && lane % HALF == 0) bins[2 * i + half] = mixed(found);
}
