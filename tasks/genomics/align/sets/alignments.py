"""`Alignments`: scores, positions and CIGARs of aligned pairs."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places
from gangsaw.tasks.genomics.align.sets.scores import Scores

Totals: TypeAlias = NDArray[np.int32]
_STEP = re.compile(r"([1-9][0-9]*)([=XMID])")


class Alignments(NamedTuple):
    """Alignments of pairs; ranges are half-open, in bases of query and of target.

    Parameters
    ----------
    score : (n,) int32
        Score of each alignment.
    query_start, query_end, target_start, target_end : (n,) int64
        Positions of the aligned ranges.
    cigar : list of str, optional
        CIGARs of "=" (equal bases), "X" (different bases), "I" (bases of the query alone) and "D"
        (bases of the target alone), "" for an empty alignment. None if not requested.

    Examples
    --------
    >>> from gangsaw.align import smith_waterman
    >>> found = smith_waterman(["GATTACA"], ["CGATTACAG"], cigar=True)
    >>> found.cigar, found.target_start.tolist(), found.target_end.tolist()
    (['7='], [1], [8])
    """

    score: Totals
    query_start: Places
    query_end: Places
    target_start: Places
    target_end: Places
    cigar: list[str] | None = None


def parse_cigar(cigar: str) -> list[tuple[int, str]]:
    """Return lengths and operations of a CIGAR's steps.

    Raises
    ------
    BadParams : a length is 0, or a step is none of =, X, M, I, D
    """
    found = _STEP.findall(cigar)
    if "".join(length + letter for length, letter in found) != cigar:
        raise BadParams(f"not a CIGAR of the steps =, X, M, I, D: {cigar!r}")
    return [(int(length), letter) for length, letter in found]


def texts_of_steps(steps: Codes, ends: Places) -> list[str]:
    """Return CIGARs of concatenated traceback steps, each pair from its end.

    Parameters
    ----------
    steps : (some,) uint8, the operations =, X, I and D
    ends : (pairs,) int64, end offset of each pair's steps
    """
    if not steps.size:
        return [""] * ends.size
    changes = np.flatnonzero(np.diff(steps)) + 1
    borders = np.unique(np.concatenate([[0], changes, ends]))
    borders = borders[borders <= ends[-1]]
    lengths, letters = np.diff(borders).tolist(), steps[borders[:-1]].tobytes().decode()
    parts = [f"{length}{letter}" for length, letter in zip(lengths, letters, strict=True)]
    places = [0, *np.searchsorted(borders, ends).tolist()]
    return ["".join(reversed(parts[first:end])) for first, end in pairwise(places)]


def merge_matches(cigar: str) -> str:
    """Return a CIGAR with M in place of = and X."""
    done: list[tuple[int, str]] = []
    for length, letter in parse_cigar(cigar):
        letter = "M" if letter in "=X" else letter
        if done and done[-1][1] == letter:
            length += done.pop()[0]
        done.append((length, letter))
    return "".join(f"{length}{letter}" for length, letter in done)


def score_of_cigar(cigar: str, query: Codes, target: Codes, scores: Scores) -> int:
    """Return the score of a global alignment of two sequences of codes.

    Consecutive steps with one operation are one gap; adjacent I and D are two.

    Raises
    ------
    BadParams : the CIGAR does not span both, or has "=" for different or "X" for equal bases
    """
    i = j = total = 0
    before = ""
    for length, letter in parse_cigar(cigar):
        if letter in "ID":
            total -= scores.gap_open * (letter != before) + scores.gap_extend * length
        else:
            ours, theirs = query[i : i + length], target[j : j + length]
            equal = _equal_bases(ours, theirs)
            if {"=": equal < length, "X": equal > 0}.get(letter, False):
                raise BadParams(f"CIGAR {cigar!r} has a wrong step at base {i} of the query")
            total += scores.match * equal + scores.mismatch * (length - equal)
        i += length * (letter != "D")
        j += length * (letter != "I")
        before = letter
    if (i, j) != (query.size, target.size):
        raise BadParams(f"CIGAR spans {i} and {j} bases, not {query.size} and {target.size}")
    return total


def _equal_bases(ours: Codes, theirs: Codes) -> int:
    shorter = min(ours.size, theirs.size)
    ours, theirs = ours[:shorter], theirs[:shorter]
    return int(((ours == theirs) & (ours < NOT_A_BASE)).sum())
