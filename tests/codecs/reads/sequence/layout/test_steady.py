"""Lines that are sorted by the places of a layout have these places when they are encoded."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.reads.lines import Lines, find_lines
from gangsaw.codecs.reads.sequence.bases import to_base_codes
from gangsaw.codecs.reads.sequence.encode.order import first_mapped
from gangsaw.codecs.reads.sequence.layout.placed import Layout
from gangsaw.codecs.reads.sequence.layout.steady import are_sorted, lines_in, steady_layout
from gangsaw.tasks.genomics.reads.synthetic import make_reads

FASTQ = make_reads(800, 70, genome=3000).first.splitlines()
LINES = find_lines(
    np.frombuffer(b"\n".join([*FASTQ[1::4], *FASTQ[1:200:4], b""]), np.uint8), 1 << 12
)


def described(pieces: Layout, lines: Lines) -> list[tuple[object, ...]]:
    """Letters and pieces of all lines, in no order."""
    found = []
    for i in range(lines.starts.size):
        own = [
            (int(pieces.begin[k]), int(pieces.position[k]), int(pieces.strand[k]))
            for k in np.flatnonzero(pieces.line == i)
        ]
        found.append((lines.text[lines.starts[i] : lines.ends[i]].tobytes(), *own))
    return sorted(found)


def test_the_order_of_lines_does_not_matter() -> None:
    order = np.random.default_rng(1).permutation(LINES.starts.size)
    other = find_lines(lines_in(order, LINES).text, 1 << 12)
    first = steady_layout(LINES, to_base_codes(LINES.text))
    second = steady_layout(other, to_base_codes(other.text))
    assert described(first, LINES) == described(second, other)
    np.testing.assert_array_equal(first.consensus, second.consensus)
    assert first.is_mapped.mean() > 0.9


def test_sorted_lines_are_known() -> None:
    codes = to_base_codes(LINES.text)
    pieces = steady_layout(LINES, codes)
    is_first = first_mapped(pieces)
    places = np.full(LINES.starts.size, pieces.consensus.size)
    places[pieces.line[is_first]] = pieces.position[is_first]
    by_place = find_lines(lines_in(np.argsort(places, kind="stable"), LINES).text, 1 << 12)
    sorted_codes = to_base_codes(by_place.text)
    assert are_sorted(by_place, sorted_codes, pairs=False)
    assert are_sorted(by_place, sorted_codes, pairs=True)
    assert not are_sorted(LINES, codes, pairs=False)
    found = steady_layout(by_place, sorted_codes)
    assert (np.diff(found.position[first_mapped(found)]) >= 0).all()
