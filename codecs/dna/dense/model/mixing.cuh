// From logarithms of all models to frequencies of the bases, and weights that learn: mixing.py.

// The weight of a model, in units of 2^-14.
__device__ __forceinline__ int weigh_models(const Tables& tables, Lane& lane, int model) {
    const int other = lane.place[HASHED] + SECOND + CLASSES * (model - HASHED);
    lane.place[MODELS + model] = other;
    return (tables.weights[lane.place[model]] + tables.weights[other]) >> 6;
}

// Fill the weighted logarithms, in 1/256 of a bit; no sum leaves 32 bits.
__device__ __forceinline__ void sum_logs(const Tables& tables, Lane& lane, int (&d)[4]) {
    for (int base = 0; base < 4; ++base) d[base] = 0;
    for (int model = 0; model < MODELS; ++model) {
        const int weight = weigh_models(tables, lane, model);
        for (int base = 0; base < 4; ++base) d[base] += weight * lane.x[4 * model + base];
    }
    for (int base = 0; base < 4; ++base) d[base] >>= 14;
}

// Fill frequencies that sum to TOTAL; what rounding leaves goes to the first largest.
__device__ __forceinline__ void share_out(const unsigned (&power)[4], Lane& lane) {
    const unsigned ratio = (unsigned(SHARED) << 14) / (power[0] + power[1] + power[2] + power[3]);
    int largest = 0, rest = TOTAL;
    for (int base = 0; base < 4; ++base) {
        lane.frequency[base] = int(power[base] * ratio >> 14) + LEAST;
        rest -= lane.frequency[base];
    }
    int most = lane.frequency[0];
    for (int base = 1; base < 4; ++base) {
        if (lane.frequency[base] <= most) continue;
        most = lane.frequency[base];
        largest = base;
    }
    for (int base = 0; base < 4; ++base) lane.frequency[base] += base == largest ? rest : 0;
}

__device__ __forceinline__ void mix_models(const Tables& tables, const Logs& logs, Lane& lane) {
    int d[4];
    sum_logs(tables, lane, d);
    const int most = max(max(d[0], d[1]), max(d[2], d[3]));
    unsigned power[4];
    for (int base = 0; base < 4; ++base) power[base] = logs.powers[min(POWERS - 1, most - d[base])];
    share_out(power, lane);
}

// Learn from the base that came, fast at first: error times logarithm, summed over the bases.
__device__ __forceinline__ void learn_weights(const Shape& shape, Tables& tables, const Lane& lane,
                                              unsigned came, int now) {
    const int faded = MOST_FADED / (FADE + now * int(shape.lanes));
    const int rate = LEAST_RATE + LEAST_RATE * faded;
    for (int model = 0; model < MODELS; ++model) {
        int slope = 0;
        for (int base = 0; base < 4; ++base) {
            const int error = (base == int(came) ? TOTAL : 0) - lane.frequency[base];
            slope += (error >> 4) * lane.x[4 * model + base];
        }
        const int change = (slope >> 10) * rate >> 8;
        atomicAdd(&tables.weights[lane.place[model]], change);
        atomicAdd(&tables.weights[lane.place[MODELS + model]], change);
    }
}

// Keep each weight within MOST_WEIGHT, once all lanes have added to it.
__device__ __forceinline__ void keep_weights(Tables& tables) {
    for (int i = this_lane(); i < WEIGHTS; i += int(blockDim.x))
        tables.weights[i] = min(MOST_WEIGHT, max(-MOST_WEIGHT, tables.weights[i]));
}
