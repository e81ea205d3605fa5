"""Made reads that begin at few places: small RNA with its adapter, and amplicons of a virus.

Small RNA: inserts of 18 to 30 letters whose abundances are skewed as those of miRNA are, with ends
that vary (isomiRs), a fifth of them pieces of longer RNA; then the adapter of TruSeq Small RNA.
Amplicons: both ends of 98 amplicons that overlap, as ARTIC's, of a sample with few variants.
Errors grow along a read.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.codes import CODES, LETTER_OF_CODE, reverse_complement_codes

Codes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

ADAPTER = CODES[np.frombuffer(b"TGGAATTCTCGGGTGCCAAGGAACTCCAGTCACACGATCATCTCGTATG", np.uint8)]
RNA_LENGTH, N_MIRNA, HAIRPIN, LONG_RNA = 51, 500, 40, 6000
SHORTEST, LONGEST = 18, 30  # inserts
GENOME, N_AMPLICONS, AMPLICON, LENGTH, N_VARIANTS = 29_903, 98, 390, 250, 30


def small_rna(n: int, seed: int = 1) -> bytes:
    """Return n lines of 51 letters."""
    rng = np.random.default_rng(seed)
    hairpins = rng.integers(0, 4, (N_MIRNA, HAIRPIN), np.uint8)
    usual = rng.choice(np.arange(20, 25), N_MIRNA, p=[0.05, 0.2, 0.5, 0.2, 0.05])
    shares = rng.lognormal(0, 2.5, N_MIRNA)
    which = rng.choice(N_MIRNA, n, p=shares / shares.sum())
    begins = 8 + rng.choice([-1, 0, 1], n, p=[0.04, 0.92, 0.04])
    lengths = usual[which] + rng.choice(
        np.arange(-3, 4), n, p=[0.04, 0.08, 0.16, 0.5, 0.14, 0.06, 0.02]
    )
    lengths = np.clip(lengths, SHORTEST, LONGEST)
    inserts = hairpins[which[:, None], begins[:, None] + np.arange(LONGEST)]
    is_added = rng.random(n) < 0.12  # a letter that no template has, mostly A or T
    inserts[is_added, lengths[is_added] - 1] = rng.choice(
        [0, 3, 1], int(is_added.sum()), p=[0.5, 0.4, 0.1]
    )
    _put_pieces(rng, inserts, lengths)
    reads = _behind(inserts, lengths)
    return _text(_spoilt(rng, reads, 0.0006, 0.008))


def amplicons(n: int, seed: int = 1) -> bytes:
    """Return n lines of 250 letters, from both ends of amplicons."""
    rng = np.random.default_rng(seed)
    genome = rng.integers(0, 4, GENOME, np.uint8)
    shares = rng.lognormal(0, 0.8, N_AMPLICONS)
    which = rng.choice(N_AMPLICONS, n, p=shares / shares.sum())
    firsts = np.linspace(30, GENOME - AMPLICON - 30, N_AMPLICONS).astype(np.int64)
    at = firsts[which]
    is_turned = rng.random(n) < 0.5
    starts = np.where(is_turned, at + AMPLICON - LENGTH, at)
    places = starts[:, None] + np.arange(LENGTH)
    reads = genome[places]
    for place, share in zip(
        rng.integers(0, GENOME, N_VARIANTS), rng.beta(0.3, 1.0, N_VARIANTS), strict=True
    ):
        has = (places == place) & (rng.random((n, 1)) < share)
        reads[has] = (genome[place] + 2) % 4
    reads[is_turned] = reverse_complement_codes(reads[is_turned].ravel()).reshape(-1, LENGTH)[::-1]
    return _text(_spoilt(rng, reads, 0.0003, 0.006))


def _put_pieces(rng: np.random.Generator, inserts: Codes, lengths: Places) -> None:
    """Put pieces of long RNA, which begin anywhere, in place of a fifth of the inserts."""
    source = rng.integers(0, 4, LONG_RNA, np.uint8)
    own = np.flatnonzero(rng.random(len(inserts)) < 0.2)
    firsts = rng.integers(0, LONG_RNA - LONGEST, own.size)
    inserts[own] = source[firsts[:, None] + np.arange(LONGEST)]
    lengths[own] = rng.integers(SHORTEST, LONGEST + 1, own.size)


def _behind(inserts: Codes, lengths: Places) -> Codes:
    """Return inserts with the adapter behind them."""
    columns = np.arange(RNA_LENGTH)
    behind = columns - lengths[:, None]
    padded = np.pad(inserts, ((0, 0), (0, RNA_LENGTH - LONGEST)))
    return np.where(behind < 0, padded, ADAPTER[np.maximum(0, behind)])


def _spoilt(rng: np.random.Generator, reads: Codes, first: float, last: float) -> Codes:
    """Return reads with errors, whose rate grows, of reads that are not equally good; few N."""
    rates = np.geomspace(first, last, reads.shape[1]) * rng.lognormal(-0.5, 1, (len(reads), 1))
    is_wrong = rng.random(reads.shape) < rates
    changed = (reads + rng.integers(1, 4, reads.shape, np.uint8)) % 4
    reads = np.where(is_wrong, changed, reads)
    reads[rng.random(reads.shape) < 2e-5] = 4
    return reads


def _text(codes: Codes) -> bytes:
    lines = np.full((len(codes), codes.shape[1] + 1), ord("\n"), np.uint8)
    lines[:, :-1] = LETTER_OF_CODE[codes]
    return lines.tobytes()
