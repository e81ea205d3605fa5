// Packed bases and marks to text (SPEC.md, Block): all blocks of a batch in a launch of each kernel.

#include "pack.cuh"

// A run of marked letters; `before` : how many letters the runs before it hold.
struct Run {
    int begin, end, letter, before;
};

// Marks of one kind in a block of n letters: bytes as they are stored, and room for their runs.

struct Stream {
    const Byte* data;
    Place size, n;
    Place has_letters;
    Run* runs;
};

constexpr int RAW = 0, OLD_DENSE = 3;  // forms, of payload.py; what follows is dense, too

// What is joined: `packed` of the text is text itself where that is raw, and codes of bases where
// it is dense, in lanes of so many steps, from one to the next; numbers of streams or -1.
struct Block {
    Text text;
    Place form, exceptions, cases, steps, stride;
};

constexpr int MOST_BYTES = 5;  // of a number
constexpr int BEGIN = 0, GAP = 1, LENGTH = 2, LETTER = 3;  // what a byte of a stream belongs to

// What follows each state: two bits each, the lowest of BEGIN.
struct Then {
    static constexpr Sum NONE = BEGIN | GAP << 2 | LENGTH << 4 | LETTER << 6;
    __device__ __forceinline__ static Sum of(Sum first, Sum then) {
        Sum both = 0;
        for (int shift = 0; shift < 8; shift += 2)
            both |= (then >> 2 * (first >> shift & 3) & 3) << shift;
        return both;
    }
};

// What a byte of a stream makes of each state.
__device__ __forceinline__ Sum change_by(int byte, bool has_letters) {
    if (byte > 127) return GAP | GAP << 2 | LENGTH << 4 | BEGIN << 6;
    return LENGTH | LENGTH << 2 | (has_letters ? LETTER : BEGIN) << 4 | BEGIN << 6;
}

// Read a number; false where the data end before, or it has too many bytes.
__device__ __forceinline__ bool get_leb128(const Stream& stream, Place& at, Place& value) {
    value = 0;
    for (int i = 0; i < MOST_BYTES; ++i) {
        if (at >= stream.size) return false;
        const Place byte = stream.data[at++];
        value |= (byte & 127) << 7 * i;
        if (byte < 128) return true;
    }
    return false;
}

// A record of a stream.
struct Record {
    Place gap, length;
    int letter;
    bool is_right;
};

__device__ __forceinline__ Record get_record(const Stream& stream, Place at) {
    Record record = {0, 0, 0, false};
    if (!get_leb128(stream, at, record.gap) || !get_leb128(stream, at, record.length))
        return record;
    ++record.length;
    if (stream.has_letters) {
        if (at >= stream.size) return record;
        record.letter = stream.data[at];
        if (is_base(record.letter) || (record.letter >= 'a' && record.letter <= 'z')) return record;
    }
    record.is_right = true;
    return record;
}

// Go through the records that begin in data[at..end]; `state` is that of the first byte.
template <class Use>
__device__ __forceinline__ void each_record(const Stream& stream, Place at, Place end, int state,
                                            Use use) {
    for (; at < end; ++at) {
        if (state == BEGIN) use(get_record(stream, at));
        state = change_by(stream.data[at], stream.has_letters) >> 2 * state & 3;
    }
}

// Find the runs of streams, a thread block for each; fill (n,) counts, -1 of a wrong one.
extern "C" __global__ void __launch_bounds__(THREADS)
    read_marks(const Stream* streams, int* counts) {
    __shared__ Sum shared[WARPS];
    const Stream stream = streams[blockIdx.x];
    Sum place = 0, count = 0, letters = 0, all;
    int state = BEGIN;
    bool is_right = true;
    for (Place first = 0; first < stream.size; first += PIECE) {
        const Place at = min(first + Place(threadIdx.x * SHARE), stream.size);
        const Place end = min(at + SHARE, stream.size);
        Sum own = Then::NONE, span = 0, length = 0, records = 0;
        for (Place i = at; i < end; ++i)
            own = Then::of(own, change_by(stream.data[i], stream.has_letters));
        const int mine = scan_before<Then>(own, shared, all) >> 2 * state & 3;
        state = all >> 2 * state & 3;
        each_record(stream, at, end, mine, [&](const Record& record) {
            is_right = is_right && record.is_right;
            span += record.gap + record.length;
            length += record.length;
            ++records;
        });
        Sum to = place + scan_before<Add>(span, shared, all);
        place += all;
        Sum before = letters + scan_before<Add>(length, shared, all);
        letters += all;
        Run* run = stream.runs + count + scan_before<Add>(records, shared, all);
        count += all;
        const Sum n = stream.n;
        each_record(stream, at, end, mine, [&](const Record& record) {
            const Sum begin = to + record.gap;
            to = begin + record.length;
            is_right = is_right && to <= n;
            *run++ = {int(min(begin, n)), int(min(to, n)), record.letter, int(min(before, n))};
            before += record.length;
        });
    }
    const bool all_right = __syncthreads_and(is_right);
    if (threadIdx.x == 0) counts[blockIdx.x] = all_right ? int(count) : -1;
}

// The first of ascending runs that ends behind a place.
__device__ __forceinline__ int first_run(const Run* runs, int count, Place place) {
    int low = 0;
    while (low < count) {
        const int middle = (low + count) / 2;
        if (runs[middle].end > place)
            count = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Go through the letters text[begin..end] that runs cover.
template <class Use>
__device__ __forceinline__ void each_letter(const Run* runs, int count, int begin, int end,
                                            Use use) {
    for (int r = first_run(runs, count, begin); r < count && runs[r].begin < end; ++r) {
        const Run run = runs[r];
        const int last = min(end, run.end);
        for (int i = max(begin, run.begin) + int(threadIdx.x); i < last; i += THREADS) use(run, i);
    }
}

__device__ __forceinline__ void put_exceptions(const Run* runs, int count, Byte* text, int begin,
                                               int end) {
    each_letter(runs, count, begin, end,
                [&](const Run& run, int i) { text[i] = Byte(run.letter); });
}

// Whether all of them are letters.
__device__ __forceinline__ bool put_cases(const Run* runs, int count, Byte* text, int begin,
                                          int end) {
    bool are_letters = true;
    each_letter(runs, count, begin, end, [&](const Run&, int i) {
        are_letters = are_letters && text[i] >= 'A' && text[i] <= 'Z';
        text[i] |= 32;
    });
    return are_letters;
}

// Fill those of 16 letters, fewer at the end, that no run covers from the codes of bases.
__device__ __forceinline__ void put_bases(const Block& block, const Run* runs, int count,
                                          Place at) {
    const Place end = min(at + SHARE, block.text.n);
    int r = first_run(runs, count, at);
    Place base = at;
    if (r < count)
        base -= runs[r].before + max(Place(0), at - runs[r].begin);
    else if (count > 0)
        base -= runs[count - 1].before + runs[count - 1].end - runs[count - 1].begin;
    Place lane = base / block.steps, step = base % block.steps;
    for (; at < end; ++at) {
        while (r < count && runs[r].end <= at) ++r;
        if (r < count && runs[r].begin <= at) continue;
        const unsigned code = block.text.packed[lane * block.stride + step];
        block.text.letters[at] = Byte(unpacked_word(code << 6));
        if (++step < block.steps) continue;
        step = 0;
        ++lane;
    }
}

// Fill 16 letters, fewer at the end.
__device__ __forceinline__ void unpack_text(const Block& block, Place at) {
    const Text& text = block.text;
    uint4 all;
    if (block.form == RAW) {
        all = *reinterpret_cast<const uint4*>(text.packed + at);
    } else {
        const unsigned packed = *reinterpret_cast<const unsigned*>(text.packed + at / 4);
        all.x = unpacked_word(packed & 255);
        all.y = unpacked_word(packed >> 8 & 255);
        all.z = unpacked_word(packed >> 16 & 255);
        all.w = unpacked_word(packed >> 24);
    }
    if (at + SHARE <= text.n) {
        *reinterpret_cast<uint4*>(text.letters + at) = all;
        return;
    }
    const unsigned words[WORDS] = {all.x, all.y, all.z, all.w};
    for (int k = 0; k < WORDS; ++k)
        for (int i = 0; i < 4; ++i)
            if (at + 4 * k + i < text.n) text.letters[at + 4 * k + i] = Byte(words[k] >> 8 * i);
}

// Fill pieces of texts but of broken ones.
//
// counts : of runs of each stream
// broken : (n_blocks,), not 0 where packed bases are not there
// wrong : (n_blocks,), 0 before, not 0 where marks are none of an encoder
extern "C" __global__ void __launch_bounds__(THREADS)
    join_text(const Block* blocks, int pieces, const Stream* streams, const int* counts,
              const unsigned* broken, unsigned* wrong) {
    const int number = int(blockIdx.x) / pieces;
    const Block block = blocks[number];
    const Place begin = Place(int(blockIdx.x) % pieces) * PIECE;
    if (begin >= block.text.n || broken[number]) return;
    const Place end = min(begin + PIECE, block.text.n), at = begin + threadIdx.x * SHARE;
    const bool has_odd = block.exceptions >= 0;
    const Run* const runs = has_odd ? streams[block.exceptions].runs : nullptr;
    const int n_odd = has_odd ? counts[block.exceptions] : 0;
    bool is_right = n_odd >= 0;
    if (at < end && block.form < OLD_DENSE) unpack_text(block, at);
    if (at < end && block.form >= OLD_DENSE && is_right) put_bases(block, runs, n_odd, at);
    if (has_odd) {
        __syncthreads();
        put_exceptions(runs, n_odd, block.text.letters, int(begin), int(end));
    }
    if (block.cases >= 0 && is_right) {  // as all threads say
        __syncthreads();
        const int count = counts[block.cases];
        is_right = put_cases(streams[block.cases].runs, count, block.text.letters, int(begin),
                             int(end)) && count >= 0;
    }
    if (!is_right) atomicOr(&wrong[number], 1u);
}
