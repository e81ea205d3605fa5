// Decoder of band-sequential streams of the sample-adaptive coder, parallel inside a block.
//
// A thread is a band. At step T the thread of band z is at sample t = T - delay(z), one sample
// behind the band before it and, at the first band of a warp, BATCH samples more. So the central
// differences d(z-1, t) .. d(z-P, t) are there when it needs them: they lie in row t of a ring in
// shared memory, to the left of its own place. Shuffles instead would cost as many instructions,
// and leave the first bands of a warp to a second path. Neighbours in space are read back from the
// output, where the same thread has put them.
//
// Blocks of more bands than a thread block has threads are decoded in groups of bands; the P bands
// before a group take part again, with the samples that are known by then.
//
// A large batch is bound by integer instructions, most of them not on the multiplier's pipe. One
// block alone is bound by the chain from a sample to the next band's: load, product, clipping,
// unmapping, store.
//
// Sections and stages as in wave/ and sample/decoder.py.

#include "bits.cuh"
#include "cuda.cuh"
#include "predict/predict.cuh"
#include "predict/sample.cuh"
#include "sample/coder.cuh"

constexpr int WARP = 32;
constexpr int MOST_THREADS = sizeof(Lane) == 4 ? 512 : 256;  // that have registers enough
constexpr int BATCH = 8;   // steps between barriers of the thread block
constexpr int RING = 32;   // rows: P + 2 BATCH lie between the first and the last use of one
constexpr int LOOK = COLUMN ? 1 : 2;  // N or NE of the next sample is LOOK - NX samples from here

constexpr unsigned IMPOSSIBLE_RESIDUAL = 1, LANE_END = 2;  // status: 4 z + one of these

// A block of the table of blocks.
struct Block {
    Sample* origin;                       // sample (0, 0, 0)
    long long z_stride, y_stride, x_stride;  // in samples
    int bands, rows, columns;
    long long bounds;  // index of the first of bands + 1 ends of lanes
    // In samples, to what LOOK - NX samples further on in the band lies: in the row above, or
    // the same one, where that has ended; and from the last column to the next row.
    long long above, same_row, next_row;
};

// The same as it lies in the table: BlockRow of gpu_decode.py.
struct BlockRow {
    long long origin, z_stride, y_stride, x_stride, bands, rows, columns, bounds;
};

__device__ __forceinline__ Block read_block(const BlockRow& row) {
    Block block = {reinterpret_cast<Sample*>(row.origin), row.z_stride, row.y_stride, row.x_stride,
                   int(row.bands), int(row.rows), int(row.columns), row.bounds, 0, 0, 0};
    block.above = LOOK * block.x_stride - block.y_stride;
    block.same_row = (LOOK - block.columns) * block.x_stride;
    block.next_row = block.y_stride - (block.columns - 1) * block.x_stride;
    return block;
}

// Addresses come from a table. The compiler has to know that they are of device memory: else it
// assumes that a store to them may change the ring.
template <class T>
__device__ __forceinline__ T* on_device(T* address) {
#ifdef __CUDA_ARCH__
    __builtin_assume(__isGlobal(address));
#endif
    return address;
}

// Not by the read-only cache: neighbours are read back.
__device__ __forceinline__ Lane load(const Sample* at) {
    return in_order(*on_device(at));
}

__device__ __forceinline__ void store(Sample* at, Lane sample) {
    *on_device(at) = in_order(Sample(sample));
}

// What all blocks of a launch share.
struct Shared {
    Predictor predictor;
    Coder coder;
    const unsigned* words;        // streams, back to back
    long long n_words;
    const long long* bounds;      // bits of `words` between which the lanes of all blocks lie
    const long long* first_sums;  // Sigma(1) of each band
    const long long* weights;     // COMPONENTS of each band, at t = 1
};

// One band: where it is, and what it remembers.
struct Band {
    BitReader bits;
    Statistics statistics;
    Lane delta;  // of the next sample: read while the one before it is predicted
    Lane weights[ROOM];
    Neighbors<Lane> around;
    Sample* here;
    int z, x;
    bool known;     // its samples are there already
    int bad;        // not 0: a sample was out of range
    long long end;  // bit after its last codeword
};

__device__ __forceinline__ Band begin_band(const Block& block, const Shared& shared, int z,
                                           bool known) {
    const BitReader bits(shared.words, shared.n_words, shared.bounds[block.bounds + z]);
    const Statistics first = {shared.coder.first_count, Lane(shared.first_sums[z])};
    Band band = {bits, first, 0, {}, {}, block.origin + z * block.z_stride, z, 0, known, 0, 0};
#pragma unroll
    for (int i = 0; i < COMPONENTS; ++i)
        band.weights[i] = Lane(shared.weights[(long long)z * COMPONENTS + i]);
    return band;
}

// N or NE of the next sample, a step before it is needed, if it lies in memory by now.
__device__ __forceinline__ Lane fetch_above(const Band& band, const Block& block, int t) {
    const int columns = block.columns;
    if (columns == LOOK || t + LOOK < columns) return 0;
    return load(band.here + (band.x < columns - LOOK ? block.above : block.same_row));
}

// What narrow sums look at in the first row: the band before, one column to the left.
__device__ __forceinline__ Lane band_before(const Band& band, const Block& block, long long back,
                                            const Shared& shared) {
    if (band.z == 0) return shared.predictor.middle;
    return load(band.here - block.z_stride - back);
}

// Undo the mapping and put the sample where it belongs; remember whether it is one.
__device__ __forceinline__ Lane unmap(Band& band, Lane delta, Lane doubled, const Shared& shared) {
    const Predictor& p = shared.predictor;
    if (band.known) return load(band.here);
    const Lane sample = unmap_residual(delta, doubled, p);
    band.bad |= (sample < p.lowest || sample > p.highest) ? 1 : 0;
    store(band.here, sample);
    return sample;
}

// Go on to the next sample of the band, in raster order.
__device__ __forceinline__ void move_on(Band& band, const Block& block, Lane sample, Lane fetched) {
    const bool last_column = band.x == block.columns - 1;
    const Lane next = block.columns == LOOK ? sample : fetched;
    band.around.west = sample;
    band.around.northwest = band.around.north;
    band.around.north = COLUMN ? next : band.around.northeast;
    band.around.northeast = next;
    band.x = last_column ? 0 : band.x + 1;
    band.here += last_column ? block.next_row : block.x_stride;
}

// The codeword of the next sample needs this one's residual, but not its prediction: both are
// worked on side by side.
__device__ __forceinline__ void read_step(Band& band, const Coder& coder) {
    band.delta = read_codeword(band.bits, choose_code(band.statistics, coder), coder);
}

// Sample t = 0 of a band: D bits as they are, and no weights.
__device__ void begin_band(Band& band, const Block& block, const Shared& shared) {
    const bool look = band.z > 0 && GS_P > 0;
    const Lane before = look ? band_before(band, block, 0, shared) : 0;
    const Lane doubled = predict_first(band.z == 0, before, shared.predictor);
    const Lane delta = band.bits.look(0, shared.coder.depth);
    band.bits.skip(shared.coder.depth);
    band.end = band.bits.position(shared.words);
    read_step(band, shared.coder);
    move_on(band, block, unmap(band, delta, doubled, shared), 0);
}

// Sample t >= 1 of a band; `row` is the band's place in row t of the ring.
__device__ __forceinline__ void advance(Band& band, const Block& block, const Shared& shared,
                                        Lane* row, int t) {
    const bool first_row = t < block.columns, first_column = band.x == 0;
    const Lane fetched = fetch_above(band, block, t), delta = band.delta;
    if (t == block.rows * block.columns - 1) band.end = band.bits.position(shared.words);
    update_statistics(band.statistics, delta, shared.coder);
    read_step(band, shared.coder);

    Neighbors<Lane>& at = band.around;
    at.before = NARROW && first_row ? band_before(band, block, block.x_stride, shared) : at.west;
    const Lane sum = local_sum(at, first_row, first_column, band.x == block.columns - 1);
    Lane u[ROOM];
    directional_differences(u, at.west, at.northwest, at.north, sum, first_row, first_column);
#pragma unroll
    for (int i = 0; i < GS_P; ++i) u[DIRECTIONAL + i] = row[-1 - i];

    const Predictor& p = shared.predictor;
    const Lane doubled = predict(band.weights, u, sum, p);
    const Lane sample = unmap(band, delta, doubled, shared);
    row[0] = central_difference(sample, sum);
    const Update update = update_after(intervals_at(t, block.columns, p), p);
    update_weights(band.weights, u, 2 * sample < doubled, update, p);
    move_on(band, block, sample, fetched);
}

__device__ __forceinline__ int delay_of(int thread) {
    return thread + BATCH * (thread / WARP);
}

// Report the lowest band that failed, as the CPU does.
__device__ void report(const Band& band, const Block& block, const Shared& shared,
                       unsigned* status) {
    if (band.known) return;
    const bool misfit = band.end != shared.bounds[block.bounds + band.z + 1];
    const unsigned what = misfit ? LANE_END : IMPOSSIBLE_RESIDUAL;
    if (misfit || band.bad) atomicMin(status, 4u * band.z + what);
}

// Decode the bands from `first` on, as many as there are threads for besides `halo` known ones.
__device__ void decode_strip(const Block& block, const Shared& shared, Lane* ring, int pitch,
                             int first, int halo, unsigned* status) {
    const int thread = threadIdx.x, samples = block.rows * block.columns;
    const int lanes = min(int(blockDim.x), block.bands - first + halo);
    const int delay = delay_of(thread), steps = samples + delay_of(lanes - 1);
    const unsigned until = thread < lanes ? samples : 0;
    Band band = begin_band(block, shared, first - halo + min(thread, lanes - 1), thread < halo);
    for (int step = 0; step < steps; ++step) {
        const int t = step - delay;
        if (unsigned(t) < until) {
            if (t == 0) {
                begin_band(band, block, shared);
            } else {
                advance(band, block, shared, ring + t % RING * pitch + GS_P + thread, t);
            }
        }
        if (step % BATCH == BATCH - 1)
            __syncthreads();
        else
            __syncwarp();
    }
    if (thread < lanes) report(band, block, shared, status);
    __syncthreads();
}

// Decode block blockIdx.x of the table.
//
// blocks     : (n_blocks,)
// words      : big-endian 32-bit words of all streams; n_words of them
// bounds     : (sum of bands + 1,) see Block, bits
// first_sums : (most bands,); weights: (most bands, COMPONENTS)
// constants  : of Predictor, then of Coder
// pitch      : of a row of the ring in Lanes: even, for the banks, and >= GS_P + blockDim.x
// status     : (n_blocks,) all ones; what `report` writes of the lowest band that fails
extern "C" __global__ void __launch_bounds__(MOST_THREADS, 1)
    decode_lanes(const BlockRow* blocks, const unsigned* words, long long n_words,
                 const long long* bounds, const long long* first_sums, const long long* weights,
                 const long long* constants, int pitch, unsigned* status) {
    DYN_SHARED(Lane, ring);
    const Block block = read_block(blocks[blockIdx.x]);
    const Shared shared = {read_predictor(constants),
                           read_coder(constants + PREDICTOR_VALUES),
                           words,
                           n_words,
                           bounds,
                           first_sums,
                           weights};
    for (int row = threadIdx.x; row < RING; row += blockDim.x)
        for (int i = 0; i < GS_P; ++i) ring[row * pitch + i] = 0;
    __syncthreads();
    for (int first = 0, halo = 0; first < block.bands; first += blockDim.x - halo, halo = GS_P)
        decode_strip(block, shared, ring, pitch, first, halo, status + blockIdx.x);
}
