"""Parameters of a search."""

from __future__ import annotations

from dataclasses import dataclass, field

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import require_choice, require_int
from gangsaw.tasks.genomics.align.search.extension.paths import PathCosts
from gangsaw.tasks.genomics.align.search.search import Rules
from gangsaw.tasks.genomics.align.search.seeds.chain import Reach
from gangsaw.tasks.genomics.align.search.seeds.minimizers import MOST_K, Seeds
from gangsaw.tasks.genomics.align.search.select import ReportRules
from gangsaw.tasks.genomics.align.sets.scores import Scores
from gangsaw.tasks.genomics.align.statistics.significance import gapped_significance, has_statistics

EVALUE = 10.0
PAIRS = ("no", "files", "interleaved")  # layout of mates in the queries
GAP, SHIFT = 5000, 500  # bases and diagonals that a chain may bridge, as in minimap2
FAR = 20_000  # bases that a chain of a long query may bridge, likewise
DROP = 100  # X-drop: 50 matches, 33 mismatches
RUN_MATCHES = 20  # minimum score in matches of an ungapped extension
TRIES = 50  # further chains for each part of a query
TRIED_SHARE = 40  # percent of the best chain's score, since a chain may lack minimizers by chance


@dataclass(frozen=True)
class SearchParams:
    """Parameters of the search and of the report.

    Attributes
    ----------
    scores : scores of bases and gaps
    k : bases of a seed, odd, 7..15
    w : consecutive k-mers, one of which is selected as a seed, 1..255
    max_places : seeds with more positions in the genome are ignored, 1..10^6
    min_score : minimum score of a hit
    evalue : maximum e-value, the number of hits with such a score expected by chance; without
        statistics for the scores it must stay as it is, and all hits are reported
    secondary : maximum of hits reported in addition to the best one of each part of a query
    ratio : minimum score of these, in percent of the best one's, 0..100
    max_hits : maximum of hits of a query, 0 for all
    eqx : True if CIGARs distinguish equal bases (=) from others (X)
    read_group : header line of SAM and BAM, such as "@RG\\tID:x\\tSM:y"
    pairs : one of PAIRS; "" takes the mates of stores with mates

    Raises
    ------
    BadParams : a value is outside its range, or an e-value is requested without statistics
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
        """Check the range of each parameter."""
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
            gapped_significance(self.scores)  # raises BadParams without statistics

    @property
    def has_statistics(self) -> bool:
        """True if hits have e-values."""
        return has_statistics(self.scores)

    @property
    def rules(self) -> Rules:
        """Parameters of the search, as its kernels take them."""
        own = self.scores
        costs = PathCosts(own.match, -own.mismatch, own.gap_open, own.gap_extend)
        run = min(self.min_score, RUN_MATCHES * own.match)
        return Rules(
            Seeds(self.k, self.w),
            Reach(self.k, GAP, SHIFT, FAR),
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
        """Limits of the selection of hits, as its kernel takes them."""
        return ReportRules(self.secondary, self.ratio)
