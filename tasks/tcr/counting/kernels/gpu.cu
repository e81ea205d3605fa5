// Recombination paths: a warp counts all paths of one reference, and makes all calls.
//
// Specialised by the macros of paths.cuh, by GS_DP1, GS_DP2 and GS_D_SEGMENTS (what is counted), and
// by GS_BLOCK and GS_BLOCKS (threads of a block, blocks that a multiprocessor shall take at once).

#include "one_d.cuh"
#include "two_d.cuh"

constexpr int TABLES = GS_D_SEGMENTS == 2 ? 4 : 1;

// Count the references order[0:n], a warp for each.
//
// order : (n,) numbers of references of up to `room` symbols
// room, warp_bytes : symbols that a warp's shared memory is for, and its bytes
// references, v, j, d : codes, starts, how many, as `Sequences` of batch.py
// empty_ways : (n_d, pi), Z: ways to erode a D completely
// status : of each reference; 0 before the launch
extern "C" __global__ void __launch_bounds__(GS_BLOCK, GS_BLOCKS)
    count_rows(const int* order, int n, int room, int warp_bytes, const Code* references,
               const long long* starts, int n_references, const Code* v, const long long* v_starts,
               int n_v, const Code* j, const long long* j_starts, int n_j, const Code* d,
               const long long* d_starts, int n_d, const int* v_of, const int* j_of,
               const Paths* empty_ways, Paths* full, Paths* zero, Paths* no_d, Paths* no_d_two,
               Paths* dp1_nonempty, Paths* dp1_empty, short* genes, short* ndn, short* d_calls,
               short* n1, short* n2, int* status) {
    DYN_SHARED(unsigned char, memory);
    const int warp = threadIdx.x / WARP;
    const long long place = (long long)blockIdx.x * (blockDim.x / WARP) + warp;
    if (place >= n) return;
    const Batch batch = {{references, starts, n_references}, {v, v_starts, n_v},
                         {j, j_starts, n_j},                 {d, d_starts, n_d},
                         v_of, j_of, empty_ways};
    const Counts out = {full,  zero, no_d,    no_d_two, dp1_nonempty, dp1_empty,
                        genes, ndn,  d_calls, n1,       n2};
    const Reference space(memory + warp * warp_bytes, TABLES, room);
    Work w = {space, {}, {}, this_lane(), order[place]};
    if (!match_ends(w, batch, status)) return;
    put_gene_calls(w, out);
    find_palindromes(w.r, w.lane.number);
    put_d_calls(w, batch, out);
    if (GS_D_SEGMENTS == 2) {
        count_without_d(w, out);
        count_pairs(w, batch, out);
    }
    if (GS_D_SEGMENTS == 1 && GS_DP2) count_dp2(w, batch, out);
    if (GS_DP1) count_dp1(w, batch, out);
}
