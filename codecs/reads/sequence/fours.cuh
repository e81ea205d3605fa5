// Runs of letters as symbols of four, in the context of the letter before (SPEC.md, Fours).

#include "syntax.cuh"

// Read n letters to out[place..].
__device__ __forceinline__ void get_fours(const Tables& tables, int table, Lane& lane, Byte* out,
                                          Place place, Place n) {
    int before = 0;
    while (n > 0) {
        const int some = int(min(n, Place(4)));
        const int four = get(tables, some == 4 ? table + before : TAIL + some - 1, lane);
        for (int i = 0; i < some; ++i) out[place + i] = letter_of(four >> 2 * (some - 1 - i) & 3);
        before = four & 3;
        place += some;
        n -= some;
    }
}

// As `get_fours`, for the bases of out[place..end]: other bytes there stay.
__device__ __forceinline__ void get_fours_between(const Tables& tables, int table, Lane& lane,
                                                  Byte* out, Place place, Place end) {
    Place n = 0;
    for (Place i = place; i < end; ++i) n += is_base(out[i]);
    int before = 0, four = 0, held = 0;
    for (Place i = place; i < end; ++i) {
        if (!is_base(out[i])) continue;
        if (held == 0) {
            held = int(min(n, Place(4)));
            four = get(tables, held == 4 ? table + before : TAIL + held - 1, lane);
            before = four & 3;
            n -= held;
        }
        --held;
        out[i] = letter_of(four >> 2 * held & 3);
    }
}
