// Letters and codes, as in kernels.py.

constexpr unsigned BASES = 0x54474341;  // the letters of codes 0 to 3, the lowest byte first

__device__ __forceinline__ unsigned char letter_of(int code) {
    return static_cast<unsigned char>(BASES >> 8 * code);
}

// Code of a letter A, C, G or T.
__device__ __forceinline__ int code_of(unsigned letter) {
    return (letter >> 1 ^ letter >> 2) & 3;
}

__device__ __forceinline__ bool is_base(unsigned letter) {
    return letter == 'A' || letter == 'C' || letter == 'G' || letter == 'T';
}
