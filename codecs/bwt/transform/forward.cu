// The transform (SPEC.md, Transform) by prefix doubling: all blocks of a launch.
//
// Suffixes are sorted by their first 8 bytes. Then those that are still equal to others are sorted
// by the ranks of the suffixes h bytes further on, h = 8, 16, 32 ...; the others are final.

#include "radix.cuh"

using Key = unsigned long long;

constexpr int PREFIX = 8;   // bytes of a first key
constexpr int RANK = 32;    // bits of the rank further on, below the rank in a key
constexpr int SINGLE = 32;  // where the number of final suffixes begins in a sum

// A block, and where its results go.
struct Text {
    const Byte* text;
    Place n;
    Place every;      // bytes between positions whose rows are kept
    unsigned* ranks;  // (n,)
    Byte* column;     // (n + 1,), with an item for the sentinel
    unsigned* rows;
    Byte* bwt;  // (n,)
};

// Suffixes that are not final, in the order found so far, and ranks that their places stand for.
struct Items {
    Key* keys;
    unsigned *positions, *slots;
};

// Fill keys, and positions from the last to the first: then ends of the text precede what is equal
// to them when zeros are put behind.
extern "C" __global__ void __launch_bounds__(THREADS)
    first_keys(const Text* texts, const List* lists, int tiles, const Items* buffers, int from) {
    const Items items = buffers[from];
    const Text text = texts[blockIdx.x / tiles];
    const Tile tile = this_tile(text.n, tiles);
    const Place begin = lists[tile.list].begin;
    for (Place i = tile.begin + threadIdx.x; i < tile.end; i += THREADS) {
        const Place position = text.n - 1 - i;
        Key key = 0;
        for (int k = 0; k < PREFIX; ++k)
            key = key << 8 | (position + k < text.n ? text.text[position + k] : 0);
        items.keys[begin + i] = key;
        items.positions[begin + i] = unsigned(position);
        items.slots[begin + i] = unsigned(i);
    }
    if (tile.number == 0 && threadIdx.x == 0 && text.n > 0) text.column[0] = text.text[text.n - 1];
}

// Count keys by 8 bits; counts : (n_blocks, DIGITS, tiles).
extern "C" __global__ void __launch_bounds__(THREADS)
    count_keys(const List* lists, int tiles, const Items* buffers, int from, int shift,
               unsigned* counts) {
    const Items items = buffers[from];
    const List list = lists[blockIdx.x / tiles];
    const Key* const keys = items.keys + list.begin;
    count_digits(this_tile(list.n, tiles), tiles, counts,
                 [&](Place i) { return unsigned(keys[i] >> shift & 255); });
}

// Move keys and positions to where they go by 8 bits.
extern "C" __global__ void __launch_bounds__(THREADS)
    move_keys(const List* lists, int tiles, const Items* buffers, int from, int to_buffer,
              int shift, const unsigned* firsts) {
    const Items items = buffers[from], sorted = buffers[to_buffer];
    const List list = lists[blockIdx.x / tiles];
    const Key* const keys = items.keys + list.begin;
    move_items(
        this_tile(list.n, tiles), tiles, firsts,
        [&](Place i) { return unsigned(keys[i] >> shift & 255); },
        [&](Place i, unsigned to) {
            sorted.keys[to] = keys[i];
            sorted.positions[to] = items.positions[list.begin + i];
        });
}

// Whether an item differs from the one before it; `prefix` is that of first keys, else 0.
__device__ __forceinline__ bool begins_group(const List& list, const Items& items, Place n,
                                             int prefix, Place i) {
    if (i == 0 || i == list.n) return true;
    const Place at = list.begin + i;
    const Place last = n - prefix;  // position of the last suffix that is not too short
    return items.keys[at] != items.keys[at - 1] || Place(items.positions[at]) > last ||
           Place(items.positions[at - 1]) > last;
}

// Groups that begin with an item, 0 or 1, and above them whether it is alone in its group.
__device__ __forceinline__ Sum groups_of(const List& list, const Items& items, Place n, int prefix,
                                         Place i) {
    const bool begins = begins_group(list, items, n, prefix, i);
    const bool ends = begins && begins_group(list, items, n, prefix, i + 1);
    return Sum(begins) | Sum(ends) << SINGLE;
}

// Add up `groups_of` the items of each tile; sums : (n_blocks, tiles).
extern "C" __global__ void __launch_bounds__(THREADS)
    count_groups(const Text* texts, const List* lists, int tiles, const Items* buffers, int from,
                 int prefix, Sum* sums) {
    const Items items = buffers[from];
    __shared__ Sum shared[WARPS];
    const List list = lists[blockIdx.x / tiles];
    const Tile tile = this_tile(list.n, tiles);
    const Place n = texts[tile.list].n;
    Sum own = 0, all;
    for (Place i = tile.begin + threadIdx.x; i < tile.end; i += THREADS)
        own += groups_of(list, items, n, prefix, i);
    scan_before<Add>(own, shared, all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// Call what(i, own, before) for each item of a tile; before : the sum of all `groups_of` before it.
template <class What>
__device__ __forceinline__ void each_group(const List& list, const Tile& tile, const Items& items,
                                           Place n, int prefix, Sum before, What what) {
    __shared__ Sum shared[WARPS];
    for (Place at = tile.begin; at < tile.end; at += THREADS) {
        const Place i = at + threadIdx.x;
        const Sum own = i < tile.end ? groups_of(list, items, n, prefix, i) : 0;
        Sum all;
        const Sum here = before + scan_before<Add>(own, shared, all);
        if (i < tile.end) what(i, own, here);
        before += all;
    }
}

// Write the rank of each group, that of its first item; befores : (n_blocks, tiles).
extern "C" __global__ void __launch_bounds__(THREADS)
    rank_groups(const Text* texts, const List* lists, int tiles, const Items* buffers, int from,
                int prefix, const Sum* befores, unsigned* group_ranks) {
    const Items items = buffers[from];
    const List list = lists[blockIdx.x / tiles];
    const Tile tile = this_tile(list.n, tiles);
    each_group(list, tile, items, texts[tile.list].n, prefix, befores[blockIdx.x],
               [&](Place i, Sum own, Sum before) {
                   if (unsigned(own)) group_ranks[unsigned(before)] = items.slots[list.begin + i];
               });
}

// Write the byte before a final suffix, and its row where it is kept.
__device__ __forceinline__ void put_row(const Text& text, Place position, unsigned rank) {
    if (position > 0) text.column[rank + 1] = text.text[position - 1];
    if (position % text.every == 0) text.rows[position / text.every] = rank + 1;
}

// Set the ranks of all items; write rows of those that are final, and keep the others.
extern "C" __global__ void __launch_bounds__(THREADS)
    set_ranks(const Text* texts, const List* lists, int tiles, const Items* buffers, int from,
              int prefix, const Sum* befores, const unsigned* group_ranks, int to_buffer) {
    const Items items = buffers[from], kept = buffers[to_buffer];
    const List list = lists[blockIdx.x / tiles];
    const Tile tile = this_tile(list.n, tiles);
    const Text text = texts[tile.list];
    each_group(list, tile, items, text.n, prefix, befores[blockIdx.x],
               [&](Place i, Sum own, Sum before) {
                   const Place at = list.begin + i;
                   const unsigned position = items.positions[at];
                   const unsigned rank = group_ranks[unsigned(before + own) - 1];
                   text.ranks[position] = rank;
                   if (own >> SINGLE) return put_row(text, position, rank);
                   const Place to = at - Place(before >> SINGLE);
                   kept.keys[to] = Key(rank) << RANK;
                   kept.positions[to] = position;
                   kept.slots[to] = items.slots[at];
               });
}

// Add the ranks `further` bytes on to the keys.
extern "C" __global__ void __launch_bounds__(THREADS)
    next_keys(const Text* texts, const List* lists, int tiles, const Items* buffers, int from,
              Place further) {
    const Items items = buffers[from];
    const List list = lists[blockIdx.x / tiles];
    const Tile tile = this_tile(list.n, tiles);
    const Text text = texts[tile.list];
    for (Place i = tile.begin + threadIdx.x; i < tile.end; i += THREADS) {
        const Place at = list.begin + i, position = items.positions[at] + further;
        items.keys[at] |= position < text.n ? text.ranks[position] + 1 : 0;
    }
}

// Leave out the item of the sentinel.
extern "C" __global__ void __launch_bounds__(THREADS) gather_transform(const Text* texts, int tiles) {
    const Text text = texts[blockIdx.x / tiles];
    const Tile tile = this_tile(text.n, tiles);
    for (Place i = tile.begin + threadIdx.x; i < tile.end; i += THREADS)
        text.bwt[i] = text.column[i + (i >= Place(text.rows[0]))];
}
