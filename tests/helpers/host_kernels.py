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

ENTROPY, READS = "gangsaw.codecs.reads.entropy", "gangsaw.codecs.reads"
EIGHT = "gangsaw.codecs.core.nucleotides.kernels"
PACK = "gangsaw.tasks.reads.order.bins.packed"
LANES = "gangsaw.codecs.bwt.lanes"
# by group of parity.py: reason, functions, seconds
EXCEPTIONS = {
    "bwt": {
        LISTS: (
            f"{LANES}.coder._get_octet {LANES}.coder._learn {LANES}.coder._middle"
            f" {LANES}.coder._shift {LANES}.coder.begin {LANES}.coder.get"
            f" {LANES}.lists._get_number {LANES}.lists._kind {LANES}.lists._to_place"
            f" {LANES}.lists.read_lists",
            1.0,
        ),
    },
    "reads": {
        SERIAL: (
            f"{ENTROPY}.bits.bit_length {ENTROPY}.bits.get_bits {ENTROPY}.bits.get_gamma"
            f" {ENTROPY}.tables._read_table {ENTROPY}.tables.read_tables"
            f" {READS}.sequence.dictionary.read_columns {READS}.quality.tree.read_level"
            f" {READS}.quality.tree.read_labels {READS}.name.model.fill_modes",
            2.0,
        ),
        SLOTS: (f"{ENTROPY}.tables.fill_slots", 0.1),
    },
    "order": {
        PACKED: (
            f"{EIGHT}.codes_of_eight {EIGHT}.eight_of {EIGHT}.pack_codes {EIGHT}.pack_marks"
            f" {PACK}.pack_lines {PACK}.pack_word",
            0.6,
        ),
    },
}


def of(group: str) -> list[str]:
    """Return the names of those of a group of set-ups."""
    return " ".join(names for names, _ in EXCEPTIONS.get(group, {}).values()).split()
