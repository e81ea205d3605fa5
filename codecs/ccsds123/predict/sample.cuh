// Samples in device memory.
//
//   GS_SAMPLE  their integer type
//   GS_SWAP    1 where they are of foreign byte order, else 0

#include "bits.cuh"

using Sample = GS_SAMPLE;

// A sample in the machine's byte order, or back.
__device__ __forceinline__ Sample in_order(Sample value) {
    if (!GS_SWAP || sizeof(Sample) == 1) return value;
    return Sample(big_endian(unsigned(value)) >> (32 - 8 * sizeof(Sample)));
}
