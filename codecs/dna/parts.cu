// Parts of payloads side by side: what lies on the device in rooms of their own.

using Byte = unsigned char;
using Place = long long;

constexpr int THREADS = 256, SLICE = 1 << 16;  // bytes of a part that a thread block moves

struct Move {
    const Byte* from;
    Byte* to;
    Place size;
};

// Copy parts, `slices` thread blocks for each.
extern "C" __global__ void __launch_bounds__(THREADS) join_parts(const Move* moves, int slices) {
    const Move move = moves[blockIdx.x / slices];
    const Place begin = Place(blockIdx.x % slices) * SLICE, end = min(begin + SLICE, move.size);
    Place whole = begin;
    if ((Place(move.from) | Place(move.to)) % 16 == 0) {
        whole = max(begin, end / 16 * 16);
        for (Place i = begin + 16 * threadIdx.x; i < whole; i += 16 * THREADS)
            *reinterpret_cast<uint4*>(move.to + i) = *reinterpret_cast<const uint4*>(move.from + i);
    }
    for (Place i = whole + threadIdx.x; i < end; i += THREADS) move.to[i] = move.from[i];
}
