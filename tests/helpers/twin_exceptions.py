"""CUDA functions that have no twin of their name on the CPU: per folder, by reason."""

from __future__ import annotations

BITS = "bit I/O: a thread reads and writes words, the CPU bytes or vectors of words"
WARP = "warp primitives: what lanes of a warp do together, the CPU does over a vector or a loop"
TABLES = "table access: kernels get rows of tables and flat parameters, the CPU arrays and tuples"
PLACES = "places: a thread finds what it works on by its own number, the CPU goes along in a loop"
MEMORY = "memory movement: into and out of shared memory and registers, or ahead of their use"
ARITHMETIC = "arithmetic that the CPU spells as an expression, or has from NumPy or a vector"
STEPS = "steps of one stage: a thread's registers allow functions where the CPU has one fused loop"
SHARED_MEMORY = "tables of a warp are pointers into its shared memory, those of the CPU are arrays"
SEQUENCES = "a sequence is a pointer and a length, the CPU cuts it out of an array"
LOOKUPS = "a lane computes what the CPU looks up in a table of NumPy's, in a field or in a range"
MASKS = "masks of D: a warp makes those of one gene when it needs them, the CPU all by NumPy"
SHARED_BITS = "bits pass through shared memory, where the CPU holds them in a register"
SHARED_TABLES = (
    "tables in shared memory: filled, searched, written back; the CPU uses them in place"
)
AHEAD = "neighbours are loaded from the block, ahead of use; the CPU has them in its table of lanes"
SWAPPED = "words of foreign byte order are swapped one by one; the CPU swaps its whole table"
BODIES = "loops that are given their body, so that two kernels share them; the CPU has two loops"
WINDOWS = "each of all windows at once looks where the next begins; the CPU goes along and checks"
LAUNCHES = "what one launch leaves for the next; the CPU has it in hand"
SAMPLES = "looks over a block for the host to choose; the CPU slices arrays, or sees it on its way"
DOUBLING = "suffixes are sorted by radix and prefix doubling; the CPU induces one from another"

EXCEPTIONS = {
    "codecs/core/cuda": {
        BITS: "BitReader BitWriter bits finish look peek position shift skip",
        WARP: "of scan_before",
    },
    "codecs/core/nucleotides": {},
    "codecs/bwt": {
        DOUBLING: "begins_group count_digits count_groups count_keys each_group first_keys"
        " groups_of move_items move_keys next_keys put_row rank_groups set_ranks",
        PLACES: "begins_run own_begin own_runs place_of this_lane this_tile",
        LAUNCHES: "code_runs count_bytes count_runs cut_lanes decode_runs weigh_runs write_runs",
        LOOKUPS: "class_of rank_class",
        WARP: "begin_states fresh_list rank_lanes take_bit take_lists take_symbol take_words"
        " write_list",
        BITS: "put_bit take take_number take_raw write",
        TABLES: "begin_of counts_of length_of state_of",
        MEMORY: "begin_weights",
        STEPS: "begin_run_at next_bit next_class smoothed_by",
    },
    "codecs/ccsds123": {
        BITS: "bits_from code_residual",
        WARP: "of_thread",
        TABLES: "read_block read_coder read_predictor",
        PLACES: "delay_of loaded_at locate move_on way_to",
        MEMORY: "clear_halo fetch_above fetch_ahead fill_along_bands fill_along_pixels in_order"
        " on_device put_difference put_sample",
        ARITHMETIC: "summed_neighbors",
        STEPS: "code_first code_sample code_tile",
    },
    "codecs/dna": {
        WARP: "is_highest look_at ones_of",
        STEPS: "change_by each_fragment each_record get_record length_of number_bytes"
        " learn_complement_rows learned_complement learned_counts put_run find_marks",
        PLACES: "each_letter is_there neighbour of this_lane",
        MEMORY: "load_letters",
        ARITHMETIC: "check_of clean entry_of gathered is_lower not_zero packed_word"
        " strangeness unpacked_word",
        SHARED_TABLES: "keep_weights new_lane new_tables",
        LAUNCHES: "join_parts read_marks write_marks",
    },
    "codecs/reads": {
        WINDOWS: "end_of is_legal limit_of",
        PLACES: "items_of this_window",
        STEPS: "begin_lines begin_memory finish forget_line get_variant read_match rest_of_number",
        LAUNCHES: "join_lanes",
    },
    "codecs/visibility": {
        SHARED_BITS: "Pending Window add grow skip taken write",
        SHARED_TABLES: "clear load_tables search write_tally",
        WARP: "count_escapes sum_before transpose",
        PLACES: "Sizes advance at column_starts for_tile is_there lane_of lane_of_series number_of"
        " of_row operator() place_of rows_of_strip staged tile_of word_before",
        AHEAD: "from_below load_terms",
        SWAPPED: "in_order",
        BODIES: "bits_of_rows encode_piece encode_rows",
        LAUNCHES: "join_parts packed place_tiles unpacked",
        SAMPLES: "find_wide sample_rows sample_words",
        ARITHMETIC: "has_ended",
    },
    "tasks/genomics/reads": {
        WARP: "lowest",
        ARITHMETIC: "complement",
        STEPS: "has_three mixed sign_half sign_word",
    },
    "tasks/tcr": {
        WARP: "find_longest",
        SHARED_MEMORY: "Reference gene table",
        SEQUENCES: "length operator[]",
        LOOKUPS: "classes has nucleotides symbol ways",
        PLACES: "table_of this_lane",
        MASKS: "mask_d mask_one mask_pair",
    },
}
