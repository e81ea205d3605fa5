"""Functions that a process with a GPU compiles for its CPU: each with the reason, by its codec.

Seconds are those of one core of 2.5 GHz to compile it, once for a machine.
"""

from __future__ import annotations

HOW = "let NumPy or a kernel of the device do it, or list it in tests/helpers/host_kernels.py"
SERIAL = (
    "codes of bits, of which each says where the next begins, tens of thousands in a block: NumPy"
    " takes ten times as long as the device for the block"
)
SLOTS = "4,096 slots for each of 2,000 tables: NumPy goes over them five times"

PACKED = (
    "reads are packed before they are sent, three bits a letter instead of eight, at memory's pace"
)

LISTS = (
    "lists of lanes are some hundred bytes of an arithmetic code a block, each decision after the"
    " one before"
)

MERGE = (
    "contexts with alike counts are joined pair by pair, of 32 KiB of counts a block: each choice"
    " waits for the one before"
)
TABLES = "tables of static counts are some hundred bytes of bits a block, one after the other"

ENTROPY, READS = "gangsaw.codecs.core.entropy", "gangsaw.codecs.reads"
EIGHT = "gangsaw.codecs.core.nucleotides.kernels"
PACK = "gangsaw.tasks.genomics.reads.order.bins.packed"
LANES, FAST = "gangsaw.codecs.bwt.lanes", "gangsaw.codecs.bwt.fast"
# by group of parity.py: reason, functions, seconds
EXCEPTIONS = {
    "bwt": {
        LISTS: (
            f"{LANES}.coder._get_byte {LANES}.coder._learn {LANES}.coder._middle"
            f" {LANES}.coder._put_byte {LANES}.coder._shift {LANES}.coder.begin_decoder"
            f" {LANES}.coder.finish_encoder {LANES}.coder.get_decision {LANES}.coder.put_decision"
            f" {LANES}.lists._get_number {LANES}.lists._kind {LANES}.lists._put_number"
            f" {LANES}.lists._to_place {LANES}.lists.read_symbol_lists"
            f" {LANES}.lists.write_symbol_lists",
            2.7,
        ),
        MERGE: (
            f"{FAST}.merge._best {FAST}.merge._cost {FAST}.merge._log {FAST}.merge._number"
            f" {FAST}.merge.merge",
            1.3,
        ),
        TABLES: (
            f"{FAST}.tables._bit_length {FAST}.tables._read_map {FAST}.tables._read_tree"
            f" {FAST}.tables._read_weight {FAST}.tables._write_map {FAST}.tables._write_tree"
            f" {FAST}.tables._write_weight {FAST}.tables.read_fast_tables {FAST}.tables.shorten"
            f" {FAST}.tables.write_fast_tables gangsaw.codecs.core.entropy.rans_tables.normalise",
            2.6,
        ),
    },
    "reads": {
        SERIAL: (
            f"{ENTROPY}.gamma.bit_length {ENTROPY}.gamma.get_bits {ENTROPY}.gamma.get_gamma"
            f" {ENTROPY}.sparse_tables._read_table {ENTROPY}.sparse_tables.read_sparse_tables"
            f" {READS}.sequence.dictionary.read_variant_columns {READS}.quality.tree.read_level"
            f" {READS}.quality.tree.read_labels {READS}.name.model.fill_modes",
            2.0,
        ),
        SLOTS: (
            f"{ENTROPY}.rans_tables.fill_symbol {ENTROPY}.sparse_tables.fill_slots",
            0.1,
        ),
    },
    "order": {
        PACKED: (
            f"{EIGHT}.as_dna {EIGHT}.codes_of_eight {EIGHT}.eight_of {EIGHT}.pack_codes"
            f" {EIGHT}.pack_marks {PACK}.pack_lines {PACK}.pack_marked_word",
            0.6,
        ),
    },
}


def of(group: str) -> list[str]:
    """Return the names of those of a group of set-ups."""
    return " ".join(names for names, _ in EXCEPTIONS.get(group, {}).values()).split()
