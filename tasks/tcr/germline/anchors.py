"""Conserved codons: the start of the CDR3 in a V gene, and its end in a J gene.

The rules were tested on human and mouse T-cell-receptor genes with known anchors. The comments
say which genes a simpler rule got wrong.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gangsaw.codecs.core.nucleotides.alphabet import BASES, reverse_complement_text

CODON = 3
CYS_104 = 3 * 103  # 0-based column of IMGT position 104 in a gapped V gene

_TAIL = 45  # bases of a V gene's end; light chains have the longest CDR3 part, about 30
_STEP = 3  # maximum error of a given anchor, in codons
_STOPS = {"TAA", "TAG", "TGA"}
_CYS = {"TGT", "TGC"}
_PHE_TRP = {"TTT", "TTC", "TGG"}
_TYR = {"TAT", "TAC"}
# codons before the Cys: Y-[YFHLI]-C in most genes, L-Y-C in some
_BEFORE_CYS = {"TAT", "TAC", "TTT", "TTC", "CAT", "CAC", "TTA", "TTG", "ATT", "ATC", "ATA"} | {
    "CT" + last for last in BASES.decode()
}
# TRGJ genes, and a few TRAJ genes, have Ala instead of the first Gly
_MOTIF = re.compile("(?=(?:TT[TC]|TGG)G([GC]).{4}GG)")


class Anchor(NamedTuple):
    """0-based position of an anchor codon, and a possible problem with it."""

    at: int
    doubt: str = ""


def reverse_complement_iupac(sequence: str) -> str:
    """Return the reverse complement of a sequence of IUPAC codes."""
    return reverse_complement_text(sequence.upper().encode()).decode()


def has_anchor(region: str, sequence: str, at: int) -> bool:
    """Return True if the codon at `at` is Cys (in a V gene), or Phe or Trp (in a J gene)."""
    return sequence[at : at + CODON] in (_CYS if region == "V" else _PHE_TRP)


def find_anchor(region: str, sequence: str, frame: int | None = None) -> Anchor | None:
    """Return the Cys of a V gene or the F/W-G-X-G motif of a J gene, or None.

    Parameters
    ----------
    region : "V" or "J"
    sequence : bases of the gene
    frame : position of the first codon, 0..2, if known; other frames are then not searched
    """
    return (_find_cys if region == "V" else _find_motif)(sequence, frame)


def anchor_near(region: str, sequence: str, at: int) -> int | None:
    """Return the position of an anchor codon at most a few codons from `at`, or None."""
    found = find_anchor(region, sequence, None if region == "V" else at % CODON)
    return found.at if found is not None and abs(found.at - at) <= _STEP * CODON else None


def _find_cys(sequence: str, frame: int | None) -> Anchor | None:
    """Return the best Cys codon at the end of a V gene; the last one of equals.

    In Y-Y-C-C the first Cys is right, so both codons before it count. Genes with a stop codon, such
    as pseudogenes, need both.
    """
    best, best_score = None, 1
    for at in range(max(0, len(sequence) - _TAIL), len(sequence) - CODON + 1):
        if not has_anchor("V", sequence, at) or (frame is not None and at % CODON != frame):
            continue
        score = _before_cys(sequence, at)
        if score >= best_score and (score == 2 or _is_open(sequence, at % CODON, at)):
            best, best_score = Anchor(at), score
    return best


def _before_cys(sequence: str, at: int) -> int:
    """Return the number of matches among the two codons before a Cys, 0..2."""
    second, first = sequence[max(0, at - 6) : at - 3], sequence[max(0, at - 3) : at]
    return (second in _TYR) + (first in _BEFORE_CYS)


def _is_open(sequence: str, start: int, stop: int) -> bool:
    codons = (sequence[i : i + CODON] for i in range(start, stop - CODON + 1, CODON))
    return not any(codon in _STOPS for codon in codons)


def _find_motif(sequence: str, frame: int | None) -> Anchor | None:
    """Return the best motif: in the usual frame, without a stop codon after it, and with Gly.

    A J gene ends with the first nucleotide of a codon that the constant gene completes. So the
    motif begins 3 k + 1 nucleotides before the end. Some whole genes end elsewhere (IGHJ6*02), so
    other frames are accepted, with a doubt. For mouse TRAJ7*01 (L-G-K-G) this finds a motif shifted
    by one.
    """
    best: tuple[tuple[bool, bool, bool], int] | None = None
    for motif in _MOTIF.finditer(sequence):
        at = motif.start()
        usual, gly = (len(sequence) - at) % CODON == 1, motif.group(1) == "G"
        if (frame is not None and at % CODON != frame) or not (usual or gly):
            continue
        score = (usual, _is_open(sequence, at, len(sequence)), gly)
        if best is None or score > best[0]:
            best = score, at
    if best is None:
        return None
    sure = frame is not None or best[0][0]
    doubt = "has its F/W-G-X-G motif in an unusual frame: check where its CDR3 ends"
    return Anchor(best[1], "" if sure else doubt)
