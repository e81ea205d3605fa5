// Sample-adaptive entropy coder (CCSDS 123.0-B-2, 5.4.3.2) of one band by one thread: statistics,
// choice of the code, codewords in both directions; as in encoder.py, decoder.py.
//
// GS_LANE is int where accumulators and residuals fit it (sums_type of predict/plan.py), else long long.

using Lane = GS_LANE;

// Parameters of the coder, with the names of plan.Coder.
struct Coder {
    int depth, unary_limit, first_count, top_count;
};

__device__ __forceinline__ Coder read_coder(const long long* values) {
    return {int(values[0]), int(values[1]), int(values[2]), int(values[3])};
}

__device__ __forceinline__ int leading_zeros(int word) {
    return __clz(word);
}

__device__ __forceinline__ int leading_zeros(long long word) {
    return __clzll(word);
}

// Counter Gamma(t) and accumulator Sigma(t) of a band; t = 1 begins with first_count and Sigma(1).
struct Statistics {
    int count;
    Lane sum;
};

// k: the largest with Gamma 2^k <= Sigma + floor(49/128 Gamma), at least 0, at most D - 2.
__device__ __forceinline__ int choose_code(const Statistics& at, const Coder& c) {
    // Below 2 Gamma k is 0 whatever the threshold, so that it may be Gamma at least; then bit
    // lengths give k or k + 1, and never less than 0.
    const Lane count = at.count;
    const Lane threshold = max(at.sum + ((49 * at.count) >> 7), count);
    const int k = leading_zeros(count) - leading_zeros(threshold);
    return min((count << k) > threshold ? k - 1 : k, c.depth - 2);
}

// Go on to t + 1 after coding delta(t), t >= 1.
__device__ __forceinline__ void update_statistics(Statistics& at, Lane delta, const Coder& c) {
    const int halve = at.count == c.top_count;
    at.sum = (at.sum + delta + halve) >> halve;
    at.count = (at.count + 1) >> halve;
}

// The low bits of a codeword, and its length of up to U_max + D = 64 bits; those above are zeros.
struct Codeword {
    unsigned value;
    int length;
};

__device__ __forceinline__ Codeword codeword(unsigned delta, int k, const Coder& c) {
    const unsigned quotient = delta >> k, stop_bit = 1u << k;
    if (quotient >= unsigned(c.unary_limit)) return {delta, c.unary_limit + c.depth};
    return {(delta & (stop_bit - 1)) | stop_bit, int(quotient) + k + 1};
}

// Inverse of `codeword`: takes one from the reader; a value beyond D bits becomes 2^D, which no
// sample has.
template <class Reader>
__device__ __forceinline__ Lane read_codeword(Reader& in, int k, const Coder& c) {
    const int zeros = __clz(int(in.peek()));
    const bool escape = zeros >= c.unary_limit;
    const int unary = escape ? c.unary_limit : zeros + 1, bits = escape ? c.depth : k;
    const Lane quotient = escape ? 0 : Lane(zeros) << k;
    const Lane delta = quotient + Lane(in.look(unary, bits));
    in.skip(unary + bits);
    return min(delta, Lane(1) << c.depth);
}
