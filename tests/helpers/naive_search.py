"""Search by the definition: every place is tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gangsaw.codecs.core.nucleotides.alphabet import reverse_complement_text


def places(text: bytes, pattern: bytes) -> list[int]:
    """Where a pattern is, overlaps included."""
    return [i for i in range(len(text) - len(pattern) + 1) if text[i:].startswith(pattern)]


def stranded(records: Sequence[bytes], pattern: bytes) -> list[tuple[int, int]]:
    """Places among all letters, and strands, of a pattern of bases; each record alone."""
    wanted = {1: pattern.upper(), -1: reverse_complement_text(pattern.upper())}
    if wanted[-1] == wanted[1]:
        del wanted[-1]
    found, start = [], 0
    for record in records:
        text = record.upper()
        for strand, letters in wanted.items():
            if set(letters) <= set(b"ACGT"):
                found += [(start + place, strand) for place in places(text, letters)]
        start += len(record)
    return sorted(found)


def matches(text: bytes, query: bytes, least: int) -> set[tuple[int, int, int]]:
    """Maximal exact matches: begin in the query, place in the text, length."""
    found = set()
    for begin in range(len(query)):
        for place in range(len(text)):
            if begin and place and query[begin - 1] == text[place - 1]:
                continue
            pairs = zip(query[begin:], text[place:], strict=False)
            n = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
            n = min(len(query) - begin, len(text) - place) if n is None else n
            if n >= least:
                found.add((begin, place, n))
    return found


def stranded_matches(
    records: Iterable[bytes], query: bytes, least: int
) -> set[tuple[int, int, int, int]]:
    """The same of bases on both strands, with the strand; begins are those in the query."""
    forward = query.upper()
    found, start, n = set(), 0, len(query)
    # what is no base is equal to nothing
    plain = bytes(c if c in b"ACGT" else 1 for c in forward)
    other = bytes(c if c in b"ACGT" else 1 for c in reverse_complement_text(forward))
    for record in records:
        text = record.upper()
        found |= {(b, start + p, k, 1) for b, p, k in matches(text, plain, least)}
        found |= {(n - b - k, start + p, k, -1) for b, p, k in matches(text, other, least)}
        start += len(record)
    return found
