"""Seeds and alignments of a search, from their definitions: slow, and nothing of the product."""

from __future__ import annotations

import re

NO_SCORE = -(10**9)
COMPLEMENT = str.maketrans("ACGT", "TGCA")
PRIMES = 0x9E3779B1, 0x85EBCA6B  # of the hash


def reverse_complement(text: str) -> str:
    return text.translate(COMPLEMENT)[::-1]


def hashed(word: str) -> int | None:
    """The hash of a k-mer or its reverse complement, whichever is first; None with an N."""
    if set(word) - set("ACGT"):
        return None
    number = 0
    for letter in min(word, reverse_complement(word)):
        number = 4 * number + "ACGT".index(letter)
    mask = 4 ** len(word) - 1
    for prime in PRIMES:
        number = number * prime & mask
        number ^= number >> 15
    return number


def minimizers(text: str, k: int, w: int) -> list[tuple[int, int, bool]]:
    """Hash, place, and whether the other strand was hashed, of all that are least in a window."""
    words = [text[i : i + k] for i in range(len(text) - k + 1)]
    hashes = [hashed(word) for word in words]
    chosen: set[int] = set()
    w = max(1, min(w, len(words)))
    for first in range(len(words) - w + 1):
        window = [(h, i) for i, h in enumerate(hashes[first : first + w], first) if h is not None]
        least = min(window, default=(0, 0))[0]
        chosen |= {i for h, i in window if h == least}
    found = [(hashes[i], i, reverse_complement(words[i]) < words[i]) for i in sorted(chosen)]
    return [(h, i, back) for h, i, back in found if h is not None]


def pair(a: str, b: str, scores: tuple[int, int, int, int]) -> int:
    return scores[0] if a == b and a in "ACGT" else scores[1]


def touching(query: str, text: str, span: tuple[int, int], scores: tuple[int, ...]) -> int:
    """The best score of a local alignment that has a cell on one of the diagonals low..high.

    A cell (i, j) is on diagonal j - i. States: whether such a cell was met, and what came last.
    """
    match, mismatch, opening, extend = scores
    n, m, best = len(query), len(text), 0
    table: dict[tuple[int, int, bool, str], int] = {}

    def at(i: int, j: int, met: bool, last: str) -> int:
        return table.get((i, j, met, last), NO_SCORE)

    for i in range(n + 1):
        for j in range(m + 1):
            on = span[0] <= j - i <= span[1]
            new = {(False, "M"): 0}
            for met in (False, True):
                before = [at(i - 1, j - 1, met, last) for last in "MDI"]
                if i and j:
                    step = pair(query[i - 1], text[j - 1], (match, mismatch, opening, extend))
                    new[met, "M"] = max(new.get((met, "M"), NO_SCORE), max(before) + step)
                for last, (a, b) in {"D": (i, j - 1), "I": (i - 1, j)}.items():
                    begun = max(at(a, b, met, other) - opening for other in "MDI" if other != last)
                    new[met, last] = max(begun, at(a, b, met, last)) - extend
            for (met, last), score in new.items():
                key = (i, j, met or on, last)
                table[key] = max(table.get(key, NO_SCORE), score)
            best = max(best, *(at(i, j, True, last) for last in "MDI"))
    return best


def from_start(query: str, text: str, scores: tuple[int, int, int, int]) -> list[list[int]]:
    """The best score from the beginnings to each pair of ends."""
    match, mismatch, opening, extend = scores
    n, m = len(query), len(text)
    last = {name: [[NO_SCORE] * (m + 1) for _ in range(n + 1)] for name in "MDI"}
    last["M"][0][0] = 0
    for i in range(n + 1):
        for j in range(m + 1):
            if i and j:
                before = max(last[name][i - 1][j - 1] for name in "MDI")
                step = pair(query[i - 1], text[j - 1], (match, mismatch, opening, extend))
                last["M"][i][j] = before + step
            for name, (a, b) in {"D": (i, j - 1), "I": (i - 1, j)}.items():
                if min(a, b) < 0:
                    continue
                begun = max(last[other][a][b] - opening for other in "MDI" if other != name)
                last[name][i][j] = max(begun, last[name][a][b]) - extend
    return [[max(last[name][i][j] for name in "MDI") for j in range(m + 1)] for i in range(n + 1)]


def path_score(query: str, text: str, cigar: str, scores: tuple[int, int, int, int]) -> int:
    """The score of a path of M, I and D over the whole of two texts."""
    i = j = total = 0
    for length, step in re.findall(r"(\d+)([MID])", cigar):
        size = int(length)
        if step == "M":
            both = zip(query[i : i + size], text[j : j + size], strict=True)
            total += sum(pair(a, b, scores) for a, b in both)
        else:
            total -= scores[2] + size * scores[3]
        i, j = i + size * (step != "D"), j + size * (step != "I")
    assert (i, j) == (len(query), len(text))
    return total


def banded(
    query: str, text: str, band: tuple[int, int], scores: tuple[int, ...], is_local: bool
) -> tuple[int, tuple[int, int], str]:
    """Score, end and path of the best alignment in a band of diagonals j - i, = X D I a letter.

    Of equal scores a pair goes before a deletion, that before an insertion, and a gap begins where
    it may; a local one has the end with the fewest letters of the query, then of the text.
    """
    match, mismatch, opening, extend = scores
    best: dict[tuple[int, int], tuple[int, str]] = {}
    gaps: dict[tuple[int, int, str], tuple[int, str]] = {}
    none, ends = (NO_SCORE, ""), (0, 0)
    for i in range(len(query) + 1):
        for j in range(max(0, i + band[0]), min(len(text), i + band[1]) + 1):
            if i == 0 and j == 0:
                best[0, 0] = (0, "")
                continue
            found = []
            if i and j:
                own = pair(query[i - 1], text[j - 1], (match, mismatch, 0, 0))
                before, path = best.get((i - 1, j - 1), none)
                found.append((before + own, path + ("=" if own == match else "X")))
            for step, (a, b) in (("D", (i, j - 1)), ("I", (i - 1, j))):
                began = best.get((a, b), none)[0] - opening - extend
                goes_on = gaps.get((a, b, step), none)[0] - extend
                way = gaps.get((a, b, step), none) if goes_on > began else best.get((a, b), none)
                gaps[i, j, step] = (max(began, goes_on), way[1] + step)
                found.append(gaps[i, j, step])
            best[i, j] = max(found, key=lambda one: one[0])
            if is_local and best[i, j][0] <= 0:
                best[i, j] = (0, "")
            if is_local and best[i, j][0] > best[ends][0]:
                ends = (i, j)
    if not is_local:
        ends = (len(query), len(text))
    return best[ends][0], ends, best[ends][1]
