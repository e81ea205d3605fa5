"""Output of search results to standard output, as text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.results.hits import FORWARD, Occurrences
from gangsaw.tasks.search.results.lines import TextLines
from gangsaw.tasks.search.results.search import Search


def write_counts(patterns: Sequence[bytes], counts: Positions, *, as_json: bool) -> None:
    """Print the number of occurrences of each pattern, with the pattern if there are several."""
    if as_json:
        pairs = zip(patterns, counts.tolist(), strict=True)
        _write_json([{"pattern": _text(pattern), "count": n} for pattern, n in pairs])
        return
    for pattern, n in zip(patterns, counts.tolist(), strict=True):
        _write(b"%d\t%s\n" % (n, pattern) if len(patterns) > 1 else b"%d\n" % n)


def write_line_count(n: int, *, as_json: bool) -> None:
    """Print the number of lines in which a pattern occurs."""
    if as_json:
        _write_json({"lines": n})
    else:
        _write(b"%d\n" % n)


def write_matching_lines(
    search: Search, patterns: Sequence[bytes], hits: Occurrences, context: int
) -> None:
    """Print lines with hits after the position of their first byte, as grep; "--" between groups.

    `context` is the number of lines around each. Of a line of more than SHOWN bytes a part is
    printed, and on either side how much is left out.
    """
    lengths = np.array([len(pattern) for pattern in patterns], np.int64)
    lines = TextLines(search.cached_text())
    ends = hits.place + lengths[hits.pattern]
    for i, group in enumerate(lines.around(hits.place, ends, context)):
        if i and context:
            _write(b"--\n")
        for line in group:
            mark, text = b":" if line.is_hit else b"-", line.text
            text = _left_out(line.before) + text + _left_out(line.behind)
            _write(b"%d%s%s\n" % (line.place, mark, text))


def _left_out(n: int) -> bytes:
    """Return the text that stands for n bytes of a line that are not printed."""
    return b"[... %d bytes ...]" % n if n else b""


def write_residues(
    search: Search, patterns: Sequence[bytes], hits: Occurrences, context: int
) -> None:
    """Print each hit: record name or read number, position from 1, strand, pattern, residues.

    context : number of residues to print on either side; with 0, no residues are printed
    """
    held = search.cached_text()
    for pattern, record, (place, begin, end), strand in _in_records(search, hits):
        (name,) = record.values()
        cells = [f"{name}:{place - begin + 1}", _strand(strand), _text(patterns[pattern])]
        if context:
            last = min(end, place + len(patterns[pattern]) + context)
            cells.append(_text(held.read(max(begin, place - context), last).tobytes()))
        _write("\t".join(cells).encode("utf-8", "surrogateescape") + b"\n")


def write_hits_as_json(search: Search, patterns: Sequence[bytes], hits: Occurrences) -> None:
    """Print a JSON list of patterns, each with its occurrences."""
    own: list[list[object]] = [[] for _ in patterns]
    if search.records is not None:
        for pattern, record, (place, begin, _), strand in _in_records(search, hits):
            own[pattern].append({**record, "place": place - begin + 1, "strand": _strand(strand)})
    else:
        for pattern, place in zip(hits.pattern.tolist(), hits.place.tolist(), strict=True):
            own[pattern].append({"place": place})
    pairs = zip(patterns, own, strict=True)
    _write_json([{"pattern": _text(one), "hits": some} for one, some in pairs])


def _in_records(
    search: Search, hits: Occurrences
) -> Iterator[tuple[int, dict[str, object], tuple[int, int, int], int]]:
    """Yield each hit: pattern, record label, (position, start and end of the record), strand."""
    assert search.records is not None
    own = search.records.find(hits.place)
    columns = (hits.pattern, own.number, hits.place, own.begin, own.end, hits.strand)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for pattern, number, place, begin, end, strand in rows:
        yield pattern, search.records.label_of(number), (place, begin, end), strand


def _strand(strand: int) -> str:
    return "+" if strand == FORWARD else "-"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _write_json(found: object) -> None:
    _write(json.dumps(found, indent=2).encode() + b"\n")


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
