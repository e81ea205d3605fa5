"""Random references in batches, each of which depends only on the seed and its number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.tcr.germline.genes.lines import Ints
from gangsaw.tasks.tcr.sharing.translate import translated
from gangsaw.tasks.tcr.simulation.recombination import (
    Ends,
    Recombination,
    Recombinations,
    build_junctions,
)

BATCH = 1 << 12  # references of a batch
MAX_EMPTY_BATCHES = (
    200  # batches without a productive reference, in a row, after which the simulation fails
)
# start and end of a functional junction, as in olga
FIRST, LAST, STOP = "^C", "[FVW]$", "*"


@dataclass(frozen=True)
class RandomReferences:
    """Batch of random references.

    Attributes
    ----------
    first : number of the first reference
    ends : genes with palindromes
    events : recombination events
    junctions : bases from the Cys codon to the Phe or Trp codon
    amino_acids : translation of junctions in frame, else ""
    productive, in_frame, stop : (n,) bool; `stop` marks stop codons in frame
    copies : (n,) int64
        Reads, or pairs of reads, of each reference.
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
        """Return the number of references."""
        return len(self.junctions)


@dataclass(frozen=True)
class Wanted:
    """Parameters of random references.

    Parameters
    ----------
    n : int
        Number of references.
    seed : int, default 0
        Seed; equal seeds give equal references.
    depth : float, default 1.0
        Mean number of copies of a reference, at least 1; they are geometrically distributed.
    unproductive : bool, default False
        True includes references out of frame, with a stop codon, or without Cys, Phe or Trp.

    Raises
    ------
    BadParams
        A value is outside its range.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> tcr.Wanted(n=1000, seed=7).depth
    1.0
    """

    n: int
    seed: int = 0
    depth: float = 1.0
    unproductive: bool = False

    def __post_init__(self) -> None:
        """Raise `BadParams` for numbers out of range."""
        for name, least in (("n", 0), ("seed", 0), ("depth", 1)):
            if not least <= getattr(self, name) < 2**63:
                raise BadParams(f"{name} must be {least} or more, got {getattr(self, name)}")


def random_references(model: Recombination, wanted: Wanted) -> Iterator[RandomReferences]:
    """Yield the requested number of references, in batches.

    Raises
    ------
    BadParams : the model yields no productive references
    """
    made = number = empty = 0
    while made < wanted.n:
        found = _batch(model, wanted, number, made)
        number, empty = number + 1, 0 if len(found) else empty + 1
        if empty == MAX_EMPTY_BATCHES:
            raise BadParams(
                f"{model.name}: of {MAX_EMPTY_BATCHES * BATCH:,} references none is productive"
            )
        if len(found):
            yield found
        made += len(found)


def _batch(model: Recombination, wanted: Wanted, number: int, made: int) -> RandomReferences:
    rng = np.random.default_rng([wanted.seed, number])
    events, ends = model.draw(rng, BATCH), model.ends
    lines = build_junctions(ends, events)
    in_frame = lines.lengths % 3 == 0
    amino_acids = _translated(lines, in_frame)
    stop = _matches(pc.match_substring(amino_acids, STOP))
    ends_well = [_matches(pc.match_substring_regex(amino_acids, sign)) for sign in (FIRST, LAST)]
    productive = in_frame & ~stop & ends_well[0] & ends_well[1]
    copies = rng.geometric(1 / wanted.depth, len(lines))
    kept = np.flatnonzero(productive | wanted.unproductive)[: wanted.n - made]
    masks = (productive[kept], in_frame[kept], stop[kept])
    own = (events.some(kept), lines.take(kept), amino_acids.take(pa.array(kept)))
    return RandomReferences(made, ends, *own, *masks, copies[kept])


def _translated(lines: Ragged, in_frame: NDArray[np.bool_]) -> pa.Array:
    """Return amino acids (n,), with "" for lines out of frame."""
    texts = lines.to_arrow().cast(pa.string())
    return translated(pc.if_else(pa.array(in_frame), texts, ""))


def _matches(found: pa.Array) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return mask
