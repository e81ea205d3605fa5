// Runs of packed bytes (SPEC.md, Runs): all blocks of a batch in a launch of each kernel.

#include "warps/scan.cuh"

constexpr int GROUP = 8, LONGEST = 255;  // of coding.py
constexpr int GROUP_BYTES = GROUP + 1;
constexpr Place NOT_SHORTER = -1;

// Packed bytes, and their runs.
struct Body {
    Byte* packed;
    Place n_packed;
    Byte* runs;
    Place n_runs, number;  // of what is read: bytes, and of which block
};

// A group that is written: where its code byte lies, its code, and its data bytes so far.
struct Group {
    Byte* at;
    unsigned code;
    int slot;
};

// Packed bytes from a place on, one in each lane, and which are equal to the next one.
struct Window {
    int value;
    unsigned same;
};

__device__ __forceinline__ Window look_at(const Body& body, Place at) {
    const Place own = at + threadIdx.x;
    const int value = own < body.n_packed ? body.packed[own] : -1;
    const int next = own + 1 < body.n_packed ? body.packed[own + 1] : -2;
    return {value, __ballot_sync(~0u, value == next)};
}

// How many bits are set from the lowest one on.
__device__ __forceinline__ int ones_of(unsigned bits) {
    return bits == ~0u ? WARP : __ffs(int(~bits)) - 1;
}

// The packed bytes that are equal to the one at a place, from there on.
__device__ __forceinline__ int run_length(const Body& body, Place at) {
    int length = 1;
    while (length < LONGEST) {
        const int ones = ones_of(look_at(body, at + length - 1).same);
        length += ones;
        if (ones < WARP) break;
    }
    return min(length, LONGEST);
}

// Put a data byte of a run into a group, and how often it repeats; a new group begins after 8.
__device__ __forceinline__ Byte* put_run(Group& group, Byte* out, int value, int length) {
    const bool is_run = length > 1;
    if (threadIdx.x == 0) {
        out[0] = Byte(value);
        if (is_run) out[1] = Byte(length);
    }
    if (is_run) group.code |= 1u << group.slot;
    group.slot += 1 + is_run;
    return out + 1 + is_run;
}

// Write groups, a warp for each block; sizes : (n_blocks,) bytes, or NOT_SHORTER.
//
// Lanes look for runs together, then all go through the groups, one after the other.
extern "C" __global__ void __launch_bounds__(WARP)
    put_runs(const Body* bodies, Place* sizes) {
    const Body body = bodies[blockIdx.x];
    Byte* out = body.runs;
    Place at = 0;
    while (at < body.n_packed && out - body.runs < body.n_packed) {
        Group group = {out++, 0, 0};
        while (group.slot < GROUP && at < body.n_packed) {
            const Window window = look_at(body, at);
            // single bytes up to the first run, or to the end of the group
            const int left = int(min(Place(GROUP - group.slot), body.n_packed - at));
            int singles = min(left, ones_of(~window.same));
            if (GROUP - 1 - group.slot <= singles) singles = left;
            if (int(threadIdx.x) < singles) out[threadIdx.x] = Byte(window.value);
            out += singles;
            at += singles;
            group.slot += singles;
            if (singles > 0) continue;
            const int length = run_length(body, at);
            out = put_run(group, out, __shfl_sync(~0u, window.value, 0), length);
            at += length;
        }
        if (threadIdx.x == 0) *group.at = Byte(group.code);
    }
    const Place used = out - body.runs;
    if (threadIdx.x == 0) sizes[blockIdx.x] = used < body.n_packed ? used : NOT_SHORTER;
}

// How many packed bytes a data byte of a group stands for: `i` of `n`; 0 if that is no run.
__device__ __forceinline__ int length_of(const Byte* group, int n, int i) {
    const unsigned code = group[0];
    if ((code >> i & 1) == 0) return 1;
    if (i == GROUP - 1 || i + 1 >= n || (code >> (i + 1) & 1)) return 0;
    return group[i + 2] < 2 ? 0 : group[i + 2];
}

// Go through the data bytes of a group that are no lengths; whether it is such as an encoder writes.
template <class Use>
__device__ __forceinline__ bool each_fragment(const Byte* group, int n, Use use) {
    if (n < GROUP && group[0] >> n) return false;
    for (int i = 0; i < n;) {
        const int length = length_of(group, n, i);
        if (length == 0) return false;
        use(group[i + 1], length);
        i += 1 + (length > 1);
    }
    return true;
}

// Fill packed bytes from groups, a thread block for each, and up to a whole word with zeros; set
// broken[number] where groups do not fill them. All groups but the last have 9 bytes: each is found
// by its number.
extern "C" __global__ void __launch_bounds__(THREADS)
    get_runs(const Body* bodies, unsigned* broken) {
    __shared__ Sum shared[WARPS];
    const Body body = bodies[blockIdx.x];
    const Sum room = body.n_packed;
    Sum used = 0;
    bool is_right = true;
    for (Place first = 0; first < body.n_runs; first += THREADS * GROUP_BYTES) {
        const Place at = first + Place(threadIdx.x) * GROUP_BYTES;
        const Byte* const group = body.runs + at;
        const int n = int(max(Place(0), min(Place(GROUP), body.n_runs - at - 1)));
        Sum own = 0, all;
        if (at < body.n_runs)
            is_right = each_fragment(group, n, [&](int, int length) { own += length; }) && is_right;
        Sum to = used + scan_before<Add>(own, shared, all);
        used += all;
        if (at < body.n_runs)
            each_fragment(group, n, [&](int value, int length) {
                const Sum end = min(to + length, room);
                for (; to < end; ++to) body.packed[to] = Byte(value);
            });
    }
    const bool all_right = __syncthreads_and(is_right);
    if (room + threadIdx.x < (room + 3) / 4 * 4) body.packed[room + threadIdx.x] = 0;
    if (threadIdx.x == 0) broken[body.number] = !all_right || used != room;
}
