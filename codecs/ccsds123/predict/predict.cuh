// Prediction of one band by one thread: what encoder and decoder share; stages as in predict.py.
//
// Section numbers are those of CCSDS 123.0-B-2. A source is specialised by
//   GS_P          P, not more than the image has bands before its last
//   GS_FULL       1 in full prediction mode, else 0
//   GS_LOCAL_SUM  code of the local sum: 0 and 1 neighbour, 2 and 3 column oriented; odd: narrow
//   GS_LANE       int or long long, see Plan.dtype of plan.py

using Lane = GS_LANE;

template <int bytes>
struct WrappingOf {
    using type = unsigned;
};
template <>
struct WrappingOf<8> {
    using type = unsigned long long;
};
using Wrapping = WrappingOf<sizeof(Lane)>::type;  // of a Lane's size; overflow is defined

constexpr int DIRECTIONAL = 3 * GS_FULL;
constexpr int COMPONENTS = DIRECTIONAL + GS_P;      // C_z of all bands but the first ones
constexpr int ROOM = COMPONENTS > 0 ? COMPONENTS : 1;  // C++ has no arrays of length 0
constexpr bool NARROW = GS_LOCAL_SUM & 1;
constexpr bool COLUMN = GS_LOCAL_SUM & 2;

// Parameters of the prediction, with the names of plan.Predictor.
struct Predictor {
    int depth, resolution, spare_bits;
    Lane lowest, highest, middle;
    int interval, exponent_min, exponent_max, bands;
};

constexpr int PREDICTOR_VALUES = 10;  // those of a Predictor, where they lie in a table

__device__ __forceinline__ Predictor read_predictor(const long long* values) {
    return {int(values[0]),  int(values[1]),  int(values[2]), Lane(values[3]), Lane(values[4]),
            Lane(values[5]), int(values[6]),  int(values[7]), int(values[8]),  int(values[9])};
}

// Samples around one, or the ways to them. `before` is what the first row adds up: W, and in
// narrow sums the band before's W, or s_mid where there is no such band.
template <class T>
struct Neighbors {
    T west, northwest, north, northeast, before;
};

// The four neighbours that sigma adds up (4.4), borders included.
template <class T>
struct Summed {
    T a, b, c, d;
};

template <class T>
__device__ __forceinline__ Summed<T> summed_neighbors(const Neighbors<T>& at, bool first_row,
                                                      bool first_column, bool last_column) {
    if (first_row) return {at.before, at.before, at.before, at.before};
    if (COLUMN) return {at.north, at.north, at.north, at.north};
    const T left = first_column ? at.northeast : at.northwest;
    if (NARROW) {
        const T right = last_column ? at.northwest : at.northeast;
        return {left, at.north, at.north, right};
    }
    const T right = last_column ? at.north : at.northeast;
    return {first_column ? at.north : at.west, left, at.north, right};
}

// sigma of samples; flags may differ between the lanes of a warp.
__device__ __forceinline__ Lane local_sum(const Neighbors<Lane>& at, bool first_row,
                                          bool first_column, bool last_column) {
    const Summed<Lane> four = summed_neighbors(at, first_row, first_column, last_column);
    return four.a + four.b + four.c + four.d;
}

__device__ __forceinline__ Lane central_difference(Lane sample, Lane sum) {
    return Lane(4 * Wrapping(sample) - Wrapping(sum));
}

// Directional part of U_z(t) (4.5.2): all 0 in the first row; in the first column N is W and NW.
__device__ __forceinline__ void directional_differences(Lane (&u)[ROOM], Lane west, Lane northwest,
                                                        Lane north, Lane sum, bool first_row,
                                                        bool first_column) {
    if (DIRECTIONAL == 0) return;
    const Lane keep = first_row ? 0 : -1;
    const Lane around[3] = {north, first_column ? north : west, first_column ? north : northwest};
#pragma unroll
    for (int i = 0; i < DIRECTIONAL; ++i) u[i] = (4 * around[i] - sum) & keep;
}

// Double-resolution prediction (4.7.3) at t >= 1. R wraps by itself in an int: then it is 32, or
// nothing can overflow.
__device__ __forceinline__ Lane predict(const Lane (&w)[ROOM], const Lane (&u)[ROOM], Lane sum,
                                        const Predictor& p) {
    Wrapping product = Wrapping(sum - 4 * p.middle) << p.resolution;
#pragma unroll
    for (int i = 0; i < COMPONENTS; ++i) product += Wrapping(w[i]) * Wrapping(u[i]);
    if (sizeof(Lane) == 8) product <<= p.spare_bits;
    Lane high_resolution = Lane(product);
    if (sizeof(Lane) == 8) high_resolution >>= p.spare_bits;
    const Lane doubled = (high_resolution >> (p.resolution + 1)) + (2 * p.middle + 1);
    return max(min(doubled, 2 * p.highest + 1), 2 * p.lowest);
}

// Double-resolution prediction at t = 0; `before` is the first sample of band z - 1, if there is.
__device__ __forceinline__ Lane predict_first(bool first_band, Lane before, const Predictor& p) {
    return 2 * (first_band || GS_P == 0 ? p.middle : before);
}

// Mapped residual delta (4.11) of a sample.
__device__ __forceinline__ unsigned map_residual(Lane sample, Lane doubled, const Predictor& p) {
    const Lane predicted = doubled >> 1;
    const Lane residual = sample - predicted;
    const Lane theta = min(predicted - p.lowest, p.highest - predicted);
    const Lane size = residual < 0 ? -residual : residual;
    const Lane odd = -(doubled & 1);
    const Lane against = (residual ^ odd) - odd < 0 ? 1 : 0;
    return unsigned(size > theta ? size + theta : 2 * size - against);
}

// The sample that a mapped residual, at most 2^D, stands for; out of lowest..highest if there is
// no such sample.
__device__ __forceinline__ Lane unmap_residual(Lane coded, Lane doubled, const Predictor& p) {
    const Lane predicted = doubled >> 1;
    const Lane below = predicted - p.lowest, above = p.highest - predicted;
    const Lane theta = min(below, above);
    const Lane odd = -((coded ^ doubled) & 1);
    const Lane near = (((coded + 1) >> 1) ^ odd) - odd;
    const Lane far = below < above ? coded - theta : theta - coded;
    return predicted + (coded > 2 * theta ? far : near);
}

// An update of the weights (4.10) at one value of the scaling exponent rho:
// w + ((+-u 2^left + half) >> right), clipped. A product with +-2^left runs next to the other
// integer operations; the shift and the flip of the CPU code do not.
struct Update {
    Lane scale, half;
    int right;
};

// Number of times that rho may have grown before t; less than 0 in the first row.
__device__ __forceinline__ int intervals_at(long long t, int columns, const Predictor& p) {
    return int((t - columns) >> p.interval);
}

__device__ __forceinline__ Update update_after(int intervals, const Predictor& p) {
    int rho = min(max(p.exponent_min + intervals, p.exponent_min), p.exponent_max);
    rho += p.depth - p.resolution;
    const int right = max(rho, 0);
    return {Lane(1) << (right - rho), Lane(1) << right, right + 1};
}

// Adapt the weights after a sample whose error e = 2 s - doubled has this sign.
__device__ __forceinline__ void update_weights(Lane (&w)[ROOM], const Lane (&u)[ROOM],
                                               bool negative, const Update& by,
                                               const Predictor& p) {
    const Lane scale = negative ? -by.scale : by.scale;
    const Lane most = (Lane(4) << p.resolution) - 1;
#pragma unroll
    for (int i = 0; i < COMPONENTS; ++i) {
        const Lane moved = w[i] + ((u[i] * scale + by.half) >> by.right);
        w[i] = max(min(moved, most), -most - 1);
    }
}
