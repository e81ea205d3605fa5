"""Random references, batch by batch: a batch depends on the seed and its number alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sequences.ragged import Ragged
from gangsaw.tasks.tcr.genes.lines import Ints, some
from gangsaw.tasks.tcr.sharing.translate import translated
from gangsaw.tasks.tcr.simulation.recombination import (
    Ends,
    Recombination,
    Recombinations,
    junctions,
)

BATCH = 1 << 12  # references that are drawn at once
PATIENCE = 200  # batches in a row without a productive reference
# what a functional junction begins and ends with, as olga has it
FIRST, LAST, STOP = "^C", "[FVW]$", "*"


@dataclass(frozen=True)
class RandomReferences:
    """Some references.

    Attributes
    ----------
    first : number of the first
    ends : genes with palindromes
    events : how each was made
    junctions : letters of each, from the Cys codon to the Phe or Trp codon
    amino_acids : of each that is in frame, else ""
    productive, in_frame, stop : (n,) bool; `stop` is a stop codon of one in frame
    copies : (n,) int64 reads, or pairs of reads, of each
    """

    first: int
    ends: Ends
    events: Recombinations
    junctions: Ragged
    amino_acids: pa.Array
    productive: NDArray[np.bool_]
    in_frame: NDArray[np.bool_]
    stop: NDArray[np.bool_]
    copies: Ints

    def __len__(self) -> int:
        """Return how many references these are."""
        return len(self.junctions)


@dataclass(frozen=True)
class Wanted:
    """Which references are made.

    Attributes
    ----------
    n : how many
    seed : equal seeds give equal references
    depth : mean number of copies of a reference, at least 1; they are geometrically distributed
    unproductive : keep also those out of frame, with a stop codon, or without Cys, Phe or Trp
    """

    n: int
    seed: int = 0
    depth: float = 1.0
    unproductive: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        for name, least in (("n", 0), ("seed", 0), ("depth", 1)):
            if not least <= getattr(self, name) < 2**63:
                raise BadParams(f"{name} must be {least} or more, got {getattr(self, name)}")


def random_references(model: Recombination, wanted: Wanted) -> Iterator[RandomReferences]:
    """Yield as many references as wanted.

    Raises
    ------
    BadParams : the model makes no productive ones
    """
    made = number = empty = 0
    while made < wanted.n:
        found = _batch(model, wanted, number, made)
        number, empty = number + 1, 0 if len(found) else empty + 1
        if empty == PATIENCE:
            raise BadParams(f"{model.name}: of {PATIENCE * BATCH:,} references none is productive")
        if len(found):
            yield found
        made += len(found)


def _batch(model: Recombination, wanted: Wanted, number: int, made: int) -> RandomReferences:
    rng = np.random.default_rng([wanted.seed, number])
    events, ends = model.draw(rng, BATCH), model.ends
    lines = junctions(ends, events)
    in_frame = lines.lengths % 3 == 0
    amino_acids = _translated(lines, in_frame)
    stop = _matches(pc.match_substring(amino_acids, STOP))
    ends_well = [_matches(pc.match_substring_regex(amino_acids, sign)) for sign in (FIRST, LAST)]
    productive = in_frame & ~stop & ends_well[0] & ends_well[1]
    copies = rng.geometric(1 / wanted.depth, len(lines))
    kept = np.flatnonzero(productive | wanted.unproductive)[: wanted.n - made]
    masks = (productive[kept], in_frame[kept], stop[kept])
    own = (events.some(kept), some(lines, kept), amino_acids.take(pa.array(kept)))
    return RandomReferences(made, ends, *own, *masks, copies[kept])


def _translated(lines: Ragged, in_frame: NDArray[np.bool_]) -> pa.Array:
    """Return (n,) amino acids, "" of lines that are out of frame."""
    texts = lines.to_arrow().cast(pa.string())
    return translated(pc.if_else(pa.array(in_frame), texts, ""))


def _matches(found: pa.Array) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return mask
