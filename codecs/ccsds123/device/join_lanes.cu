// Joins bit strings, the headers and bands of all blocks, to the streams that they make up.

#include "bits.cuh"

// A row of the table of strings, see string_table of gpu_encode.py: ordered, without empty ones.
struct String {
    long long begin, end;  // its bits in the output
    long long words;       // where its first word is; what its last one has behind its end is 0
};

// 32 bits of a string from one of the output's on, 0 behind its end.
__device__ __forceinline__ unsigned bits_from(const String& string, long long bit,
                                              const unsigned* words) {
    const long long from = bit - string.begin, next = (from | 31) + 1;
    const unsigned* const at = words + string.words + (from >> 5);
    const unsigned after = next < string.end - string.begin ? at[1] : 0;
    return __funnelshift_l(after, at[0], int(from & 31));
}

// Write all words of the output that begin within a string, a thread block for each.
//
// Where strings meet within a word, the thread of the first one looks up the others: so each word
// has one writer. Words in which no string begins or goes on are left as they are, 0.
extern "C" __global__ void join_lanes(const String* strings, long long n_strings,
                                      const unsigned* words, unsigned* out) {
    const String own = strings[blockIdx.x];
    const long long end = (own.end + 31) >> 5;
    for (long long i = ((own.begin + 31) >> 5) + threadIdx.x; i < end; i += blockDim.x) {
        unsigned word = bits_from(own, 32 * i, words);
        for (long long k = blockIdx.x + 1LL; k < n_strings && strings[k].begin < 32 * i + 32; ++k)
            word |= words[strings[k].words] >> int(strings[k].begin - 32 * i);
        out[i] = big_endian(word);
    }
}
