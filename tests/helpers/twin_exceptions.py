"""CUDA functions that have no twin of their name on the CPU: per folder, by reason."""

from __future__ import annotations

BITS = "bit I/O: a thread reads and writes words, the CPU bytes or vectors of words"
WARP = "warp primitives: what lanes of a warp do together, the CPU does over a vector or a loop"
TABLES = "table access: kernels get rows of tables and flat parameters, the CPU arrays and tuples"
PLACES = "places: a thread finds what it works on by its own number, the CPU goes along in a loop"
MEMORY = "memory movement: into and out of shared memory and registers, or ahead of their use"
ARITHMETIC = "arithmetic that the CPU spells as an expression, or has from NumPy or a vector"
STEPS = "steps of one stage: a thread's registers allow functions where the CPU has one fused loop"
KERNELS = "cuts into launches: what the CPU does block after block, in one go"

EXCEPTIONS = {
    "codecs/core/cuda": {
        BITS: "BitReader BitWriter bits finish look peek position put shift skip",
    },
    "codecs/ccsds123": {
        BITS: "bits_from code_residual read_ahead",
        WARP: "delay_of of_thread",
        TABLES: "read_block read_coder read_predictor",
        PLACES: "band_before loaded_at locate move_on way_to",
        MEMORY: "clear_halo fetch_above fetch_ahead fill_along_bands fill_along_pixels in_order"
        " on_device put_difference put_sample",
        ARITHMETIC: "above_lowest intervals_at sum_around summed_neighbors update_after",
        STEPS: "begin_band code_first code_sample code_strip code_tile decode_group predict_first"
        " report start_band unmap_residual",
    },
    "codecs/visibility": {
        BITS: "Pending Window bytes finish grow look pull_row skip taken write",
        WARP: "add_cost search sum_before sum_of_warp transpose",
        TABLES: "clear load_tables load_terms packed series_of take_terms unpacked write_tally",
        PLACES: "Sizes advance at column_starts for_odd for_tile is_there keep lane_of"
        " lane_of_series number_of of_row operator() place_of planes_of rows_of_strip staged"
        " tile_of word_before",
        MEMORY: "in_order read_values stage_planes",
        ARITHMETIC: "fits is_end is_finite mean_of narrowed narrower number residual_bits rounded"
        " undo_zigzag widened zigzag",
        STEPS: "add_near near_grid_given near_grid_length near_grid_units bits_of_rows cheapest"
        " count_escapes decode_run decode_strip encode_near_grid encode_piece encode_rows"
        " encode_value escaped_bits exponent_of exponent_word from_below grid_value grid_word"
        " has_ended residual_width restore second_predictor special_word",
        KERNELS: "choose_groups code_rows find_odd find_wide join_parts list_odd narrow_blocks"
        " place_tiles push_rows sample_rows sample_words try_means try_modes widen_blocks"
        " write_tiles",
    },
    "tasks/tcr": {
        WARP: "each_match find_longest match_j match_v this_lane",
        TABLES: "Reference classes complement fewest gene has length most nucleotides of operator[]"
        " symbol table table_of ways",
        MEMORY: "load_reference mask_d mask_one mask_pair",
        STEPS: "count_dp1 count_dp2 count_letter count_pairs count_two_d each_j_row each_j_row_at"
        " each_j_row_of note pass_first_d put_without_d sum_parted_twice sum_second_d"
        " sum_without_d v_rows_of",
    },
}
