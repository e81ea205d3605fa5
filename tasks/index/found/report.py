"""What is found as text or JSON, to standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import numpy as np

from gangsaw.tasks.genomes.genome import Genome, GenomeRecord
from gangsaw.tasks.index.found.hits import FORWARD, Occurrences
from gangsaw.tasks.index.found.lines import TextLines
from gangsaw.tasks.index.found.search import Search
from gangsaw.tasks.index.text.samples import Places


def write_counts(patterns: Sequence[bytes], counts: Places, *, as_json: bool) -> None:
    """Print how often each pattern is there, and which it is where there are several."""
    if as_json:
        pairs = zip(patterns, counts.tolist(), strict=True)
        _write_json([{"pattern": _text(pattern), "count": n} for pattern, n in pairs])
        return
    for pattern, n in zip(patterns, counts.tolist(), strict=True):
        _write(b"%d\t%s\n" % (n, pattern) if len(patterns) > 1 else b"%d\n" % n)


def write_lines(search: Search, patterns: Sequence[bytes], hits: Occurrences, context: int) -> None:
    """Print lines with the place of their first byte, as grep does; "--" between groups."""
    lengths = np.array([len(pattern) for pattern in patterns], np.int64)
    lines = TextLines(search.held())
    ends = hits.place + lengths[hits.pattern]
    for i, group in enumerate(lines.around(hits.place, ends, context)):
        if i and context:
            _write(b"--\n")
        for line in group:
            _write(b"%d%s%s\n" % (line.place, b":" if line.is_hit else b"-", line.text))


def write_residues(
    genome: Genome, patterns: Sequence[bytes], hits: Occurrences, context: int
) -> None:
    """Print record and place from 1 on, strand, pattern, and residues around it where asked for."""
    for pattern, (record, begin), strand in _in_records(genome, hits):
        cells = [f"{record.name}:{begin + 1}", _strand(strand), _text(patterns[pattern])]
        if context:
            end = min(record.length, begin + len(patterns[pattern]) + context)
            cells.append(_text(record.text(max(0, begin - context), end)))
        _write("\t".join(cells).encode("utf-8", "surrogateescape") + b"\n")


def write_hits_as_json(search: Search, patterns: Sequence[bytes], hits: Occurrences) -> None:
    """Print a JSON list: each pattern, with its hits."""
    found: list[dict[str, object]] = [{"pattern": _text(one), "hits": []} for one in patterns]
    own: list[list[object]] = [[] for _ in patterns]
    if search.genome is not None:
        for pattern, (record, begin), strand in _in_records(search.genome, hits):
            place = {"record": record.name, "place": begin + 1, "strand": _strand(strand)}
            own[pattern].append(place)
    else:
        for pattern, place in zip(hits.pattern.tolist(), hits.place.tolist(), strict=True):
            own[pattern].append({"place": place})
    for one, some in zip(found, own, strict=True):
        one["hits"] = some
    _write_json(found)


def _in_records(
    genome: Genome, hits: Occurrences
) -> list[tuple[int, tuple[GenomeRecord, int], int]]:
    """Return pattern, record with the place in it, and strand of each hit."""
    numbers = np.searchsorted(genome.offsets, hits.place, "right") - 1
    inside = hits.place - genome.offsets[numbers]
    records = {number: genome.record(number) for number in np.unique(numbers).tolist()}
    places = zip((records[n] for n in numbers.tolist()), inside.tolist(), strict=True)
    return list(zip(hits.pattern.tolist(), places, hits.strand.tolist(), strict=True))


def _strand(strand: int) -> str:
    return "+" if strand == FORWARD else "-"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _write_json(found: object) -> None:
    _write(json.dumps(found, indent=2).encode() + b"\n")


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
