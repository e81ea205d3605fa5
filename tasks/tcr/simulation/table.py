"""AIRR rows of simulated references, with their true recombination events."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.tcr.germline.genes.genes import Gene
from gangsaw.tasks.tcr.germline.genes.lines import Ints, concatenate_slices, ragged_of, together
from gangsaw.tasks.tcr.repertoire import airr_rows
from gangsaw.tasks.tcr.simulation.references import RandomReferences

MORE = (
    *("locus", "vj_in_frame", "stop_codon", "duplicate_count"),
    *("n1_length", "n2_length", "p3v_length", "p5d_length", "p3d_length", "p5j_length"),
)
PREFIX = "r"  # first letter of a reference's name: a number alone would be taken for a row number


def build_reference_rows(references: RandomReferences, locus: str) -> bytes:
    """Return the AIRR rows of references; `airr_rows.header(MORE)` is their header."""
    events, ends, n = references.events, references.ends, len(references)
    numbers = range(references.first, references.first + n)
    names = pa.array([f"{PREFIX}{number}" for number in numbers], pa.string())
    columns = {
        "sequence_id": names,
        "sequence": molecules(references).to_arrow(),
        "rev_comp": pa.repeat(False, n),
        "productive": pa.array(references.productive),
        "v_call": _names(ends.genes_v, events.v),
        "j_call": _names(ends.genes_j, events.j),
        "junction": references.junctions.to_arrow(),
        "junction_aa": references.amino_acids,
        "locus": pa.repeat(locus, n),
        "vj_in_frame": pa.array(references.in_frame),
        "stop_codon": pa.array(references.stop),
        "duplicate_count": pa.array(references.copies),
        "n1_length": pa.array(events.n1_lengths),
        "p3v_length": _left(ends.p_v, events.v_cut),
        "p5j_length": _left(ends.p_j, events.j_cut),
    }
    return airr_rows.lines(columns | (_of_d(references) if len(events.d) else _no_d(n)), MORE)


def molecules(references: RandomReferences) -> Ragged:
    """Return the bases of V, junction and J of each reference, as far as the genes are known."""
    ends, events, lines = references.ends, references.events, references.junctions
    frames = [ragged_of([gene.frame for gene in genes]) for genes in (ends.genes_v, ends.genes_j)]
    text, (v, j, middle) = together([*frames, lines])
    firsts = np.stack([v[events.v], middle, j[events.j]], 1)
    of_v, of_j = (frame.lengths for frame in frames)
    return concatenate_slices(
        text, firsts, np.stack([of_v[events.v], lines.lengths, of_j[events.j]], 1)
    )


def _of_d(references: RandomReferences) -> dict[str, pa.Array]:
    events, ends = references.events, references.ends
    return {
        "d_call": _names(ends.genes_d, events.d),
        "n2_length": pa.array(events.n2_lengths),
        "p5d_length": _left(ends.p_d_left, events.d_left),
        "p3d_length": _left(ends.p_d_right, events.d_right),
    }


def _no_d(n: int) -> dict[str, pa.Array]:
    blank = pa.repeat("", n)
    return dict.fromkeys(("d_call", "n2_length", "p5d_length", "p3d_length"), blank)


def _names(genes: tuple[Gene, ...], which: Ints) -> pa.Array:
    return pa.array([gene.name for gene in genes], pa.string()).take(pa.array(which))


def _left(palindrome: int, cut: Ints) -> pa.Array:
    """Return the number of palindrome bases left after `cut` (n,) deletions from a gene end."""
    return pa.array(np.maximum(palindrome - cut, 0))
