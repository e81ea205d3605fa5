"""What a user may choose of a search."""

from __future__ import annotations

from dataclasses import dataclass, field

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.parameters import require_choice, require_int
from gangsaw.tasks.align.search.extension.paths import PathCosts
from gangsaw.tasks.align.search.search import Rules
from gangsaw.tasks.align.search.seeds.chain import Reach
from gangsaw.tasks.align.search.seeds.minimizers import MOST_K, Seeds
from gangsaw.tasks.align.search.select import ReportRules
from gangsaw.tasks.align.sets.scores import Scores
from gangsaw.tasks.align.statistics.significance import gapped_significance, has_statistics

EVALUE = 10.0
PAIRS = ("no", "files", "interleaved")  # which queries are mates
GAP, SHIFT = 5000, 500  # letters and diagonals that a chain may bridge, as minimap2 has them
DROP = 100  # of the score: 50 matches, 33 mismatches
RUN_MATCHES = 20  # of an ungapped extension that is followed
TRIES = 50  # chains for a part of a query, besides the best one
TRIED_SHARE = 40  # percent of the best chain's score: fewer of its minimizers may be left by chance


@dataclass(frozen=True)
class SearchParams:
    """What is searched for, and what is reported.

    Attributes
    ----------
    scores : of alignments
    k : letters of a seed, odd, 7..15
    w : seeds of a window, of which one is taken, 1..255
    max_places : most places of a seed that counts, 1..10^6
    min_score : least score of a hit
    evalue : most hits with such a score that are expected by chance; scores that have no statistics
        leave it as it is, and all hits are reported
    secondary : most hits reported besides the best one of each part of a query
    ratio : of the best one's score that these need, in percent, 0..100
    max_hits : most hits of a query, 0 for all
    eqx : CIGARs tell equal letters (=) from others (X)
    read_group : of SAM and BAM, such as "@RG\\tID:x\\tSM:y"
    pairs : one of PAIRS; of "" mates are those of stores of mates

    Raises
    ------
    BadParams : one of them is outside its range, or an e-value is wanted of scores without one
    """

    scores: Scores = field(default_factory=Scores)
    k: int = 15
    w: int = 10
    max_places: int = 512
    min_score: int = 40
    evalue: float = EVALUE
    secondary: int = 5
    ratio: int = 80
    max_hits: int = 0
    eqx: bool = False
    read_group: str = ""
    pairs: str = ""

    def __post_init__(self) -> None:
        """Check the ranges."""
        require_int("k", self.k, 7, MOST_K)
        if self.k % 2 == 0:
            raise BadParams(f"k must be odd, so that no seed is its own reverse, got {self.k}")
        require_int("w", self.w, 1, 255)
        require_int("max_places", self.max_places, 1, 10**6)
        require_int("min_score", self.min_score, 1, 1 << 30)
        require_int("secondary", self.secondary, 0, 10**6)
        require_int("ratio", self.ratio, 0, 100)
        require_int("max_hits", self.max_hits, 0, 10**9)
        if self.pairs:
            require_choice("pairs", self.pairs, PAIRS)
        if not self.evalue > 0:
            raise BadParams(f"evalue must be above 0, got {self.evalue}")
        if self.evalue != EVALUE:
            gapped_significance(self.scores)  # which says that there is none

    @property
    def has_statistics(self) -> bool:
        """Whether hits have e-values."""
        return has_statistics(self.scores)

    @property
    def rules(self) -> Rules:
        """What the kernels take of it."""
        own = self.scores
        costs = PathCosts(own.match, -own.mismatch, own.gap_open, own.gap_extend)
        run = min(self.min_score, RUN_MATCHES * own.match)
        return Rules(
            Seeds(self.k, self.w),
            Reach(self.k, GAP, SHIFT),
            costs,
            self.max_places,
            DROP,
            run,
            self.min_score,
            min(TRIED_SHARE, self.ratio // 2),
            TRIES,
        )

    @property
    def choice(self) -> ReportRules:
        """Which hits are reported."""
        return ReportRules(self.secondary, self.ratio)
