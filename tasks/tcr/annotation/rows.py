"""AIRR rows of nucleotypes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from gangsaw.codecs.core.nucleotides.alphabet import BASES, NOT_A_BASE
from gangsaw.tasks.tcr.annotation.d_genes import DRuns, middle_of
from gangsaw.tasks.tcr.annotation.index import GeneIndex
from gangsaw.tasks.tcr.annotation.nucleotypes import MergeRule, NucleotypeRow
from gangsaw.tasks.tcr.repertoire import airr_rows
from gangsaw.tasks.tcr.sharing.translate import in_frame, translated

MORE = ("locus", "vj_in_frame", "stop_codon", "duplicate_count", "merged_count", "least_quality")
BASE_OF_CODE = bytes.maketrans(bytes(range(NOT_A_BASE + 1)), BASES + b"N")
OUT_OF_FRAME, STOP, DOUBTFUL = "out of frame", "stop codon", "doubtful letter in the CDR3"


def decode_junctions(nucleotypes: Sequence[NucleotypeRow]) -> pa.Array:
    """Return the bases of the junctions, (n,) strings."""
    return _decode_bases(one.junction for one in nucleotypes)


def amino_acids(bases: pa.Array) -> pa.Array:
    """Return the amino acids of junctions, (n,) strings; "" for those out of frame."""
    return translated(pc.if_else(pa.array(in_frame(bases)), bases, ""))


def reasons(
    nucleotypes: Sequence[NucleotypeRow], rule: MergeRule, *, keep_unproductive: bool
) -> list[str]:
    """Return why each nucleotype is rejected, or "" if it is written."""
    stops = pc.match_substring(amino_acids(decode_junctions(nucleotypes)), "*").to_pylist()
    found = []
    for one, stop in zip(nucleotypes, stops, strict=True):
        frame = OUT_OF_FRAME if len(one.junction) % 3 else STOP if stop else ""
        is_doubtful = one.quality < rule.min_quality
        found.append(DOUBTFUL if is_doubtful else "" if keep_unproductive else frame)
    return found


def build_nucleotype_rows(
    nucleotypes: Sequence[NucleotypeRow], index: GeneIndex, d_genes: DRuns, locus: str, first: int
) -> bytes:
    """Return the AIRR rows, numbered from `first`; `airr_rows.header(MORE)` is their header."""
    n, letters = len(nucleotypes), decode_junctions(nucleotypes)
    acids = amino_acids(letters)
    frame = pa.array(in_frame(letters))
    stop = pc.match_substring(acids, "*")
    columns = {
        "sequence_id": pa.array([f"n{first + number}" for number in range(n)], pa.string()),
        "sequence": _decode_bases(one.sequence for one in nucleotypes),
        "rev_comp": pa.repeat(False, n),
        "productive": pc.and_(frame, pc.invert(stop)),
        "v_call": _calls(index, [one.v for one in nucleotypes]),
        "d_call": _d_calls(nucleotypes, index, d_genes),
        "j_call": _calls(index, [one.j for one in nucleotypes]),
        "junction": letters,
        "junction_aa": acids,
        "locus": pa.repeat(locus, n),
        "vj_in_frame": frame,
        "stop_codon": stop,
        "duplicate_count": pa.array([one.reads for one in nucleotypes], pa.int64()),
        "merged_count": pa.array([one.merged for one in nucleotypes], pa.int64()),
        "least_quality": pa.array([one.quality for one in nucleotypes], pa.int64()),
    }
    return airr_rows.lines(columns, MORE)


def _calls(index: GeneIndex, ties: Sequence[tuple[int, ...]]) -> pa.Array:
    return pa.array([",".join(index.names[gene] for gene in own) for own in ties], pa.string())


def _d_calls(nucleotypes: Sequence[NucleotypeRow], index: GeneIndex, d_genes: DRuns) -> pa.Array:
    calls = [d_genes.call(middle_of(one, index), one.j) for one in nucleotypes]
    return pa.array(calls, pa.string())


def _decode_bases(codes: Iterable[bytes]) -> pa.Array:
    """Return the bases of codes as text; code 4 is N."""
    return pa.array([own.translate(BASE_OF_CODE).decode() for own in codes], pa.string())
