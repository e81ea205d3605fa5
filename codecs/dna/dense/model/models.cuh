// What each model says and learns: rows.py, counts.py, match.py.

__device__ __forceinline__ void predict_row(Row row, const Logs& logs, int* x) {
    for (int base = 0; base < 4; ++base) x[base] = logs.rows[row >> (16 * base + 4) & 4095];
}

__device__ __forceinline__ void predict_rows(const Tables& tables, const Logs& logs, Lane& lane) {
    lane.row3 = tables.rows3[lane.last & LOW3];
    lane.row6 = tables.rows6[lane.last & LOW6];
    predict_row(lane.row3, logs, lane.x + 4 * ROWS3);
    predict_row(lane.row6, logs, lane.x + 4 * ROWS6);
}

// What a base adds to its row: less for the others, more for itself.
__device__ __forceinline__ Row row_rise(Row row, unsigned base, int rate) {
    const int at = 16 * int(base);
    const Row p = row >> at & FIELD, up = ((FIELD - p) >> rate) + (p >> rate);
    return (up << at) - (row >> rate & (FIELD >> rate) * ONES);
}

__device__ __forceinline__ void learn_rows(Tables& tables, const Lane& lane, unsigned base) {
    atomicAdd(&tables.rows3[lane.last & LOW3], row_rise(lane.row3, base, RATE3));
    atomicAdd(&tables.rows6[lane.last & LOW6], row_rise(lane.row6, base, RATE6));
}

// Learn what the other strand says, from its rows, which were read before.
__device__ __forceinline__ void learn_complement_rows(Tables& tables, const Lane& lane) {
    const unsigned base3 = other_base(lane.last, 3), base6 = other_base(lane.last, 6);
    atomicAdd(&tables.rows3[lane.complement >> HIGH3], row_rise(lane.row3, base3, RATE3));
    atomicAdd(&tables.rows6[lane.complement >> HIGH6], row_rise(lane.row6, base6, RATE6));
}

__device__ __forceinline__ void predict_direct(const Logs& logs, Lane& lane) {
    int sum = 0;
    for (int base = 0; base < 4; ++base) {
        const int count = int(lane.direct >> 4 * base & 15);
        lane.x[4 * DIRECT + base] = logs.direct[count];
        sum += count;
    }
    lane.place[DIRECT] = CLASSES * DIRECT + logs.direct_class[sum];
}

// Bits of a key that a slot has beside the counts.
__device__ __forceinline__ unsigned check_of(const Shape& shape, unsigned key) {
    return key >> (24 - int(shape.slot_bits)) & 255;
}

__device__ __forceinline__ void predict_hashed(const Shape& shape, const Logs& logs, Lane& lane) {
    const bool is_own = lane.hashed >> 8 == check_of(shape, lane.key);
    const unsigned counts = is_own ? lane.hashed & 255 : 0;
    const Row found = logs.hashed[counts];
    for (int base = 0; base < 4; ++base)
        lane.x[4 * HASHED + base] = int(found >> 16 * base & 0xFFFF);
    lane.place[HASHED] = CLASSES * HASHED + logs.hashed_class[counts];
}

__device__ __forceinline__ void predict_counts(const Block& block, const Logs& logs, Lane& lane) {
    lane.hashed = block.hashed[high_bits(lane.key, block.shape.slot_bits)];
    lane.direct = block.direct[low_bits(lane.last, 2 * block.shape.order)];
    predict_direct(logs, lane);
    predict_hashed(block.shape, logs, lane);
}

// Direct counts with one base more; where that is the 16th, all are halved first.
__device__ __forceinline__ Half count_direct(unsigned word, unsigned base) {
    const unsigned shift = 4 * base;
    if ((word >> shift & 15) == 15) word = word >> 1 & 0x7777;
    return Half(word + (1u << shift));
}

// Hashed counts with one base more, up to 3, the others down to 2.
//
// A stranger's with a sum above 2 are halved and stay; else this context takes the slot.
__device__ __forceinline__ Half count_hashed(unsigned word, unsigned check, unsigned base) {
    unsigned counts = word & 255;
    const unsigned total =
        (counts & 3) + (counts >> 2 & 3) + (counts >> 4 & 3) + (counts >> 6);
    const bool is_own = word >> 8 == check;
    if (!is_own && total > 2) return Half((word & 0xFF00) | (counts >> 1 & 0x55));
    if (!is_own) counts = 0;
    const unsigned at = 2 * base, more = min(counts >> at & 3, 2u) + 1;
    unsigned rest = counts & ~(3u << at);
    rest &= ~(rest >> 1 & 0x55);
    return Half(check << 8 | rest | more << at);
}

// What a lane stores of its counts, as they were read, with the base that came.
__device__ __forceinline__ Stores learned_counts(const Shape& shape, const Lane& lane,
                                                 unsigned base, bool stores) {
    Stores own = {};
    own.direct = low_bits(lane.last, 2 * shape.order);
    own.hashed = high_bits(lane.key, shape.slot_bits);
    own.new_direct = count_direct(lane.direct, base);
    own.new_hashed = count_hashed(lane.hashed, check_of(shape, lane.key), base);
    own.to_direct = own.to_hashed = stores;
    return own;
}

// Read what the other strand learns from; return what it stores.
__device__ __forceinline__ Stores learned_complement(const Block& block, const Tables& tables,
                                                     Lane& lane, bool stores) {
    Stores own = {};
    own.direct = high_bits(lane.complement, 2 * block.shape.order);
    own.hashed = high_bits(lane.complement_key, block.shape.slot_bits);
    own.to_direct = own.to_hashed = stores;
    if (!stores) return own;
    lane.row3 = tables.rows3[lane.complement >> HIGH3];
    lane.row6 = tables.rows6[lane.complement >> HIGH6];
    const unsigned check = check_of(block.shape, lane.complement_key);
    const unsigned other = other_base(lane.last, int(block.shape.order));
    own.new_direct = count_direct(block.direct[own.direct], other);
    own.new_hashed = count_hashed(block.hashed[own.hashed], check, other_base(lane.before, 0));
    return own;
}

// How many bases before a place of a step are those before this one, at most 32.
__device__ __forceinline__ int equal_before(const Byte* codes, Place at, int step, Place here,
                                            int now) {
    int n = 0;
    if (step < now)
        while (n < MOST_EQUAL && n < step && codes[at - 1 - n] == codes[here - 1 - n]) ++n;
    return n;
}

// How many bases from a place of a step on are the complements of those before this one.
__device__ __forceinline__ int equal_behind(const Byte* codes, Place at, int step, Place here,
                                            int now) {
    int n = 0;
    while (n < MOST_EQUAL && step + n < now && codes[at + n] == 3 - codes[here - 1 - n]) ++n;
    return n;
}

__device__ __forceinline__ void begin_match(Match& match, Place low, Place at, int step,
                                            int length) {
    match.at = at;
    match.low = low;
    match.step = step;
    match.length = length;
    match.misses = 0;
}

// Whether the bits of check of an entry, above its place, are the lowest of a key.
__device__ __forceinline__ bool is_checked(unsigned entry, unsigned key, int bits) {
    return entry != 0 && entry >> bits == key << bits >> bits;
}

// An entry that says that a step comes next behind the last 16 bases.
__device__ __forceinline__ unsigned entry_of(const Shape& shape, const Lane& lane, int now) {
    const unsigned place = unsigned(this_lane()) << int(shape.step_bits) | unsigned(now);
    return lane.key << int(shape.place_bits) | place;
}

// Look up where the last 16 bases were, on either strand.
__device__ __forceinline__ void load_entries(const Block& block, Lane& lane) {
    lane.entry = block.entries[high_bits(lane.key, block.shape.entry_bits)];
    lane.complement_entry = block.entries[high_bits(lane.complement_key, block.shape.entry_bits)];
}

// Begin a match where an entry, of the lane's own strand first, leads to one.
__device__ __forceinline__ void find_match(const Block& block, Lane& lane, int now) {
    const Shape& shape = block.shape;
    const int bits = int(shape.place_bits), step_bits = int(shape.step_bits);
    const Place here = this_lane() * shape.stride + now;
    const unsigned entry = lane.entry, complement = lane.complement_entry;
    if (is_checked(entry, lane.key, bits)) {
        const unsigned place = low_bits(entry, bits);
        const int step = int(low_bits(place, step_bits));
        const Place low = Place(place >> step_bits) * shape.stride;
        const int length = equal_before(block.codes, low + step, step, here, now);
        if (length >= BACK) return begin_match(lane.match, low, low + step, 1, length);
    }
    if (!is_checked(complement, lane.complement_key, bits)) return;
    const unsigned place = low_bits(complement, bits);
    const int step = int(low_bits(place, step_bits)) - BACK;
    if (step <= 0) return;
    const Place low = Place(place >> step_bits) * shape.stride;
    const int length = equal_behind(block.codes, low + step, step, here, now);
    if (length >= BACK) begin_match(lane.match, low, low + step - 1, -1, length);
}

__device__ __forceinline__ int length_class(int length) {
    const int small = (length >= 16) + (length >= 20) + (length >= 24) + (length >= 32);
    return small + (length >= 48) + (length >= 96) + (length >= 256);
}

// Fill the logarithms of the match model: of the odds against a third of the rest, or 0.
__device__ __forceinline__ void predict_matches(const Block& block, const Tables& tables,
                                              const Logs& logs, Lane& lane) {
    int* const x = lane.x + 4 * MATCH;
    x[0] = x[1] = x[2] = x[3] = 0;
    lane.place[MATCH] = CLASSES * MATCH;
    Match& match = lane.match;
    if (match.at == NOWHERE) return;
    const bool is_forward = match.step > 0;
    const int code = block.codes[match.at];
    match.base = is_forward ? code : 3 - code;
    const int wrong = __popc(match.misses), size = length_class(match.length);
    const int recent = (match.misses & RECENT) != 0;
    match.state = ((size * 17 + wrong) * 2 + recent) * 2 + is_forward;
    match.hits = tables.hits[match.state];
    const int rest = (65536 - match.hits) / 3 >> 4;
    const int odds = logs.rows[match.hits >> 4] - logs.rows[rest];
    for (int base = 0; base < 4; ++base) x[base] = base == match.base ? odds : 0;
    lane.place[MATCH] += 1 + min(7, wrong) + (size < 4 ? 0 : wrong < 7 ? 8 : 7);
}

// Go on to the next base that predicts, if there is one and misses are few.
__device__ __forceinline__ void move_match(Match& match, bool is_hit) {
    const int less = match.length > 32 ? match.length / 2 : 0;
    match.length = is_hit ? min(MOST_LENGTH, match.length + 1) : less;
    match.misses = (match.misses << 1 | unsigned(!is_hit)) & KEPT;
    match.at += match.step;
    if (match.at < match.low || __popc(match.misses) > MOST_MISSES) match.at = NOWHERE;
}

// Learn how well a match went, then move it on, or drop it.
__device__ __forceinline__ void learn_matches(Tables& tables, Lane& lane, unsigned base) {
    Match& match = lane.match;
    if (match.at == NOWHERE) return;
    const bool is_hit = match.base == int(base);
    const int change = is_hit ? (65535 - match.hits) >> RATE : -(match.hits >> RATE);
    atomicAdd(&tables.hits[match.state], change);  // 64 lanes stay in 16 bits
    move_match(match, is_hit);
}
