// Bits of byte strings for one thread: big-endian words, read ahead of their use.

__device__ __forceinline__ unsigned big_endian(unsigned word) {
    return __byte_perm(word, 0, 0x0123);
}

constexpr int SECTOR_WORDS = 8;     // of 32 bytes, what caches are filled by
constexpr int PREFETCH_WORDS = 16;  // some hundred samples ahead: device memory takes two or three

// Ask the second-level cache for the sector of an address that may be read.
__device__ __forceinline__ void prefetch(const void* address) {
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

// Reader of up to 64 bits at a time, most significant bit first.
//
// Nothing beyond the last word is touched, which repeats without end. A word is loaded one shift
// of the window before it belongs to it: a load that is waited for at once costs a step.
struct BitReader {
    const unsigned* words;  // the first word that was read from
    unsigned next, last;    // the word to be loaded, the last one; counted from the first
    unsigned window[3];     // the words from the next bit's on
    unsigned ahead;         // the one after them, in the order of memory
    int offset;             // 0..31, of the next bit

    // string : aligned; bit : of the first to be read, counted from there
    __device__ BitReader(const unsigned* string, long long n_words, long long bit)
        : words(string + (bit >> 5)),
          next(0),
          last(unsigned(min(n_words - 1 - (bit >> 5), 0xFFFFFFFFll))),
          window{},
          ahead(0),
          offset(int(bit & 31)) {
        for (int i = 0; i < 4; ++i) shift();
    }

    __device__ __forceinline__ void shift() {
        window[0] = window[1];
        window[1] = window[2];
        window[2] = big_endian(ahead);
        ahead = words[min(next, last)];
        if (next % SECTOR_WORDS == 0) prefetch(words + min(next + PREFETCH_WORDS, last));
        ++next;
    }

    // The next bit, counted from the beginning of the string.
    __device__ __forceinline__ long long position(const unsigned* string) const {
        return (words - string + (long long)(next) - 4) * 32 + offset;
    }

    // The next 32 bits.
    __device__ __forceinline__ unsigned peek() const {
        return __funnelshift_l(window[1], window[0], offset);
    }

    // The `bits` bits, 0..32, that follow `before` bits, 0..32.
    __device__ __forceinline__ unsigned look(int before, int bits) const {
        const int from = offset + before;
        const bool far = from >= 32;
        const unsigned high = far ? window[1] : window[0], low = far ? window[2] : window[1];
        return __funnelshift_lc(__funnelshift_l(low, high, from & 31), 0, bits);
    }

    // Take up to 64 bits.
    __device__ __forceinline__ void skip(int bits) {
        offset += bits;
        for (int i = 0; i < 2; ++i) {
            if (offset < 32) return;
            offset -= 32;
            shift();
        }
    }
};

// Writer of one thread's bits to words of its own, most significant bit first; the words are the
// machine's. It counts on beyond its room and writes nothing there.
struct BitWriter {
    unsigned* words;
    unsigned room, full;  // words that there are, and that are full
    unsigned held;        // bits behind them, from the top
    int used;             // how many, less than 32

    __device__ BitWriter(unsigned* first, long long n_words)
        : words(first), room(unsigned(n_words)), full(0), held(0), used(0) {}

    // Append the `length` low bits, 1..32, of a value that has no others.
    __device__ __forceinline__ void put(unsigned value, int length) {
        held |= (value << (32 - length)) >> used;
        used += length;
        if (used < 32) return;
        if (full < room) words[full] = held;
        ++full;
        used -= 32;
        held = (value << 1) << (31 - used);  // in two steps: all 32 may have been taken
    }

    __device__ __forceinline__ long long bits() const {
        return 32LL * full + used;
    }

    // Write the last word, with zeros behind the bits.
    __device__ __forceinline__ void finish() const {
        if (used > 0 && full < room) words[full] = held;
    }
};
