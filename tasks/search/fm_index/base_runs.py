"""Runs of bases among letters, separated by other letters and record borders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.nucleotides.codes import CODES
from gangsaw.tasks.search.fm_index.packed import Bytes
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.kernels.patterns import N_BASES
from gangsaw.tasks.search.kernels.runs import split_base_runs

NO_BORDERS: Positions = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class BaseRuns:
    """Runs of bases in a text of letters, which other letters and record borders separate.

    Attributes
    ----------
    begins : (r + 1,) int64, starts in the indexed text, which has one break between runs;
        then the end
    positions : (r,) int64, starts in the text of letters
    """

    begins: Positions
    positions: Positions

    def map_positions(self, at: Positions) -> Positions:
        """Convert positions of bases in the indexed text, which has breaks, to the letters'."""
        run = np.searchsorted(self.begins[1:], at, "right").clip(0, max(0, self.positions.size - 1))
        found: Positions = self.positions[run] + at - self.begins[run]
        return found


def codes_for(pattern: bytes) -> Bytes:
    """Return a pattern as base codes, for either case; codes of other letters match nothing."""
    return CODES[np.frombuffer(pattern, np.uint8)]


def split_at_breaks(bases: Bytes, borders: Positions) -> tuple[Bytes, BaseRuns]:
    """Return the runs of bases as a text with one break (code 0) between, and their positions."""
    codes = CODES[bases]
    most = int(np.count_nonzero(codes > N_BASES - 1)) + borders.size + 1
    text = np.empty(bases.size + most, np.uint8)
    begins, positions = np.empty(most, np.int64), np.empty(most, np.int64)
    n_runs, n_text = split_base_runs(codes, borders, text, begins, positions)
    ends = np.append(begins[:n_runs], n_text + (n_runs > 0))
    return text[:n_text], BaseRuns(ends, positions[:n_runs].copy())


def check_base_runs(runs: BaseRuns, n_text: int, n: int) -> None:
    """Raise CorruptChunk unless runs of bases ascend within the indexed text and the n letters."""
    lengths = np.diff(runs.begins) - 1
    ends = runs.positions + lengths
    is_whole = runs.begins[0] == 0 and runs.begins[-1] == n_text + (lengths.size > 0)
    is_apart = (ends[:-1] <= runs.positions[1:]).all() and int(ends.max(initial=0)) <= n
    if not (is_whole and is_apart and int(lengths.min(initial=1)) > 0):
        raise CorruptChunk("runs of the index are not those of a text")
